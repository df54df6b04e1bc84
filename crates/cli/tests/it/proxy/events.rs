//! When events leave, as the proxy writes it down.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use super::{
    http::{Proxy, Session},
    log::{bare, logged, rows},
    request,
};
use crate::process::Listening;

fn progress(id: u64, steps: u64) -> Value {
    let params = json!({"name": "progress", "arguments": {"steps": steps, "step_ms": 1},
        "_meta": {"progressToken": "t"}});
    request(id, "tools/call", params)
}

fn times(row: &Value) -> Vec<u64> {
    let events = row["events"].as_array().unwrap();
    events.iter().map(|event| event["at_us"].as_u64().unwrap()).collect()
}

#[test]
fn events_before_a_reply_are_written_down_with_their_times() {
    let server = Listening::start(&["mock", "--transport", "http"]);
    for faults in [&[][..], &["--fault", "tool-error@tool=other"]] {
        let (dir, store) = logged();
        let args = [&["--audit", store.as_str()], faults].concat();
        let proxy = Proxy::start(&server.url, &args);
        let session = Session::open(&proxy.url);
        session.ask(&progress(2, 3)).unwrap();
        session.ask(&request(3, "tools/list", json!({}))).unwrap();
        let rows = rows(proxy, &dir.path().join("log.jsonl"));
        let row = rows.iter().find(|row| row["rpc_id"] == "2").unwrap();
        assert_eq!(row["event_count"], 3, "{row}");
        let methods = row["events"].as_array().unwrap().iter().map(|event| &event["method"]);
        assert!(methods.clone().all(|method| method == "notifications/progress"), "{row}");
        let times = times(row);
        assert!(times.is_sorted() && times[0] > 0, "{row}");
        assert!(times[2] <= row["duration_us"].as_u64().unwrap(), "{row}");
        assert_eq!(row["success"], true, "{row}");
        let quiet = rows.iter().find(|row| row["rpc_id"] == "3").unwrap();
        assert!(quiet["event_count"].is_null() && quiet["events"].is_null(), "{quiet}");
    }
    server.stop();
}

#[test]
fn calls_of_a_batch_share_the_events_before_their_replies() {
    let server = Listening::start(&["mock", "--transport", "http"]);
    let (dir, store) = logged();
    let proxy = Proxy::start(&server.url, &["--audit", &store]);
    let session = super::batch::open(&proxy.url);
    session.ask(&json!([progress(2, 2), progress(3, 4)])).unwrap();
    let rows = rows(proxy, &dir.path().join("log.jsonl"));
    for id in ["2", "3"] {
        let row = rows.iter().find(|row| row["rpc_id"] == id).unwrap();
        assert_eq!((&row["event_count"], times(row).len()), (&json!(6), 6), "{row}");
    }
    server.stop();
}

#[test]
fn a_stream_that_only_listens_has_its_events_in_its_own_row() {
    let server = Listening::start(&["mock", "--transport", "http", "--fault", "flood:1000"]);
    let (dir, store) = logged();
    let proxy = Proxy::start(&server.url, &["--audit", &store]);
    let session = Session::open(&proxy.url);
    let stream = bare(&session, "GET");
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let is_notice = |line: &String| line.contains("\"notifications/");
    assert_eq!(lines.filter(is_notice).take(150).count(), 150);
    // The client is gone; its row is written when the proxy sees that, or ends.
    let rows = rows(proxy, &dir.path().join("log.jsonl"));
    let row = rows.iter().find(|row| row["kind"] == "stream").unwrap();
    assert!(row["event_count"].as_u64().unwrap() >= 150, "{row}");
    assert_eq!((times(row).len(), &row["http_status"]), (100, &json!(200)), "{row}");
    assert_eq!((&row["success"], &row["cancelled"]), (&json!(true), &Value::Null), "{row}");
    server.stop();
}
