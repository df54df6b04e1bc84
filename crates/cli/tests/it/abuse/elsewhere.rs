//! A server may point anywhere; we go nowhere but where we were sent.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::harness::{mock, run};

/// Somebody else, who must never hear from us; counts who comes.
fn stranger() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let visits = Arc::new(AtomicUsize::new(0));
    let counted = visits.clone();
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, visits)
}

/// A server that answers every request with this.
fn answers(reply: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(reply.as_bytes());
        }
    });
    port
}

#[test]
fn a_token_is_not_carried_to_where_a_server_points() {
    let (other, visits) = stranger();
    let elsewhere = format!("http://localhost:{other}/");
    let metadata = format!("Bearer resource_metadata=\"{elsewhere}\"");
    for (status, line) in [
        ("302 Found", format!("Location: {elsewhere}")),
        ("307 Temporary Redirect", format!("Location: {elsewhere}")),
        ("308 Permanent Redirect", format!("Location: //localhost:{other}/")),
        ("401 Unauthorized", format!("WWW-Authenticate: {metadata}")),
        ("401 Unauthorized", "WWW-Authenticate: Bearer resource_metadata=\"file:///$(id)\"".into()),
    ] {
        let port = answers(format!(
            "HTTP/1.1 {status}\r\n{line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ));
        let url = format!("http://127.0.0.1:{port}/mcp");
        let ran = run(&["probe", "--url", &url, "--header", "Authorization: Bearer t0ken"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{status}: {}", ran.err);
        let number = status.split(' ').next().unwrap();
        assert!(ran.err.contains(number) && ran.err.contains("hint:"), "{status}: {}", ran.err);
        assert!(!ran.err.contains("t0ken"), "{status}: {}", ran.err);
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[test]
fn references_of_schemas_are_not_followed() {
    let (other, visits) = stranger();
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("server.py");
    let common = mock("_common.py").replace("python3 ", "").replace("/_common.py", "");
    let schema = format!("{{'$ref': 'http://127.0.0.1:{other}/schema.json'}}");
    let text = format!(
        "import sys\nsys.path.insert(0, {common:?})\nfrom _common import ECHO_TOOL, serve\n\
         serve(tools=[{{**ECHO_TOOL, 'inputSchema': {schema}, 'outputSchema': {schema}}}])\n"
    );
    std::fs::write(&script, text).unwrap();
    let server = format!("python3 {}", script.display());
    for command in [
        &["probe", "--json"][..],
        &["deadlock-probe", "--tool", "echo"],
        &["run", "--scenario", "fuzzer", "--duration", "1s"],
    ] {
        let ran = run(&[command, &["-s", &server]].concat());
        assert!(ran.code <= 2, "{command:?}: {}", ran.err);
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}
