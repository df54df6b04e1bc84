//! `mock` as a command: what it refuses, and how its process ends.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use mcp_loadtest_core::{config::TransportName, fault::FAULTS};
use serde_json::{Value, json};

use crate::{harness::run, process::binary};

#[test]
fn a_fault_that_cannot_happen_is_refused_with_the_reason() {
    let mut refused = 0;
    for kind in FAULTS {
        for transport in TransportName::ALL {
            if kind.place.transports.contains(&transport) {
                continue;
            }
            refused += 1;
            // All of these have a default, or take nothing.
            let ran = run(&["mock", "--fault", kind.name, "--transport", transport.as_str()]);
            assert_eq!((ran.code, &*ran.out), (2, ""), "{}: {}", kind.name, ran.err);
            let over = format!("`{}` is not possible over {}", kind.name, transport.as_str());
            for part in [&over, kind.place.why, "hint: use it over "] {
                assert!(ran.err.contains(part), "no {part:?} in {:?}", ran.err);
            }
        }
    }
    assert!(refused > 0, "some faults need a transport");
}

#[test]
fn a_fault_that_is_none_is_refused_with_a_hint() {
    for (fault, part) in [
        ("hangs", "did you mean `hang`?"),
        ("hang@nht=3", "did you mean `nth`?"),
        ("slow", "slow:<ms>"),
        ("hang:3", "takes nothing"),
        ("hang@after=5s,until=5s", "no call is selected"),
    ] {
        let ran = run(&["mock", "--fault", fault]);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{fault}: {}", ran.err);
        assert!(ran.err.contains(part), "no {part:?} in {:?}", ran.err);
    }
}

const CRASH: &str = "crash:42@tool=echo";

fn initialize() -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn call() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo"}})
}

fn start(args: &[&str]) -> Child {
    let mut command = binary();
    command.arg("mock").args(args).stdin(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_crash_over_stdio_ends_the_process_with_its_code() {
    let mut mock = start(&["--fault", CRASH]);
    // The input stays open: it is not its end that ends the process.
    let mut input = mock.stdin.take().unwrap();
    writeln!(input, "{}\n{}", initialize(), call()).unwrap();
    let mut said = String::new();
    mock.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().count(), 1, "only the handshake is answered: {said}");
    assert_eq!(mock.wait().unwrap().code(), Some(42));
}

#[test]
fn a_crash_over_http_ends_the_process_with_its_code() {
    let mut mock = start(&["--fault", CRASH, "--transport", "http"]);
    let mut line = String::new();
    BufReader::new(mock.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
    let authority = url.split('/').nth(2).unwrap();
    let post = |lines: &str, message: &Value| {
        let body = message.to_string();
        let mut stream = TcpStream::connect(authority).unwrap();
        let length = body.len();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
        write!(stream, "{head}{lines}Content-Length: {length}\r\n\r\n{body}").unwrap();
        let mut reply = Vec::new();
        // A crash may end the connection with a reset.
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8(reply).unwrap()
    };
    let hello = post("", &initialize());
    let session = hello.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id"));
    assert_eq!(post(&format!("{}\r\n", session.unwrap()), &call()), "");
    assert_eq!(mock.wait().unwrap().code(), Some(42));
}

/// However it ends, there are as many rows as calls that arrived.
#[test]
fn calls_under_way_are_in_the_log_after_a_signal_and_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let slow = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "slow", "arguments": {"milliseconds": 60_000}}});
    let ping = json!({"jsonrpc": "2.0", "id": 4, "method": "ping"});
    for (is_crash, code, calls) in [(false, 0, 1), (true, 42, 2)] {
        let log = dir.path().join(format!("{code}.jsonl"));
        let mut mock = start(&["--fault", CRASH, "--audit", log.to_str().unwrap()]);
        let mut input = mock.stdin.take().unwrap();
        writeln!(input, "{}\n{slow}\n{ping}", initialize()).unwrap();
        let mut output = BufReader::new(mock.stdout.take().unwrap());
        for _ in 0..2 {
            output.read_line(&mut String::new()).unwrap();
        }
        if is_crash {
            writeln!(input, "{}", call()).unwrap();
        } else {
            let pid = rustix::process::Pid::from_child(&mock);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        }
        assert_eq!(mock.wait().unwrap().code(), Some(code));
        let text = std::fs::read_to_string(&log).unwrap();
        let written = text.lines().filter(|line| line.contains("\"tools/call\"")).count();
        assert_eq!(written, calls, "{text}");
    }
}

#[test]
fn a_line_that_is_cut_ends_the_process() {
    let mut mock = start(&["--fault", "truncate:20"]);
    let mut input = mock.stdin.take().unwrap();
    writeln!(input, "{}\n{}", initialize(), call()).unwrap();
    let mut said = String::new();
    mock.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let (_, part) = said.split_once('\n').unwrap();
    assert_eq!(part.len(), 20, "{said}");
    assert_eq!(mock.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_cannot_be_selected_where_there_is_one() {
    for command in [&["mock"][..], &["proxy", "--upstream", "http://127.0.0.1:1/mcp"]] {
        let ran = run(&[command, &["--fault", "hang@server=other"]].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("leave `server=` out"), "{}", ran.err);
    }
}
