//! What the audit log holds of what was really sent.

use std::collections::HashMap;

use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, method},
};
use mcp_loadtest_mock::{
    Mock,
    audit::{Audit, Filter, Kind, Redaction, Row},
};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{
    peer::{Got, Peer},
    support::LIMIT,
};

pub(super) fn memory() -> Audit {
    Audit::open(&"memory".parse().unwrap(), Redaction::default()).unwrap()
}

pub(super) fn rows(audit: &Audit) -> Vec<Row> {
    audit.query(&Filter::default()).unwrap()
}

/// The first row like this, as soon as there is one.
pub(super) async fn wait_for(audit: &Audit, is_wanted: impl Fn(&Row) -> bool) -> Row {
    let begun = Instant::now();
    loop {
        let rows = rows(audit);
        if let Some(row) = rows.iter().find(|row| is_wanted(row)) {
            return row.clone();
        }
        assert!(begun.elapsed() < LIMIT, "there is no such row: {rows:#?}");
        tokio::task::yield_now().await;
    }
}

async fn start(transport: TransportName, era: Era) -> (Peer, Audit) {
    let audit = memory();
    (Peer::start(Mock::new().conformance().audit(audit.clone()), transport, era).await, audit)
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_are_kept_apart() {
    for (transport, era) in [
        (TransportName::Stdio, Era::Legacy),
        (TransportName::Stdio, Era::Modern),
        (TransportName::Http, Era::Legacy),
        (TransportName::Http, Era::Modern),
    ] {
        let (mut peer, audit) = start(transport, era).await;
        for (arguments, code, category) in [
            (json!({"as_tool": true, "message": "no"}), None, "tool"),
            (json!({"as_tool": true, "message": "no", "category": "auth"}), None, "auth"),
            (json!({"message": "no"}), Some(-32603), "protocol"),
            (
                json!({"message": "no", "code": -32050, "category": "timeout"}),
                Some(-32050),
                "timeout",
            ),
        ] {
            let id = peer.call("error", arguments.clone()).await;
            let reply = peer.reply(id).await;
            assert_eq!(reply["error"]["code"].as_i64(), code, "{reply}");
            assert_eq!(reply["result"]["isError"] == true, code.is_none(), "{reply}");
            let row = rows(&audit).pop().unwrap();
            let told = (row.error_code, row.error_category.as_deref());
            assert_eq!(told, (code, Some(category)), "{transport:?} {era:?} {arguments}");
            assert_eq!((row.success, row.error_message.as_deref()), (false, Some("no")));
        }
    }
}

/// What is wrong with the arguments is told to the client, and what they were is not written down.
#[tokio::test]
async fn values_that_a_schema_refuses_are_not_written_down() {
    for (transport, era) in
        [(TransportName::Stdio, Era::Legacy), (TransportName::Http, Era::Modern)]
    {
        for fault in ["none", "slow:1"] {
            let audit = memory();
            let mock = Mock::new().fault(fault.parse().unwrap()).audit(audit.clone());
            let mut peer = Peer::start(mock, transport, era).await;
            let id = peer.call("error", json!({"code": "open sesame"})).await;
            let reply = peer.reply(id).await.to_string();
            assert!(reply.contains("open sesame"), "{reply}");
            let said = rows(&audit).pop().unwrap().error_message.unwrap();
            assert!(said.starts_with("invalid arguments for `error`: `/code`"), "{said}");
            assert!(!said.contains("sesame"), "{said}");
        }
    }
}

/// What takes its time has a status in its row as well.
#[tokio::test]
async fn every_row_over_http_has_its_status() {
    for (transport, era, bad) in [
        (TransportName::Http, Era::Legacy, Some(200)),
        (TransportName::Http, Era::Modern, Some(400)),
        (TransportName::Sse, Era::Legacy, Some(202)),
        (TransportName::Stdio, Era::Legacy, None),
    ] {
        for fault in ["none", "slow:1"] {
            let audit = memory();
            let mock = Mock::new().fault(fault.parse().unwrap()).audit(audit.clone());
            let mut peer = Peer::start(mock, transport, era).await;
            for (tool, status) in
                [("echo", bad.map(|bad| if bad == 400 { 200 } else { bad })), ("none", bad)]
            {
                let id = peer.call(tool, json!({})).await;
                peer.reply(id).await;
                let row = rows(&audit).pop().unwrap();
                assert_eq!(
                    row.http_status, status,
                    "{transport:?} {era:?} {fault} {tool}: {row:?}"
                );
            }
        }
    }
    let (mut peer, audit) = start(TransportName::Http, Era::Legacy).await;
    let id = peer.call("slow", json!({"milliseconds": 60_000})).await;
    wait_until_read(&mut peer).await;
    peer.notify(method::CANCELLED, json!({"requestId": id})).await;
    assert_eq!(peer.next(id).await, Got::Done, "a stream with nothing in it");
    let row = wait_for(&audit, |row| row.cancelled).await;
    assert_eq!(row.http_status, Some(200), "{row:?}");
}

/// What a fault sends beside a reply counts as what a tool sends.
#[tokio::test]
async fn the_row_of_a_flooded_call_says_what_was_on_the_wire() {
    for (transport, era, status) in [
        (TransportName::Http, Era::Modern, Some(200)),
        (TransportName::Http, Era::Legacy, Some(200)),
        (TransportName::Stdio, Era::Legacy, None),
    ] {
        let audit = memory();
        let flood = "flood:100@method=tools/call".parse().unwrap();
        let mut peer =
            Peer::start(Mock::new().fault(flood).audit(audit.clone()), transport, era).await;
        let id = peer.call("none", json!({})).await;
        let (mut events, mut bytes) = (0, 0);
        loop {
            let frame = peer.frame(id).await;
            bytes += frame.bytes.len() as u64;
            if frame.json()["id"] == id {
                break;
            }
            events += 1;
        }
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        assert!(events > 0, "it is flooded");
        let told = (row.http_status, row.event_count, row.bytes_out);
        assert_eq!(told, (status, events, bytes), "{transport:?} {era:?}: {row:?}");
        assert!(row.events.iter().all(|event| event.method == method::LOG_MESSAGE), "{row:?}");
    }
}

#[tokio::test]
async fn the_same_call_is_an_attempt_more() {
    let (mut peer, audit) = start(TransportName::Http, Era::Legacy).await;
    for arguments in [json!({"n": 1}), json!({"n": 1}), json!({"n": 2}), json!({"n": 1})] {
        let id = peer.call("echo", arguments).await;
        peer.reply(id).await;
    }
    let attempts: Vec<_> =
        rows(&audit).iter().filter(|row| row.tool.is_some()).map(|row| row.attempt).collect();
    assert_eq!(attempts, [1, 2, 1, 3]);
}

#[tokio::test]
async fn every_kind_of_message_leaves_its_row() {
    let (mut peer, audit) = start(TransportName::Http, Era::Legacy).await;
    let stream = peer.listen().await;
    peer.is_alive().await; // A ping and a list.
    assert_eq!(peer.http().visit("POST", "", "no message").await, Some(400));
    assert_eq!(peer.http().visit("PUT", "", "").await, Some(405));
    assert_eq!(peer.http().visit("POST", "Origin: http://evil.example\r\n", "").await, Some(403));
    let asking = peer.call("test_sampling", json!({"prompt": "hello"})).await;
    let question = peer.frame(asking).await.json();
    assert_eq!(question["method"], method::SAMPLING);
    let answer = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}});
    peer.tell(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    assert_eq!(peer.reply(asking).await["result"]["content"][0]["text"], "LLM response: hi");
    let slow = peer.call("slow", json!({"milliseconds": 60_000})).await;
    wait_until_read(&mut peer).await;
    peer.notify(method::CANCELLED, json!({"requestId": slow})).await;
    assert_eq!(peer.http().delete().await, Some(204));
    while peer.next(stream).await != Got::Done {}
    wait_for(&audit, |row| row.kind == Kind::Stream).await;
    wait_for(&audit, |row| row.cancelled).await;
    let kinds: Vec<_> = rows(&audit).iter().map(|row| row.kind).collect();
    assert_eq!(
        kinds,
        [
            Kind::Request, // initialize
            Kind::Notification,
            Kind::Stream,
            Kind::Request, // ping
            Kind::Request, // tools/list
            Kind::Refused,
            Kind::Refused,
            Kind::Refused,
            Kind::Request, // test_sampling
            Kind::Response,
            Kind::Request, // slow
            Kind::Request, // ping, to know that it was read
            Kind::Cancellation,
            Kind::SessionEnd,
        ]
    );
    let all = rows(&audit);
    assert!(Kind::ALL.iter().all(|kind| all.iter().any(|row| row.kind == *kind)));
    assert!(all.windows(2).all(|two| two[0].seq < two[1].seq), "in the order of arrival");
    let refused = all.iter().filter(|row| row.kind == Kind::Refused);
    let statuses: Vec<_> = refused.map(|row| (row.http_status, row.success)).collect();
    assert_eq!(statuses, [(Some(400), false), (Some(405), false), (Some(403), false)]);
}

/// What was sent later has been answered, so what was sent before has been read.
async fn wait_until_read(peer: &mut Peer) {
    assert!(peer.ask(method::PING, json!({})).await["result"].is_object());
}

const CLIENTS: usize = 4;
const CALLS: usize = 500;

#[tokio::test]
async fn there_are_as_many_rows_as_messages() {
    let (first, audit) = start(TransportName::Http, Era::Legacy).await;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let mut peer = first.join().await;
        clients.spawn(async move {
            for call in 0..CALLS {
                let id = peer.call("echo", json!({"client": client, "call": call})).await;
                peer.reply(id).await;
            }
        });
    }
    timeout(4 * LIMIT, clients.join_all()).await.expect("all calls are answered");
    let rows = rows(&audit);
    // The first client has said nothing but hello, as all of them did, in two messages.
    assert_eq!(rows.len(), CLIENTS * (CALLS + 2) + 2);
    let first_seq = rows[0].seq;
    assert!((first_seq..).zip(&rows).all(|(seq, row)| row.seq == seq), "no number is left out");
    let mut calls: HashMap<_, Vec<_>> = HashMap::new();
    for row in rows.iter().filter(|row| row.tool.is_some()) {
        assert!(row.success && row.attempt == 1 && !row.cancelled, "{row:?}");
        calls.entry(row.session.clone().unwrap()).or_default().push(row.arguments.clone().unwrap());
    }
    assert_eq!(calls.len(), CLIENTS);
    for arguments in calls.values() {
        let in_order = (0..CALLS).zip(arguments).all(|(call, text)| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            value["call"] == call
        });
        assert!(in_order && arguments.len() == CALLS);
    }
    assert_eq!(audit.close().unwrap().written as usize, rows.len());
}
