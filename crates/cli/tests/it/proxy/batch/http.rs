//! Batches over Streamable HTTP.

use std::{
    io::{self, Read as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    super::{
        call,
        http::{Session, header, messages, receive, send, status},
        log::logged,
    },
    IN_THE_ARRAY, SUBJECTS, Subject, cancel, check_array, ids, initialize,
    rows::{kinds, read},
    three,
};
use crate::process::Listening;

/// A mock, and perhaps a proxy before it.
pub(super) struct Served {
    pub(super) front: Listening,
    behind: Option<Listening>,
}

impl Served {
    fn start(subject: Subject, mode: &[&str], args: &[&str]) -> Self {
        let mock = [&["mock", "--transport", "http"], mode].concat();
        match subject {
            Subject::Mock => {
                Self { front: Listening::start(&[&mock, args].concat()), behind: None }
            }
            Subject::Proxy => {
                let behind = Listening::start(&mock);
                let proxy = [&["proxy", "--upstream", &behind.url], args].concat();
                Self { front: Listening::start(&proxy), behind: Some(behind) }
            }
        }
    }

    fn faulty(subject: Subject, mode: &[&str], fault: &str) -> (Self, Session) {
        let served = Self::start(subject, mode, &["--fault", fault]);
        let session = open(&served.front.url);
        (served, session)
    }

    fn stop(self) {
        self.front.stop();
        drop(self.behind);
    }
}

pub(in crate::proxy) fn open(url: &str) -> Session {
    let (head, _) = receive(send(url, "", &initialize("2025-03-26").to_string())).unwrap();
    let id = header(&head, "mcp-session-id").unwrap();
    Session { url: url.to_owned(), lines: format!("Mcp-Session-Id: {id}\r\n") }
}

/// All replies of a body, whether they come in one array or not.
pub(super) fn replies(body: &[u8]) -> Value {
    let flat = messages(body).into_iter().flat_map(|message| match message {
        Value::Array(replies) => replies,
        reply => vec![reply],
    });
    Value::Array(flat.collect())
}

const JSON: &[&str] = &[];
const STREAM: &[&str] = &["--always-stream"];

#[test]
fn what_nothing_touches_goes_through_to_the_byte() {
    let (dir, store) = logged();
    for mode in [JSON, STREAM] {
        let args = ["--audit", &store, "--fault", "error@nth=9"];
        let served = Served::start(Subject::Proxy, mode, &args);
        let direct = open(&served.behind.as_ref().unwrap().url);
        let through = open(&served.front.url);
        for message in [three(2), json!([three(2)[1]]), json!([call(7), 8, [9]])] {
            let (direct, through) = (direct.ask(&message).unwrap(), through.ask(&message).unwrap());
            assert_eq!(through.1, direct.1, "{mode:?}");
            for name in ["content-type", "content-length"] {
                assert_eq!(header(&through.0, name), header(&direct.0, name), "{name}");
            }
            assert_eq!(status(&through.0), status(&direct.0));
        }
        served.stop();
    }
    let rows = read(&dir.path().join("log.jsonl"));
    let one = ["request", "notification", "request", "request", "notification"];
    let one = [&one[..], &["request", "refused", "refused"]].concat();
    assert_eq!(kinds(&rows), [&one[..], &one].concat());
    for row in rows.iter().filter(|row| row["kind"] == "request") {
        assert_eq!((&row["http_status"], &row["success"]), (&json!(200), &json!(true)), "{row}");
        assert!(row["bytes_out"].as_u64().unwrap() > 0 && row["client"].is_string(), "{row}");
    }
}

#[test]
fn a_reply_that_is_whole_stays_with_the_others() {
    for (subject, mode) in SUBJECTS.into_iter().flat_map(|it| [(it, JSON), (it, STREAM)]) {
        for case in IN_THE_ARRAY {
            let (_served, session) = Served::faulty(subject, mode, case.0);
            let begun = Instant::now();
            let (head, body) = session.ask(&three(2)).unwrap();
            if mode == JSON {
                assert_eq!(header(&head, "content-type"), Some("application/json"), "{case:?}");
                assert!(messages(&body)[0].is_array(), "{subject:?} {case:?}");
            }
            check_array(&replies(&body), case, subject);
            if case.0.starts_with("slow") {
                assert!(begun.elapsed() >= Duration::from_millis(300));
            }
        }
        let (_served, session) = Served::faulty(subject, mode, "wrong-id@nth=2");
        let found = ids(&replies(&session.ask(&three(2)).unwrap().1));
        assert!(found.len() == 3 && found[..2] == [2, 4] && found[2] > 4, "{found:?}");
        let (_served, session) = Served::faulty(subject, mode, "duplicate@nth=2");
        assert_eq!(ids(&replies(&session.ask(&three(2)).unwrap().1)), [2, 3, 3, 4]);
        let (_served, session) = Served::faulty(subject, mode, "error");
        let all = replies(&session.ask(&three(2)).unwrap().1);
        assert_eq!(ids(&all), [2, 3, 4]);
        assert!(all.as_array().unwrap().iter().all(|reply| reply["error"].is_object()));
    }
}

/// Reads a stream until all of these ids have been answered.
fn read_until(stream: &mut TcpStream, wanted: &[u64]) -> Vec<u8> {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    loop {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
        if seen.ends_with(b"\n\n") && ids(&replies(&seen)) == wanted {
            return seen;
        }
    }
}

#[test]
fn a_reply_that_never_comes_holds_nobody_back() {
    for (subject, mode) in SUBJECTS.into_iter().flat_map(|it| [(it, JSON), (it, STREAM)]) {
        let (dir, store) = logged();
        let args = ["--fault", "hang@nth=2", "--audit", &store];
        let served = Served::start(subject, mode, &args);
        let session = open(&served.front.url);
        let mut stream = send(&session.url, &session.lines, &three(2).to_string());
        let head = read_until(&mut stream, &[2, 4]);
        assert!(String::from_utf8_lossy(&head).contains("text/event-stream"), "{subject:?}");
        let (head, body) = session.ask(&json!([cancel(3)])).unwrap();
        assert_eq!((status(&head), body.len()), (202, 0), "{subject:?}");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        let rest = String::from_utf8(rest).unwrap();
        assert!(!rest.contains("data:"), "{subject:?}: {rest}");
        served.stop();
        let rows = read(&dir.path().join("log.jsonl"));
        let cancelled: Vec<_> = rows.iter().filter(|row| row["cancelled"] == true).collect();
        assert_eq!((cancelled.len(), &cancelled[0]["rpc_id"]), (1, &json!("3")), "{subject:?}");
        let (_served, session) = Served::faulty(subject, mode, "lazy-init-deadlock");
        let (_, body) = session.ask(&json!([call(2)])).unwrap();
        assert_eq!(ids(&replies(&body)), [2], "{subject:?}");
    }
}

#[test]
fn what_ends_a_response_ends_that_of_all() {
    for subject in SUBJECTS {
        for (fault, expected) in
            [("http:503@nth=2", 503), ("auth-expired@nth=2", 401), ("session-lost@nth=2", 404)]
        {
            let (dir, store) = logged();
            let served = Served::start(subject, JSON, &["--fault", fault, "--audit", &store]);
            let (head, _) = open(&served.front.url).ask(&three(2)).unwrap();
            assert_eq!(status(&head), expected, "{subject:?} {fault}");
            served.stop();
            let rows = read(&dir.path().join("log.jsonl"));
            assert_eq!(kinds(&rows), ["request", "notification", "request", "request"]);
            for row in &rows {
                let found = (&row["http_status"], &row["success"]);
                assert_eq!(found, (&json!(expected), &json!(false)), "{subject:?} {fault}: {row}");
            }
            let fired = |row: &Value| row["fault"].to_string().contains("\\\"fired\\\":true");
            assert_eq!(rows.iter().filter(|row| fired(row)).count(), 1, "{subject:?} {fault}");
            assert!(rows[0]["note"].as_str().unwrap().contains("batch"), "{rows:?}");
        }
        for (fault, kind) in [
            ("disconnect@nth=2", io::ErrorKind::UnexpectedEof),
            ("reset@nth=2", io::ErrorKind::ConnectionReset),
        ] {
            let (_served, session) = Served::faulty(subject, JSON, fault);
            assert_eq!(session.ask(&three(2)).unwrap_err().kind(), kind, "{subject:?} {fault}");
        }
        let (_served, session) = Served::faulty(subject, JSON, "truncate:9@nth=2");
        let (head, body) = session.ask(&three(2)).unwrap();
        let announced: usize = header(&head, "content-length").unwrap().parse().unwrap();
        assert!(body.len() == 9 && announced > 9, "{subject:?}: {head}");
        let (_served, session) = Served::faulty(subject, JSON, "malformed@nth=2");
        assert!(messages(&session.ask(&three(2)).unwrap().1).is_empty(), "{subject:?}");
        for fault in ["drip:2000@nth=2", "reorder@nth=2"] {
            let (_served, session) = Served::faulty(subject, JSON, fault);
            assert_eq!(ids(&replies(&session.ask(&three(2)).unwrap().1)), [2, 3, 4], "{fault}");
        }
    }
}

#[test]
fn a_cancel_in_a_batch_withdraws_a_call() {
    for (subject, mode) in SUBJECTS.into_iter().flat_map(|it| [(it, JSON), (it, STREAM)]) {
        let (_served, session) = Served::faulty(subject, mode, "slow:60000@nth=1");
        let (_, body) = session.ask(&json!([call(2), cancel(2), call(3)])).unwrap();
        assert_eq!(ids(&replies(&body)), [3], "{subject:?} {mode:?}");
    }
}

#[test]
fn a_batch_that_the_server_refuses() {
    let (dir, store) = logged();
    let served = Served::start(Subject::Proxy, JSON, &["--audit", &store]);
    let session = Session::open(&served.front.url);
    assert_eq!(status(&session.ask(&three(2)).unwrap().0), 400);
    let crowd = Value::Array((0..1001).map(|id| call(id + 2)).collect());
    let (head, body) = open(&served.front.url).ask(&crowd).unwrap();
    let said = String::from_utf8_lossy(&body);
    assert!(status(&head) == 400 && said.contains("more than 1000 messages"), "{said}");
    served.stop();
    let rows = read(&dir.path().join("log.jsonl"));
    let expected = ["request", "notification", "request", "request", "refused"];
    assert_eq!(kinds(&rows), expected);
    assert!(rows.iter().all(|row| row["http_status"] == 400 && row["success"] == false));
}
