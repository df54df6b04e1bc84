//! Calls that are withdrawn: in every way that there is, `slow` ends at once and the audit log knows.

use mcp_loadtest_core::{
    config::TransportName::{self, Http, Sse, Stdio, Ws},
    mcp::{
        Era::{self, Legacy, Modern},
        method,
    },
};
use mcp_loadtest_mock::{
    Mock, Served,
    audit::{Audit, Kind, Row},
};
use serde_json::json;
use tokio::time::{Duration, sleep};

use super::{
    peer::{Got, Peer},
    written::{memory, rows, wait_for},
};

/// How a call ends before its time.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// `notifications/cancelled`.
    Notice,
    /// The client closes the connection on which it awaits the reply.
    HangUp,
    /// The client ends its session.
    Delete,
    /// The mock is stopped, which over pipes is the end of its input.
    Stop,
    /// The mock is told to end by a signal.
    Signal,
    /// Another call crashes it.
    Crash,
}

const WAYS: &[(TransportName, Era, Way)] = &[
    (Stdio, Legacy, Way::Notice),
    (Stdio, Modern, Way::Notice),
    (Stdio, Legacy, Way::Stop),
    (Stdio, Modern, Way::Stop),
    (Stdio, Legacy, Way::Signal),
    (Stdio, Legacy, Way::Crash),
    (Stdio, Modern, Way::Crash),
    (Http, Legacy, Way::Crash),
    (Http, Modern, Way::Crash),
    (Sse, Legacy, Way::Crash),
    (Ws, Legacy, Way::Crash),
    (Http, Legacy, Way::Notice),
    (Http, Legacy, Way::Delete),
    (Http, Legacy, Way::Stop),
    (Http, Modern, Way::HangUp),
    (Http, Modern, Way::Stop),
    (Sse, Legacy, Way::Notice),
    (Sse, Legacy, Way::Stop),
    (Ws, Legacy, Way::Notice),
    (Ws, Legacy, Way::Stop),
];

/// As long as `slow` can be.
const SLOW_MS: u64 = 60_000;

async fn start(transport: TransportName, era: Era) -> (Peer, Audit) {
    let audit = memory();
    let mock = Mock::new().fault("crash:42@tool=echo".parse().unwrap()).audit(audit.clone());
    (Peer::start(mock, transport, era).await, audit)
}

async fn check(transport: TransportName, era: Era, way: Way) {
    let (mut peer, audit) = start(transport, era).await;
    let id = peer.call("slow", json!({"milliseconds": SLOW_MS})).await;
    // What was sent later has been read: so has the call.
    peer.is_alive().await;
    match way {
        Way::Notice => {
            peer.notify(method::CANCELLED, json!({"requestId": id})).await;
            wait_for(&audit, |row| row.cancelled).await;
            hears_no_reply(peer, id).await;
        }
        Way::Delete => {
            assert_eq!(peer.http().delete().await, Some(204));
            wait_for(&audit, |row| row.cancelled).await;
            hears_no_reply(peer, id).await;
        }
        Way::HangUp => {
            peer.http().hang_up(id);
            wait_for(&audit, |row| row.cancelled).await;
        }
        Way::Stop => assert_eq!(peer.stop().await, Served::Gone),
        Way::Signal => assert_eq!(peer.interrupt().await, Served::Gone),
        Way::Crash => {
            let last = peer.call("echo", json!({})).await;
            if transport == Http {
                // Nobody hears of a crash but by the end of the connection.
                for id in [id, last] {
                    let got = peer.next(id).await;
                    let is_silent = matches!(&got, Got::Closed { part, .. } if part.is_empty());
                    assert!(is_silent || got == Got::Reset, "{got:?}");
                }
            }
            assert_eq!(peer.served().await, Served::Crashed(42));
            let has_row = |row: &Row| row.tool.as_deref() == Some("echo");
            assert!(rows(&audit).iter().any(has_row), "{transport:?} {era:?}");
        }
    }
    let rows = rows(&audit);
    let row = rows.iter().find(|row| row.tool.as_deref() == Some("slow")).expect("it has a row");
    assert!(row.cancelled && !row.success, "{row:?}");
    assert_eq!(row.error_category.as_deref(), Some("cancelled"), "{row:?}");
    assert!(row.duration_us < SLOW_MS * 1000, "only a part of its time: {row:?}");
    if (transport, way) == (Http, Way::Crash) {
        assert_eq!(row.http_status, None, "nothing was sent: {row:?}");
    }
}

async fn hears_no_reply(mut peer: Peer, id: u64) {
    if peer.transport == Http {
        assert_eq!(peer.next(id).await, Got::Done, "a stream with nothing in it");
    } else {
        // A line shows everything in its order.
        peer.is_alive().await;
    }
}

#[tokio::test]
async fn every_way_to_cancel_ends_the_call_at_once() {
    for (transport, era, way) in WAYS {
        let case = check(*transport, *era, *way);
        assert!(
            tokio::time::timeout(2 * super::support::LIMIT, case).await.is_ok(),
            "{transport:?} {era:?} {way:?}"
        );
    }
}

/// Its client cannot withdraw it, but the end of the mock is the end of it, too.
#[tokio::test]
async fn a_call_that_ignores_its_cancel_is_written_down_at_the_end() {
    for (transport, era) in [
        (Stdio, Legacy),
        (Stdio, Modern),
        (Http, Legacy),
        (Http, Modern),
        (Sse, Legacy),
        (Ws, Legacy),
    ] {
        for is_withdrawn in [false, true] {
            let audit = memory();
            let fault = format!("reply-after-cancel:{SLOW_MS}").parse().unwrap();
            let mock = Mock::new().fault(fault).audit(audit.clone());
            let mut peer = Peer::start(mock, transport, era).await;
            let id = peer.call("echo", json!({})).await;
            peer.is_alive().await;
            if is_withdrawn {
                peer.notify(method::CANCELLED, json!({"requestId": id})).await;
                peer.is_alive().await;
                assert!(!rows(&audit).iter().any(|row| row.tool.is_some()), "it runs on");
            }
            assert_eq!(peer.interrupt().await, Served::Gone);
            let rows = rows(&audit);
            let row = rows.iter().find(|row| row.tool.is_some()).expect("it has a row");
            assert!(row.cancelled && !row.success, "{transport:?} {era:?}: {row:?}");
            assert_eq!(row.error_category.as_deref(), Some("cancelled"), "{row:?}");
        }
    }
}

/// A stream has its row when it ends, and with the mock all of them do.
#[tokio::test]
async fn a_stream_that_is_open_at_the_end_is_written_down() {
    let (mut peer, audit) = start(Http, Legacy).await;
    peer.listen().await;
    peer.is_alive().await;
    assert_eq!(peer.stop().await, Served::Gone);
    assert!(rows(&audit).iter().any(|row| row.kind == Kind::Stream));
}

#[tokio::test(start_paused = true)]
async fn the_log_says_how_long_it_took_until_then() {
    let (mut peer, audit) = start(Http, Legacy).await;
    let id = peer.call("slow", json!({"milliseconds": SLOW_MS})).await;
    sleep(Duration::from_secs(7)).await;
    peer.notify(method::CANCELLED, json!({"requestId": id})).await;
    let row = wait_for(&audit, |row| row.cancelled).await;
    assert_eq!(row.duration_us / 1_000_000, 7, "{row:?}");
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_that_hangs_up_has_not_cancelled() {
    let (mut peer, audit) = start(Http, Legacy).await;
    let id = peer.call("slow", json!({"milliseconds": SLOW_MS})).await;
    sleep(Duration::from_secs(1)).await;
    peer.http().hang_up(id);
    sleep(Duration::from_millis(SLOW_MS)).await;
    let row = wait_for(&audit, |row| row.tool.as_deref() == Some("slow")).await;
    assert!(row.success && !row.cancelled, "{row:?}");
    assert!(row.duration_us >= SLOW_MS * 1000, "{row:?}");
}

#[tokio::test]
async fn nobody_cancels_the_calls_of_others() {
    let (mut peer, audit) = start(Http, Legacy).await;
    let id = peer.call("slow", json!({"milliseconds": SLOW_MS})).await;
    peer.is_alive().await;
    let mut stranger = peer.join().await;
    stranger.notify(method::CANCELLED, json!({"requestId": id})).await;
    let row = wait_for(&audit, |row| row.method.as_deref() == Some(method::CANCELLED)).await;
    assert_eq!(row.note.as_deref(), Some("no such call is running"));
    assert!(!rows(&audit).iter().any(|row| row.cancelled), "it runs on");
}
