//! What the proxy writes down over HTTP: every request, whatever became of it.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
    time::Duration,
};

use serde_json::Value;

use super::http::{Proxy, Session, parts, receive, upstream};
use crate::proxy::{call, request};

/// A folder with room for a log, and the log as a store.
pub(super) fn logged() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let store = format!("jsonl:{}", dir.path().join("log.jsonl").display());
    (dir, store)
}

/// The rows of a proxy that is told to end.
pub(super) fn rows(mut proxy: Proxy, file: &std::path::Path) -> Vec<Value> {
    let id = proxy.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(proxy.child.wait().unwrap().success(), "the log is complete");
    let text = fs::read_to_string(file).unwrap();
    let mut rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| row["seq"].as_u64());
    rows
}

/// Sends a request without a body and waits for the beginning of the reply.
pub(super) fn bare(session: &Session, verb: &str) -> TcpStream {
    let (authority, path) = parts(&session.url);
    let mut stream = TcpStream::connect(authority).unwrap();
    let lines = &session.lines;
    let head = format!(
        "{verb} {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/event-stream\r\n{lines}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream
}

#[test]
fn every_request_leaves_a_row_with_its_envelope() {
    let server = upstream("json");
    let (dir, store) = logged();
    let file = dir.path().join("log.jsonl");
    let proxy = Proxy::start(&server.url, &["--audit", &store, "--fault", "hang@nth=2"]);
    let mut session = Session::open(&proxy.url);
    drop(bare(&session, "GET"));
    session.lines.push_str("X-Marker: m1\r\nAuthorization: Bearer secret\r\n");
    session.call(2).unwrap();
    // The second call hangs, and its client does not wait for long: only until the proxy must have it.
    let mut left = super::http::send(&session.url, &session.lines, &call(3).to_string());
    left.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    assert!(left.read(&mut [0]).is_err(), "nothing comes");
    drop(left);
    let (head, _) = session.ask(&request(4, "tools/list", serde_json::json!({}))).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"));
    drop(bare(&session, "DELETE"));
    let rows = rows(proxy, &file);
    let kinds: Vec<_> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "stream", "request", "request", "request", "session_end"]);
    let good = &rows[2];
    assert_eq!((&good["http_verb"], &good["http_status"]), (&"POST".into(), &200.into()));
    let headers = good["headers"].to_string();
    assert!(headers.contains("m1") && !headers.contains("secret"), "{headers}");
    assert!(good["client"].as_str().unwrap().starts_with("127.0.0.1:"));
    let left = &rows[3];
    assert_eq!((&left["success"], &left["cancelled"]), (&false.into(), &true.into()), "{left}");
    assert!(left["fault"].as_str().unwrap().contains("hang"));
}

#[test]
fn a_server_that_is_gone_is_written_down_too() {
    let server = upstream("json");
    let (dir, store) = logged();
    let file = dir.path().join("log.jsonl");
    let proxy = Proxy::start(&server.url, &["--audit", &store]);
    drop(server);
    let body = call(1).to_string();
    let (head, _) = receive(super::http::send(&proxy.url, "", &body)).unwrap();
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    let rows = rows(proxy, &file);
    assert_eq!((&rows[0]["http_status"], &rows[0]["success"]), (&502.into(), &false.into()));
}
