//! `serve --mcp --listen`: who may talk to it, and clients that go.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{processes_with, wait_until_gone, workplace, write_config};
use crate::{harness::mock, process::Listening};

/// One connection, and what came of a request on it.
struct Exchange {
    status: u16,
    head: String,
    reader: BufReader<TcpStream>,
}

impl Exchange {
    /// Posts a message with these headers beside the usual ones.
    fn post(url: &str, headers: &[(&str, &str)], message: &Value) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(address).unwrap();
        let body = message.to_string();
        let usual = [
            ("Host", address),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let usual = usual.iter().filter(|(name, _)| !is_given(name));
        let mut head = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in usual.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        write!(stream, "{head}\r\n{body}").unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, reader }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Reads events until one says this.
    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "it has ended");
        }
    }
}

fn initialize() -> Value {
    let client = json!({ "name": "peer", "version": "0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

/// A server over HTTP whose runs leave this in the command line of a process.
fn serve(dir: &std::path::Path, marker: &str) -> Listening {
    write_config(dir, &[("healthy", &format!("{} {marker}", mock("mock-normal.py")))]);
    let config = dir.join(".mcp.json");
    let runs = dir.join("runs");
    Listening::start(&[
        "serve",
        "--mcp",
        "--listen",
        "127.0.0.1:0",
        "--max-duration",
        "10m",
        "--mcp-config",
        config.to_str().unwrap(),
        "--output-dir",
        runs.to_str().unwrap(),
    ])
}

#[test]
fn pages_and_rebound_names_are_refused() {
    let dir = workplace();
    let server = serve(dir.path(), "nobody");
    let port = server.url.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned();
    let own = [format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}")];
    let host = format!("evil.example:{port}");
    for (headers, status) in [
        (vec![], 200),
        (vec![("Origin", own[0].as_str())], 200),
        (vec![("Origin", own[1].as_str())], 200),
        (vec![("Origin", "https://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", "http://localhost:1")], 403),
        (vec![("Host", host.as_str())], 403),
        (vec![("Host", "evil.example")], 403),
        (vec![("Content-Type", "text/plain")], 415),
    ] {
        let exchange = Exchange::post(&server.url, &headers, &initialize());
        assert_eq!(exchange.status, status, "{headers:?}: {}", exchange.head);
        let shared = exchange.header("access-control-allow-origin");
        assert_eq!(shared, None, "no page may read what it says");
    }
    server.stop();
}

#[test]
fn sessions_are_limited() {
    let dir = workplace();
    let server = serve(dir.path(), "nobody");
    let begin = || Exchange::post(&server.url, &[], &initialize()).status;
    let statuses: Vec<_> = (0..101).map(|_| begin()).collect();
    assert!(statuses[..100].iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(statuses[100], 503);
}

fn load(id: u64, meta: &Value) -> Value {
    let arguments = json!({ "tool": "echo", "duration_secs": 600 });
    let params = json!({ "name": "sustained_load", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn the_end_of_a_connection_withdraws_a_call_without_a_session() {
    let dir = workplace();
    let marker = dir.path().join("the-modern-one").display().to_string();
    let server = serve(dir.path(), &marker);
    let meta = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "peer", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "sustained_load"),
    ];
    let mut call = Exchange::post(&server.url, &headers, &load(7, &meta));
    assert_eq!(call.status, 200, "{}", call.head);
    call.wait_for(" calls, ");
    assert!(!processes_with(&marker).is_empty());
    drop(call);
    wait_until_gone(&marker);
    server.stop();
}

#[test]
fn a_session_that_is_left_alone_takes_its_run_along() {
    let dir = workplace();
    let marker = dir.path().join("the-legacy-one").display().to_string();
    let server = serve(dir.path(), &marker);
    let begun = Exchange::post(&server.url, &[], &initialize());
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    drop(begun);
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(Exchange::post(&server.url, &headers, &ready).status, 202);
    let mut call = Exchange::post(&server.url, &headers, &load(2, &json!({ "progressToken": 1 })));
    call.wait_for(" calls, ");
    assert!(!processes_with(&marker).is_empty());
    drop(call);
    wait_until_gone(&marker);
    server.stop();
}
