//! A mock that runs, sessions with it, and bytes that no client would send.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::mcp::Revision;
use mcp_loadtest_mock::{Mock, RunningMock};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Address, Hello, How, Options, Reply, Session, Target},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Far more than anything here takes.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

pub(super) async fn start(fault: &str) -> RunningMock {
    let listen = "127.0.0.1:0".parse().unwrap();
    let fault = fault.parse().unwrap();
    Mock::new().fault(fault).bind(listen).await.unwrap().spawn()
}

pub(super) fn target(mock: &RunningMock) -> Target {
    Target::Http(Address::new(mock.url()))
}

pub(super) fn options() -> Options {
    Options::new(Rc::new(Nowhere), Clock::start())
}

/// Opens a session with our own client; to be called in a `LocalSet`.
pub(super) async fn open(mock: &RunningMock, revision: Revision) -> (Session, Hello) {
    Session::open(&target(mock), &options(), revision).await.expect("the mock answers")
}

pub(super) async fn echo(session: &Session, text: &str, limit: Duration) -> Reply {
    let call = session.prepare_tool_call("echo", &json!({ "text": text }), &Value::Null);
    session.call(&call, How::setup(limit)).await
}

/// The text of a tool result.
pub(super) fn text_of(reply: &Reply) -> String {
    let result = reply.json().unwrap_or_else(|| panic!("no result: {reply:?}"));
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// A reply, taken apart.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Value,
}

impl Raw {
    pub(super) fn code(&self) -> Option<i64> {
        self.body["error"]["code"].as_i64()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub(super) async fn connect(mock: &RunningMock) -> TcpStream {
    let authority = mock.url().split('/').nth(2).unwrap();
    TcpStream::connect(authority).await.unwrap()
}

/// Sends bytes and reads one reply.
pub(super) async fn send(stream: &mut TcpStream, bytes: &[u8]) -> Raw {
    stream.write_all(bytes).await.unwrap();
    receive(stream).await
}

pub(super) async fn receive(stream: &mut TcpStream) -> Raw {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a reply"));
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut raw = Raw { status, head, body: Value::Null };
    let length = raw.header("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    if length > 0 {
        raw.body = serde_json::from_slice(&body).unwrap();
    }
    raw
}

/// A POST to the endpoint with these header lines, each with its end.
pub(super) fn post(lines: &str, body: &str) -> Vec<u8> {
    let host = if lines.contains("Host:") { "" } else { "Host: localhost\r\n" };
    let length = body.len();
    format!("POST /mcp HTTP/1.1\r\n{host}{lines}Content-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

pub(super) fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}
