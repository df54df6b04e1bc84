//! The proxy over HTTP: calls that wait, and what becomes of them.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
    thread,
};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use super::{
    call,
    http::{Proxy, Session, messages, receive, send, status, upstream},
    log::{bare, logged, rows},
    request,
};
use crate::process::{Listening, fixture, listening_mock};

fn cancel(id: u64) -> Value {
    let params = json!({"requestId": id});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// A call that is on its way; nothing is read yet.
fn begin(session: &Session, id: u64) -> TcpStream {
    send(&session.url, &session.lines, &call(id).to_string())
}

/// Two calls that the proxy meets at once: it is stopped until both are there to be read, or else the first
/// might be over by the time that we get to send the second.
fn begin_together(proxy: &Proxy, session: &Session, ids: [u64; 2]) -> Vec<TcpStream> {
    let pid = Pid::from_child(&proxy.child);
    kill_process(pid, Signal::STOP).unwrap();
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    let streams = ids.map(|id| begin(session, id));
    kill_process(pid, Signal::CONT).unwrap();
    streams.into()
}

/// Withdraws a call until it is over: which of two connections is read first is not theirs to choose.
fn withdrawn(session: &Session, id: u64, stream: TcpStream) -> (String, Vec<u8>) {
    let reader = thread::spawn(|| receive(stream).unwrap());
    while !reader.is_finished() {
        session.ask(&cancel(id)).unwrap();
        thread::yield_now();
    }
    reader.join().unwrap()
}

#[test]
fn a_withdrawn_call_has_no_reply() {
    for mode in ["json", "sse"] {
        let server = upstream(mode);
        for fault in ["hang", "wedged", "recover-after:1", "slow:60000", "lazy-init-deadlock"] {
            let (dir, store) = logged();
            let proxy = Proxy::start(&server.url, &["--audit", &store, "--fault", fault]);
            let session = Session::open(&proxy.url);
            let waiting = match fault {
                "lazy-init-deadlock" => begin_together(&proxy, &session, [2, 3]),
                _ => vec![begin(&session, 2)],
            };
            // Whoever is not touched is answered while the call waits.
            let (_, list) = session.ask(&request(9, "tools/list", json!({}))).unwrap();
            assert_eq!(messages(&list)[0]["id"], 9, "{fault}");
            for (id, stream) in (2..).zip(waiting) {
                let (head, body) = withdrawn(&session, id, stream);
                assert_eq!((status(&head), messages(&body)), (200, vec![]), "{mode} {fault}");
            }
            let rows = rows(proxy, &dir.path().join("log.jsonl"));
            let is_call = |row: &&Value| row["tool"] == "echo";
            for row in rows.iter().filter(is_call) {
                assert_eq!((&row["cancelled"], &row["success"]), (&json!(true), &json!(false)));
            }
            assert!(rows.iter().any(|row| is_call(&row)), "{rows:?}");
        }
    }
}

#[test]
fn a_call_that_ignores_its_cancel_is_answered_all_the_same() {
    let server = upstream("json");
    let proxy = Proxy::start(&server.url, &["--fault", "reply-after-cancel:500"]);
    let session = Session::open(&proxy.url);
    let stream = begin(&session, 2);
    session.ask(&cancel(2)).unwrap();
    assert_eq!(messages(&receive(stream).unwrap().1)[0]["id"], 2);
}

#[test]
fn a_lone_first_call_frees_those_that_follow() {
    let server = upstream("json");
    let proxy = Proxy::start(&server.url, &["--fault", "lazy-init-deadlock"]);
    let session = Session::open(&proxy.url);
    assert_eq!(messages(&session.call(2).unwrap().1)[0]["id"], 2);
    let (third, fourth) = (begin(&session, 3), begin(&session, 4));
    assert_eq!(messages(&receive(third).unwrap().1)[0]["id"], 3);
    assert_eq!(messages(&receive(fourth).unwrap().1)[0]["id"], 4);
}

#[test]
fn a_server_that_recovers_answers_the_second_call() {
    let server = upstream("json");
    let proxy = Proxy::start(&server.url, &["--fault", "recover-after:1"]);
    let session = Session::open(&proxy.url);
    let first = begin(&session, 2);
    withdrawn(&session, 2, first);
    assert_eq!(messages(&session.call(3).unwrap().1)[0]["id"], 3);
}

#[test]
fn chance_is_the_same_for_the_same_seed() {
    let server = upstream("json");
    let fates = |seed: &str| {
        let proxy = Proxy::start(&server.url, &["--fault", "flaky:0.5", "--seed", seed]);
        let session = Session::open(&proxy.url);
        let fate = |id| messages(&session.call(id).unwrap().1)[0]["result"]["isError"] == true;
        (2..34).map(fate).collect::<Vec<_>>()
    };
    let first = fates("7");
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    assert_eq!(first, fates("7"));
    assert_ne!(first, fates("8"));
}

#[test]
fn pages_without_end() {
    let server = upstream("sse");
    let proxy = Proxy::start(&server.url, &["--fault", "endless-pagination"]);
    let session = Session::open(&proxy.url);
    let mut cursor = json!({});
    for id in 2..7 {
        let (_, page) = session.ask(&request(id, "tools/list", cursor)).unwrap();
        let page = messages(&page).pop().unwrap();
        assert!(page["result"]["tools"].is_array(), "{page}");
        cursor = json!({"cursor": page["result"]["nextCursor"].as_str().unwrap()});
    }
}

#[test]
fn a_stream_that_is_flooded() {
    let server = Listening::start(&["mock", "--transport", "http"]);
    let proxy = Proxy::start(&server.url, &["--fault", "flood:100"]);
    let lines = BufReader::new(bare(&Session::open(&proxy.url), "GET")).lines();
    let is_notice = |line: &String| line.contains("\"notifications/");
    assert_eq!(lines.map(Result::unwrap).filter(is_notice).take(20).count(), 20);
    server.stop();
}

/// A reply of its own, a reply in a stream, and one of a batch.
#[test]
fn a_call_that_is_flooded() {
    let server = Listening::start(&["mock", "--transport", "http"]);
    let proxy = Proxy::start(&server.url, &["--fault", "flood:200@method=tools/call"]);
    let session = super::batch::open(&proxy.url);
    let params = json!({"name": "progress", "arguments": {"steps": 2, "step_ms": 1},
        "_meta": {"progressToken": "t"}});
    for asked in [call(2), request(3, "tools/call", params), json!([call(4)])] {
        let (_, body) = session.ask(&asked).unwrap();
        let said = messages(&body);
        let drops = said.iter().filter(|said| said["params"]["logger"] == "flood").count();
        assert!(drops >= 50, "{asked}: {drops} of two hundred a second, for a second");
        let last = said.last().unwrap();
        assert!(last["result"].is_object() || last[0]["result"].is_object(), "{asked}: {last}");
    }
    let (_, body) = session.ask(&request(5, "tools/list", json!({}))).unwrap();
    assert_eq!(messages(&body).len(), 1, "a list is no call");
    server.stop();
}

#[test]
fn a_server_behind_tls() {
    let pem = fixture("tls/localhost.pem");
    let server = listening_mock("mock-http-server.py", &[("MOCK_TLS_PEM", pem.to_str().unwrap())]);
    let ca = fixture("tls/ca.pem");
    for (faults, is_error) in [(&[][..], false), (&["--fault", "error"], true)] {
        let trusting = [&["--ca-cert", ca.to_str().unwrap()], faults].concat();
        let proxy = Proxy::start(&server.url, &trusting);
        let (_, body) = Session::open(&proxy.url).call(2).unwrap();
        assert_eq!(messages(&body)[0].get("error").is_some(), is_error);
    }
    // A certificate that nobody vouches for is not taken.
    let proxy = Proxy::start(&server.url, &[]);
    let (head, body) = receive(send(&proxy.url, "", &call(2).to_string())).unwrap();
    assert_eq!(status(&head), 502, "{}", String::from_utf8_lossy(&body));
}
