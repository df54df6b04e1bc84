//! Batches over pipes.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    super::{call, initialized, request, stdio::Piped},
    IN_THE_ARRAY, SUBJECTS, Subject, cancel, check_array, ids, initialize, reply_to, three,
};
use crate::process::binary;

pub(super) fn command(subject: Subject, args: &[&str]) -> Command {
    let mut command = binary();
    match subject {
        Subject::Mock => command.arg("mock").args(args),
        Subject::Proxy => {
            command.arg("proxy").args(args).args(["--", env!("CARGO_BIN_EXE_mcp-loadtest"), "mock"])
        }
    };
    command
}

pub(super) fn greeted(command: Command, version: &str) -> Piped {
    let mut piped = Piped::start(command);
    piped.send(&initialize(version));
    assert_eq!(piped.receive()["result"]["protocolVersion"], version);
    piped.send(&initialized());
    piped
}

pub(super) fn faulty(subject: Subject, fault: &str) -> Piped {
    greeted(command(subject, &["--fault", fault]), "2025-03-26")
}

#[test]
fn a_reply_that_is_whole_stays_in_the_array() {
    for subject in SUBJECTS {
        for case in IN_THE_ARRAY {
            let mut piped = faulty(subject, case.0);
            let begun = Instant::now();
            piped.send(&three(2));
            check_array(&piped.receive(), case, subject);
            if case.0.starts_with("slow") {
                assert!(begun.elapsed() >= Duration::from_millis(300));
            }
            assert_eq!(piped.finish(), Some(0));
        }
        let mut piped = faulty(subject, "wrong-id@nth=2");
        piped.send(&three(2));
        let array = piped.receive();
        let ids = ids(&array);
        assert!(ids.len() == 3 && ids[..2] == [2, 4] && ids[2] > 4, "{subject:?}: {array}");
        let mut piped = faulty(subject, "duplicate@nth=2");
        piped.send(&three(2));
        assert_eq!(super::ids(&piped.receive()), [2, 3, 3, 4], "{subject:?}");
    }
}

#[test]
fn a_reply_that_never_comes_holds_nobody_back() {
    for subject in SUBJECTS {
        for fault in ["hang@nth=2", "wedged@nth=2"] {
            let mut piped = faulty(subject, fault);
            piped.send(&three(2));
            assert_eq!(ids(&piped.receive()), [2, 4], "{subject:?} {fault}");
            piped.send(&json!([call(9)]));
            assert_eq!(ids(&piped.receive()), [9], "{subject:?} {fault}");
        }
        let mut piped = faulty(subject, "lazy-init-deadlock");
        piped.send(&three(2));
        piped.send(&request(9, "ping", json!({})));
        assert_eq!(piped.receive()["id"], 9, "{subject:?}");
        let mut piped = faulty(subject, "lazy-init-deadlock");
        piped.send(&json!([call(2), request(3, "ping", json!({}))]));
        let mut seen = [piped.receive(), piped.receive()].map(|reply| match reply {
            Value::Array(replies) => replies[0]["id"].as_u64(),
            reply => reply["id"].as_u64(),
        });
        seen.sort_unstable();
        assert_eq!(seen, [Some(2), Some(3)], "{subject:?}");
    }
}

#[test]
fn a_reply_that_is_spoiled_spoils_no_other() {
    for subject in SUBJECTS {
        for fault in ["malformed@nth=2", "noise@nth=2", "reorder@nth=2", "drip:2000@nth=2"] {
            let mut piped = faulty(subject, fault);
            piped.send(&three(2));
            let lines = if fault.starts_with("noise") { 3 } else { 2 };
            let lines: Vec<_> = (0..lines).map(|_| piped.line()).collect();
            let read: Vec<Value> =
                lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let array = read.iter().find(|message| message.is_array());
            assert_eq!(ids(array.unwrap()), [2, 4], "{subject:?} {fault}: {lines:?}");
            let single = read.iter().find(|message| message["id"] == 3);
            assert_eq!(single.is_some(), !fault.starts_with("malformed"), "{fault}: {lines:?}");
        }
        let mut piped = faulty(subject, "disconnect@nth=2");
        piped.send(&three(2));
        piped.rest();
        assert_eq!(piped.finish(), Some(0), "{subject:?}");
        let mut piped = faulty(subject, "crash:7@nth=2");
        piped.send(&three(2));
        piped.rest();
        assert_eq!(piped.finish(), Some(7), "{subject:?}");
    }
}

#[test]
fn calls_are_counted_through_batches() {
    for subject in SUBJECTS {
        let mut piped = faulty(subject, "error@nth=4");
        piped.send(&three(2));
        assert!(reply_to(&piped.receive(), 4)["result"].is_object());
        piped.send(&three(5));
        let array = piped.receive();
        assert_eq!(ids(&array), [5, 6, 7], "{subject:?}");
        assert!(reply_to(&array, 5)["error"].is_object(), "{subject:?}: {array}");
        let mut piped = faulty(subject, "error");
        piped.send(&three(2));
        let array = piped.receive();
        assert_eq!(ids(&array), [2, 3, 4], "{subject:?}");
        assert!(array.as_array().unwrap().iter().all(|reply| reply["error"].is_object()));
    }
}

#[test]
fn a_cancel_in_a_batch_withdraws_a_call() {
    for subject in SUBJECTS {
        let mut piped = faulty(subject, "slow:60000@nth=1");
        piped.send(&json!([call(2), cancel(2), call(3)]));
        assert_eq!(ids(&piped.receive()), [3], "{subject:?}");
        let mut piped = faulty(subject, "slow:60000@nth=1");
        piped.send(&json!([call(2), call(3)]));
        piped.send(&json!([cancel(2)]));
        // The others wait no longer than they must.
        assert_eq!(ids(&piped.receive()), [3], "{subject:?}");
        let mut piped = faulty(subject, "reply-after-cancel:300@nth=1");
        piped.send(&json!([call(2), cancel(2), call(3)]));
        assert_eq!(ids(&piped.receive()), [2, 3], "{subject:?}");
    }
}
