//! The proxy over pipes, as a raw client sees it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{call, initialize, initialized, request};
use crate::process::binary;

pub(super) struct Piped {
    pub(super) child: Child,
    pub(super) input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Piped {
    pub(super) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// A proxy with faults in front of a server that is healthy.
    fn proxy(faults: &[&str]) -> Self {
        Self::start(proxy(faults, &normal()))
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    pub(super) fn receive(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Everything until the end of the output.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        text
    }

    /// Closes the input; the exit code.
    pub(super) fn finish(&mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }

    /// Shakes hands; what comes then is about calls.
    fn greet(mut self) -> Self {
        self.send(&initialize());
        assert_eq!(self.receive()["id"], 1);
        self.send(&initialized());
        self
    }
}

fn fixture(name: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    vec!["python3".into(), path.to_str().unwrap().into()]
}

fn normal() -> Vec<String> {
    fixture("mock-normal.py")
}

fn direct(server: &[String]) -> Command {
    let mut command = Command::new(&server[0]);
    command.args(&server[1..]);
    command
}

fn proxy(faults: &[&str], server: &[String]) -> Command {
    let mut command = binary();
    command.arg("proxy");
    for fault in faults {
        command.args(["--fault", fault]);
    }
    command.arg("--").args(server);
    command
}

/// What a server says to a few messages, one after the other, until it ends.
fn recorded(command: Command) -> String {
    let mut server = Piped::start(command);
    let mut said = String::new();
    server.send(&initialize());
    said += &server.line();
    server.send(&initialized());
    for message in [request(2, "tools/list", json!({})), call(3), request(4, "no/such", json!({}))]
    {
        server.send(&message);
        said += &server.line();
    }
    server.input = None;
    said += &server.rest();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    said
}

fn real_server() -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/env/testenv.py");
    let told = Command::new("python3").args([script, "path", "mcp-1.30.0"]).output().unwrap();
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "no server to test with: {problem}");
    let dir = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    ["bin/python", "echo_mcp.py"].map(|part| dir.join(part).to_str().unwrap().to_owned()).into()
}

#[test]
fn without_a_fault_not_a_byte_is_changed() {
    let ours = vec![env!("CARGO_BIN_EXE_mcp-loadtest").to_owned(), "mock".to_owned()];
    for server in [ours, normal(), real_server()] {
        let alone = recorded(direct(&server));
        assert_eq!(recorded(proxy(&[], &server)), alone);
        // Faults that never fire look at every line and leave it as it is.
        assert_eq!(recorded(proxy(&["hang@tool=other", "malformed@nth=99"], &server)), alone);
    }
}

#[test]
fn half_a_line_goes_on_at_once() {
    let mut proxy = Piped::start(proxy(&[], &["cat".to_owned()]));
    for part in ["ha", "lf", "\n\r\n", "\u{fffd}"] {
        proxy.raw(part.as_bytes());
        let mut seen = vec![0; part.len()];
        proxy.output.read_exact(&mut seen).unwrap();
        assert_eq!(seen, part.as_bytes());
    }
    assert_eq!(proxy.finish(), Some(0));
}

#[test]
fn the_exit_code_is_that_of_the_server() {
    let shell = |script: &str| vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    for (script, code) in [("exit 7", 7), ("exit 0", 0), ("kill -9 $$", 137)] {
        let mut proxy = Piped::start(proxy(&[], &shell(script)));
        assert_eq!(proxy.child.wait().unwrap().code(), Some(code), "{script}");
    }
    let mut proxy = Piped::start(proxy(&[], &shell("printf done; exit 3")));
    assert_eq!((proxy.rest().as_str(), proxy.child.wait().unwrap().code()), ("done", Some(3)));
}

#[test]
fn calls_that_a_fault_answers() {
    for (fault, part) in [
        ("error:-32602", json!({"error": {"code": -32602, "message": "Invalid params"}})),
        ("tool-error", json!({"result": {"isError": true}})),
        ("flaky:1", json!({"result": {"isError": true}})),
    ] {
        let mut proxy = Piped::proxy(&[fault]).greet();
        proxy.send(&call(2));
        let reply = proxy.receive();
        assert_eq!(reply["id"], 2);
        for (member, value) in part.as_object().unwrap() {
            for (key, value) in value.as_object().unwrap() {
                assert_eq!(&reply[member][key], value, "{fault}: {reply}");
            }
        }
        assert_eq!(proxy.finish(), Some(0));
    }
}

#[test]
fn calls_that_hang_while_everything_else_works() {
    for (fault, answered) in
        [("hang", 9), ("wedged", 9), ("recover-after:2", 4), ("hang@nth=1", 3), ("hang@first=2", 4)]
    {
        let mut proxy = Piped::proxy(&[fault]).greet();
        for id in 2..5 {
            proxy.send(&call(id));
        }
        proxy.send(&request(9, "ping", json!({})));
        assert_eq!(proxy.receive()["id"], answered, "{fault}");
    }
}

#[test]
fn first_calls_together_deadlock_and_a_lone_one_works() {
    let mut lone = Piped::proxy(&["lazy-init-deadlock"]).greet();
    for id in [2, 3] {
        lone.send(&call(id));
        assert_eq!(lone.receive()["id"], id);
    }
    let mut both = Piped::proxy(&["lazy-init-deadlock"]).greet();
    both.raw(format!("{}\n{}\n", call(2), call(3)).as_bytes());
    both.send(&request(9, "ping", json!({})));
    assert_eq!(both.receive()["id"], 9);
}

#[test]
fn replies_that_are_spoiled() {
    let spoiled = |fault: &str| {
        let mut proxy = Piped::proxy(&[fault]).greet();
        proxy.send(&call(2));
        (proxy.line(), proxy)
    };
    assert!(serde_json::from_str::<Value>(&spoiled("malformed").0).is_err());
    assert!(serde_json::from_str::<Value>(&spoiled("noise").0).is_err());
    let json = |fault: &str| serde_json::from_str::<Value>(&spoiled(fault).0).unwrap();
    assert!(json("wrong-id")["id"].as_u64().unwrap() > 2);
    let text = json("oversized:5000")["result"]["content"][0]["text"].clone();
    assert_eq!(text.as_str().unwrap().len(), 5000);
    assert!(json("schema-violation")["result"]["content"].is_string());
    assert_eq!(json("list-changed")["method"], "notifications/tools/list_changed");
    let (first, mut twice) = spoiled("duplicate");
    assert_eq!(first, twice.line());
    let (whole, _proxy) = spoiled("drip:500");
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap()["id"], 2);
}

#[test]
fn lists_without_an_end() {
    let mut proxy = Piped::proxy(&["endless-pagination"]).greet();
    let mut cursors = std::collections::HashSet::new();
    for id in 2..6 {
        proxy.send(&request(id, "tools/list", json!({})));
        let cursor = proxy.receive()["result"]["nextCursor"].as_str().unwrap().to_owned();
        assert!(cursors.insert(cursor));
    }
}

#[test]
fn replies_overtake_each_other_and_a_lone_one_is_not_lost() {
    let mut proxy = Piped::proxy(&["reorder@nth=1"]).greet();
    proxy.raw(format!("{}\n{}\n", call(2), call(3)).as_bytes());
    assert_eq!([proxy.receive()["id"].clone(), proxy.receive()["id"].clone()], [3, 2]);
    let mut lone = Piped::proxy(&["reorder"]).greet();
    lone.send(&call(2));
    assert_eq!(lone.receive()["id"], 2);
}

#[test]
fn connections_and_processes_that_end() {
    for (fault, rest, code) in
        [("disconnect", "", 0), ("crash:7", "", 7), ("truncate:9", r#"{"jsonrpc"#, 0)]
    {
        let mut proxy = Piped::proxy(&[fault]).greet();
        proxy.send(&call(2));
        let mut said = proxy.rest();
        said.truncate(rest.len());
        assert_eq!((said.as_str(), proxy.finish()), (rest, Some(code)), "{fault}");
    }
}

#[test]
fn a_slow_reply_is_withdrawn_by_a_cancel_unless_the_fault_ignores_it() {
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 2}});
    for (fault, answered) in [("slow:300", 3), ("reply-after-cancel:300", 2)] {
        let mut proxy = Piped::proxy(&[fault]).greet();
        // In one write, so that the cancel does not come too late; the last reply is due after the first one.
        proxy.raw(format!("{}\n{cancel}\n{}\n", call(2), call(3)).as_bytes());
        assert_eq!(proxy.receive()["id"], answered, "{fault}");
    }
    let mut proxy = Piped::proxy(&["slow:300"]).greet();
    let begun = Instant::now();
    proxy.send(&call(2));
    assert_eq!(proxy.receive()["id"], 2);
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn a_flood_comes_unasked() {
    let mut proxy = Piped::proxy(&["flood:200"]).greet();
    for _ in 0..50 {
        assert_eq!(proxy.receive()["method"], "notifications/message");
    }
}

#[test]
fn a_flood_of_a_call_comes_before_its_reply() {
    let mut proxy = Piped::proxy(&["flood:200@method=tools/call"]).greet();
    proxy.send(&call(2));
    let mut drops = 0;
    let reply = loop {
        let message = proxy.receive();
        if message["method"] != "notifications/message" {
            break message;
        }
        drops += 1;
    };
    assert_eq!(reply["id"], 2, "{reply}");
    assert!(drops >= 50, "{drops} of two hundred a second, for a second");
}

#[test]
fn what_cannot_be_done_is_refused_at_once() {
    for (fault, part) in [
        ("reset", "a pipe can be closed but not reset"),
        ("http:500", "only replies over HTTP have a status"),
        ("hagn", "did you mean `hang`?"),
    ] {
        let ran = proxy(&[fault], &normal()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn every_message_is_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("calls.jsonl");
    let mut command = proxy(&["error@nth=2"], &normal());
    // Before the `--`, which is followed by the server.
    let program = command.get_program().to_owned();
    let mut args: Vec<_> = command.get_args().map(|arg| arg.to_owned()).collect();
    args.splice(1..1, ["--audit".into(), log.clone().into_os_string()]);
    command = Command::new(program);
    command.args(args);
    let mut proxy = Piped::start(command).greet();
    for id in [2, 3] {
        proxy.send(&call(id));
        proxy.receive();
    }
    assert_eq!(proxy.finish(), Some(0));
    let text = std::fs::read_to_string(log).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut rows: Vec<_> = rows.filter(|row| !row["kind"].is_null()).collect();
    rows.sort_by_key(|row| row["seq"].as_u64());
    let methods: Vec<_> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call", "tools/call"]);
    assert_eq!((&rows[2]["success"], &rows[2]["fault"]), (&json!(true), &Value::Null));
    assert_eq!((&rows[3]["success"], &rows[3]["error_code"]), (&json!(false), &json!(-32603)));
    assert!(rows[3]["fault"].as_str().unwrap().contains(r#""seed":1"#));
}

/// Waits until a process whose command line ends like this is there, or none is any more.
#[cfg(target_os = "linux")]
fn wait_for_process(end: &str, wanted: bool) {
    let is_there = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines =
            processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| line.ends_with(end.as_bytes()))
    };
    while is_there() != wanted {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_proxy_leaves_no_server_behind() {
    let mut proxy = Piped::start(proxy(&[], &["sleep".to_owned(), "987.654".to_owned()]));
    let server = "sleep\0987.654\0";
    wait_for_process(server, true);
    proxy.child.kill().unwrap();
    proxy.child.wait().unwrap();
    wait_for_process(server, false);
}

#[cfg(target_os = "linux")]
#[test]
fn a_proxy_that_is_killed_while_a_call_hangs_ends_everything_and_begins_anew() {
    // The server takes no notice of the word, but can be found by it.
    let word = format!("killed-while-hanging-{}", std::process::id());
    let server = [normal(), vec![word.clone()]].concat();
    let mut killed = Piped::start(proxy(&["hang"], &server)).greet();
    wait_for_process(&format!("{word}\0"), true);
    killed.send(&call(2));
    // Requests are treated in their order: what is not touched is answered after the call began to hang.
    killed.send(&request(3, "tools/list", json!({})));
    assert_eq!(killed.receive()["id"], 3, "the call hangs");
    killed.child.kill().unwrap();
    assert_eq!(killed.rest(), "", "the client hears the end, and no answer");
    killed.child.wait().unwrap();
    wait_for_process(&format!("{word}\0"), false);
    let mut anew = Piped::start(proxy(&[], &server)).greet();
    anew.send(&call(2));
    assert!(anew.receive()["result"].is_object(), "the fault went with the process that made it");
    assert_eq!(anew.finish(), Some(0));
}
