//! A client of `serve --mcp` that says what it is told, over stdio.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::process::binary;

/// A server of ours, and the pipes to it.
pub(crate) struct Peer {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
    /// What came besides replies.
    pub(crate) notifications: Vec<Value>,
}

impl Peer {
    /// Starts `serve --mcp` in a directory and shakes hands.
    pub(crate) fn start(dir: &Path, flags: &[&str]) -> Self {
        let mut child = binary()
            .args(["serve", "--mcp"])
            .args(flags)
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { child, stdin, stdout, next: 1, notifications: Vec::new() };
        let begun = peer.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "peer", "version": "0" },
            }),
        );
        assert_eq!(begun["result"]["serverInfo"]["name"], "mcp-loadtest", "{begun}");
        peer.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        peer
    }

    pub(crate) fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message, whatever it is.
    pub(crate) fn message(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it has ended");
        serde_json::from_str(&line).unwrap()
    }

    /// The reply to a request; what comes before it is kept.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.message();
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.reply(id)
    }

    /// Calls a tool, with a progress token, and gives the id of the request.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        let meta = json!({ "progressToken": format!("token-{}", self.next) });
        self.send("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    /// Withdraws a request.
    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id, "reason": "enough" });
        let method = "notifications/cancelled";
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        let reply = self.reply(id);
        assert!(reply["result"].is_object(), "{reply}");
        reply["result"].clone()
    }

    /// What a tool says that refuses.
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        self.refused_in_parts(tool, arguments).join("\n")
    }

    /// The same, in our own words and in those that may be the server's.
    pub(crate) fn refused_in_parts(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let blocks = result["content"].as_array().unwrap().iter();
        blocks.map(|block| block["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a run has told how far it is.
    pub(crate) fn wait_for_calls(&mut self) {
        loop {
            let message = self.message();
            assert_eq!(message["method"], "notifications/progress", "{message}");
            if message["params"]["message"].as_str().unwrap().contains("calls") {
                return;
            }
        }
    }

    /// Goes away; gives how the server ended.
    pub(crate) fn leave(mut self) -> std::process::ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }
}

/// A test that fails must leave nothing behind.
impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
