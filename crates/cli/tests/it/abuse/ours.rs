//! What may be tried on the servers that we run ourselves.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    harness::run_in,
    process::{Listening, binary},
};

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

fn authority(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(authority(url)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

/// What comes back, up to the end of the connection.
fn answer(url: &str, request: &[u8]) -> String {
    let mut stream = connect(url);
    // Whoever is refused early may find the connection closed while it still sends.
    let _ = stream.write_all(request);
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}

fn post(url: &str, lines: &str, body: &str) -> Vec<u8> {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let (host, length) = (authority(url), body.len());
    format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}Content-Length: \
         {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The three kinds of servers, each as a process of its own.
fn servers(dir: &std::path::Path) -> (Listening, Listening, Listening) {
    let fixtures = dir.join("f.yml");
    std::fs::write(&fixtures, "fixtures: [{response: {content: fine}}]").unwrap();
    let mock = Listening::start(&["mock", "--transport", "http"]);
    let proxy = Listening::start(&["proxy", "--upstream", &mock.url]);
    let llm = Listening::start(&["llm", "--fixtures", fixtures.to_str().unwrap()]);
    (mock, proxy, llm)
}

fn hello(url: &str) -> (String, String) {
    if url.ends_with("/mcp") {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        (url.to_owned(), body.to_string())
    } else {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
        (format!("{}/v1/chat/completions", url.trim_end_matches('/')), body.to_string())
    }
}

fn status_with(url: &str, lines: &str) -> String {
    let (url, body) = hello(url);
    let reply = answer(&url, &post(&url, lines, &body));
    reply.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_page_in_a_browser_reaches_none_of_our_servers() {
    let dir = tempfile::tempdir().unwrap();
    let (mock, proxy, llm) = servers(dir.path());
    for url in [&mock.url, &proxy.url, &llm.url] {
        assert_eq!(status_with(url, ""), "200", "{url}");
        assert_eq!(status_with(url, "Origin: http://localhost:3000\r\n"), "200", "{url}");
        for origin in ["https://evil.example", "null", "http://127.0.0.1.evil.example"] {
            let lines = format!("Origin: {origin}\r\nContent-Type: text/plain\r\n");
            assert_eq!(status_with(url, &lines), "403", "{url} {origin}");
        }
    }
}

#[test]
fn slow_and_greedy_clients_keep_nobody_else_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let (mock, proxy, llm) = servers(dir.path());
    for url in [&mock.url, &proxy.url, &llm.url] {
        let mut slow = Vec::new();
        for _ in 0..200 {
            let mut stream = connect(url);
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHo").unwrap();
            slow.push(stream);
        }
        let endless = "a: b\r\n".repeat(300_000);
        let heads = [
            format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{endless}"),
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n"
                .into(),
        ];
        for head in heads {
            let reply = answer(url, head.as_bytes());
            assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{url}: {reply}");
        }
        assert_eq!(status_with(url, ""), "200", "{url}");
        drop(slow);
    }
}

/// A client waits for an answer that never comes; whoever runs the mock must not wait with it.
#[test]
fn a_mock_that_hangs_on_purpose_ends_when_it_is_told_to() {
    let mut command = binary();
    let mut mock = command
        .args(["mock", "--transport", "http", "--fault", "hang"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(mock.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = told["url"].as_str().unwrap();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "echo", "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let lines = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
    let mut client = connect(url);
    client.write_all(&post(url, lines, &call.to_string())).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let waited = client.read(&mut [0]).unwrap_err();
    assert_eq!(waited.kind(), std::io::ErrorKind::WouldBlock, "the call hangs");
    client.set_read_timeout(Some(LIMIT)).unwrap();
    kill_process(Pid::from_child(&mock), Signal::INT).unwrap();
    // The end comes, with or without a last word; no result does.
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("\"result\""), "{rest}");
    assert_eq!(mock.wait().unwrap().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_told_and_a_free_one_is_printed_first() {
    let first = Listening::start(&["mock", "--transport", "http"]);
    let taken = authority(&first.url);
    assert!(!taken.ends_with(":0"), "{taken}");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f.yml"), "fixtures: [{response: {content: x}}]").unwrap();
    for command in [
        &["mock", "--transport", "http", "--listen", taken][..],
        &["proxy", "--upstream", "http://127.0.0.1:1/mcp", "--listen", taken],
        &["llm", "--fixtures", "f.yml", "--listen", taken],
    ] {
        let ran = run_in(dir.path(), command);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command:?}: {}", ran.err);
        assert!(ran.err.contains(taken) && ran.err.contains("hint:"), "{command:?}: {}", ran.err);
    }
}

/// A gigabyte of nothing takes no room on the disk.
#[test]
fn a_fixture_file_that_is_far_too_large_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let huge = std::fs::File::create(dir.path().join("huge.yml")).unwrap();
    huge.set_len(1 << 30).unwrap();
    for place in ["huge.yml", "/dev/zero"] {
        let ran = run_in(dir.path(), &["llm", "--fixtures", place, "--validate"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("more than 16 MiB"), "{}", ran.err);
    }
}
