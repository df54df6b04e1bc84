//! The proxy over HTTP, as a raw client sees it.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use super::{call, initialize, request};
use crate::{
    gateway::free_port,
    process::{HttpMock, binary, listening_mock},
};

/// A proxy that ends with this value.
pub(super) struct Proxy {
    pub(super) child: Child,
    pub(super) url: String,
}

impl Proxy {
    pub(super) fn start(upstream: &str, args: &[&str]) -> Self {
        let mut child = binary()
            .args(["proxy", "--upstream", upstream])
            .args(args)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `127.0.0.1:1234` and `/mcp`.
pub(super) fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

pub(super) fn send(url: &str, lines: &str, body: &str) -> TcpStream {
    let (authority, path) = parts(url);
    let mut stream = TcpStream::connect(authority).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n{lines}\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// The head and the body, read until the connection ends.
pub(super) fn receive(mut stream: TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    match (read, end) {
        (_, Some(end)) => {
            let body = bytes.split_off(end + 4);
            let head = String::from_utf8(bytes).unwrap();
            let chunked = header(&head, "transfer-encoding").is_some();
            Ok((head, if chunked { joined(&body) } else { body }))
        }
        (Err(error), None) => Err(error),
        (Ok(_), None) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A chunked body in one piece, as far as it came.
fn joined(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(at) = body.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&body[..at]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let rest = &body[at + 2..];
        whole.extend_from_slice(&rest[..size.min(rest.len())]);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

pub(super) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

pub(super) fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A session through the proxy or past it.
pub(super) struct Session {
    pub(super) url: String,
    pub(super) lines: String,
}

impl Session {
    pub(super) fn open(url: &str) -> Self {
        let (head, _) = receive(send(url, "", &initialize().to_string())).unwrap();
        let id = header(&head, "mcp-session-id").unwrap();
        Self { url: url.to_owned(), lines: format!("Mcp-Session-Id: {id}\r\n") }
    }

    pub(super) fn ask(&self, message: &Value) -> io::Result<(String, Vec<u8>)> {
        receive(send(&self.url, &self.lines, &message.to_string()))
    }

    pub(super) fn call(&self, id: u64) -> io::Result<(String, Vec<u8>)> {
        self.ask(&call(id))
    }
}

pub(super) fn upstream(mode: &str) -> HttpMock {
    listening_mock("mock-http-server.py", &[("MOCK_HTTP_MODE", mode)])
}

/// The JSON of a body, be it an event stream or not.
pub(super) fn messages(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<_> = events.filter_map(|data| serde_json::from_str(data).ok()).collect();
    if events.is_empty() { serde_json::from_str(&text).into_iter().collect() } else { events }
}

#[test]
fn without_a_fault_bodies_and_headers_are_those_of_the_server() {
    for mode in ["json", "sse"] {
        let server = upstream(mode);
        for faults in [&[][..], &["--fault", "hang@tool=other"]] {
            let proxy = Proxy::start(&server.url, faults);
            let (direct, through) = (Session::open(&server.url), Session::open(&proxy.url));
            for message in
                [call(2), request(3, "tools/list", json!({})), request(4, "no", json!({}))]
            {
                let (direct, through) =
                    (direct.ask(&message).unwrap(), through.ask(&message).unwrap());
                assert_eq!(through.1, direct.1, "{mode}");
                for name in ["content-type", "content-length", "server"] {
                    assert_eq!(header(&through.0, name), header(&direct.0, name), "{name}");
                }
                assert_eq!(status(&through.0), status(&direct.0));
            }
        }
    }
}

#[test]
fn calls_that_a_fault_answers() {
    let server = upstream("json");
    for (fault, expected, name) in [
        ("http:429", 429, Some(("retry-after", "1"))),
        ("http:503", 503, Some(("retry-after", "1"))),
        ("http:500", 500, None),
        ("auth-expired", 401, Some(("www-authenticate", "Bearer error=\"invalid_token\""))),
        ("session-lost", 404, None),
        ("error:-32602", 200, Some(("content-type", "application/json"))),
        ("tool-error", 200, None),
    ] {
        let proxy = Proxy::start(&server.url, &["--fault", fault]);
        let session = Session::open(&proxy.url);
        let (head, body) = session.call(2).unwrap();
        assert_eq!(status(&head), expected, "{fault}");
        if let Some((name, value)) = name {
            assert_eq!(header(&head, name), Some(value), "{fault}");
        }
        if expected == 200 {
            let message = &messages(&body)[0];
            assert!(message["error"]["code"] == -32602 || message["result"]["isError"] == true);
        }
        if fault == "session-lost" {
            let (head, _) = session.ask(&request(3, "tools/list", json!({}))).unwrap();
            assert_eq!(status(&head), 404);
        }
    }
}

#[test]
fn replies_that_are_spoiled() {
    for mode in ["json", "sse"] {
        let server = upstream(mode);
        let spoiled = |fault: &str| {
            let proxy = Proxy::start(&server.url, &["--fault", fault]);
            let (_, body) = Session::open(&proxy.url).call(2).unwrap();
            messages(&body)
        };
        assert!(spoiled("malformed").is_empty(), "{mode}");
        assert!(spoiled("wrong-id")[0]["id"].as_u64().unwrap() > 2);
        let text = &spoiled("oversized:5000")[0]["result"]["content"][0]["text"];
        assert_eq!(text.as_str().unwrap().len(), 5000);
        assert!(spoiled("schema-violation")[0]["result"]["content"].is_string());
        let twice = spoiled("duplicate");
        assert_eq!((twice.len(), &twice[0]), (2, &twice[1]), "{mode}");
        assert_eq!(spoiled("list-changed")[0]["method"], "notifications/tools/list_changed");
        for fault in ["drip:500", "slow:50", "reorder", "reply-after-cancel:50"] {
            assert_eq!(spoiled(fault)[0]["id"], 2, "{mode} {fault}");
        }
    }
}

#[test]
fn connections_that_are_cut() {
    let server = upstream("json");
    let proxy = Proxy::start(&server.url, &["--fault", "disconnect"]);
    let error = Session::open(&proxy.url).call(2).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    let proxy = Proxy::start(&server.url, &["--fault", "reset"]);
    let error = Session::open(&proxy.url).call(2).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    let proxy = Proxy::start(&server.url, &["--fault", "truncate:9"]);
    let (head, body) = Session::open(&proxy.url).call(2).unwrap();
    assert_eq!(body.len(), 9);
    assert!(header(&head, "content-length").unwrap().parse::<usize>().unwrap() > 9);
    let mut proxy = Proxy::start(&server.url, &["--fault", "crash:7"]);
    let _ = Session::open(&proxy.url).call(2);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(7));
}

/// A server that does with the next connection whatever the test says.
fn by_hand() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, url)
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn an_event_leaves_before_the_next_one_comes() {
    for faults in [&[][..], &["--fault", "wrong-id@nth=9"]] {
        let (listener, url) = by_hand();
        let proxy = Proxy::start(&url, faults);
        let mut client = send(&proxy.url, "", &call(2).to_string());
        let (mut server, _) = listener.accept().unwrap();
        read_head(&mut server);
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        server.write_all(head.as_bytes()).unwrap();
        read_head(&mut client);
        for text in ["one", "two", "three"] {
            let event = format!("data: {text}\n\n");
            server.write_all(event.as_bytes()).unwrap();
            let mut seen = String::new();
            let mut byte = [0];
            while !seen.contains(text) {
                assert_eq!(client.read(&mut byte).unwrap(), 1);
                seen.push(byte[0].into());
            }
        }
    }
}

#[test]
fn a_client_that_goes_away_takes_its_request_along() {
    for (faults, begun) in [(&[][..], false), (&[], true), (&["--fault", "slow:1"], true)] {
        let (listener, url) = by_hand();
        let proxy = Proxy::start(&url, faults);
        let mut client = send(&proxy.url, "", &call(2).to_string());
        let (mut server, _) = listener.accept().unwrap();
        read_head(&mut server);
        if begun {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\n";
            server.write_all(head.as_bytes()).unwrap();
            read_head(&mut client);
        }
        drop(client);
        // The body of the request, and then the end of the connection.
        let mut rest = Vec::new();
        let _ = server.read_to_end(&mut rest);
    }
}

#[test]
fn a_loop_is_refused() {
    let authority = format!("127.0.0.1:{}", free_port());
    let url = format!("http://{authority}/mcp");
    let ran =
        binary().args(["proxy", "--upstream", &url, "--listen", &authority]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("is the proxy itself"), "{said}");
    // A loop of two: the second learns of the first only when a request comes back.
    let first = Proxy::start(&url, &[]);
    let _second = Proxy::start(&first.url, &["--listen", &authority]);
    let (head, _) = receive(send(&first.url, "", &call(2).to_string())).unwrap();
    assert_eq!(status(&head), 508);
}

#[test]
fn the_old_transport_leads_through_the_proxy() {
    let server = listening_mock("mock-sse-server.py", &[]);
    let proxy = Proxy::start(&server.url, &["--transport", "sse", "--fault", "error@tool=none"]);
    let probe = ["probe", "--transport", "sse", "--url", &proxy.url, "--json"];
    let ran = binary().args(probe).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let proxy = Proxy::start(&server.url, &["--transport", "sse", "--fault", "error"]);
    let probe = ["probe", "--transport", "sse", "--url", &proxy.url, "--json"];
    let ran = binary().args(probe).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).contains("Internal error"), "{ran:?}");
}

#[test]
fn strangers_and_impossible_faults_are_refused() {
    let server = upstream("json");
    let proxy = Proxy::start(&server.url, &[]);
    let (authority, path) = parts(&proxy.url);
    let mut stream = TcpStream::connect(authority).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(status(&receive(stream).unwrap().0), 403);
    let ran = binary().args(["proxy", "--upstream", &server.url, "--fault", "noise"]).output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("only a pipe can carry a line that is no message"), "{said}");
    for args in [
        ["--transport", "ws", "--upstream", &server.url],
        ["--seed", "1", "--upstream", "ws://127.0.0.1:9/ws"],
    ] {
        let ran = binary().arg("proxy").args(args).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains("the proxy does not speak WebSocket"), "{said}");
    }
}
