//! Another reply than the usual, or the usual one in another way.

use mcp_loadtest_core::{config::TransportName, fault::REORDER_LIMIT, mcp::Era};
use mcp_loadtest_mock::Mock;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::peer::{Got, Peer, text_of};

pub(super) async fn usual(mut peer: Peer) {
    for _ in 0..3 {
        peer.echo().await;
    }
    peer.is_alive().await;
    let id = peer.call("echo", json!({})).await;
    let reply = peer.reply(id).await;
    assert!(schema().is_valid(&reply["result"]), "{reply}");
    if peer.transport == TransportName::Http {
        assert_eq!(peer.next(id).await, Got::Done, "there is one reply");
    }
    peer.stop().await;
}

pub(super) async fn error(mut peer: Peer, code: i64) {
    let id = peer.call("echo", json!({})).await;
    let frame = peer.frame(id).await;
    let reply = frame.json();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(id), &json!(code)));
    assert!(reply["error"]["message"].is_string() && reply.get("result").is_none(), "{reply}");
    assert!(frame.status.is_none_or(|status| status == 200), "{frame:?}");
    peer.is_alive().await;
}

pub(super) async fn tool_error(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let reply = peer.reply(id).await;
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(!text_of(&reply).is_empty() && schema().is_valid(&reply["result"]), "{reply}");
    peer.is_alive().await;
}

pub(super) async fn not_json(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let frame = peer.frame(id).await;
    assert!(!frame.bytes.is_empty() && !frame.is_json(), "{frame:?}");
    peer.is_alive().await;
}

pub(super) async fn line_before(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let noise = peer.frame(id).await;
    assert!(!noise.bytes.is_empty() && !noise.is_json(), "{noise:?}");
    assert_eq!(peer.frame(id).await.json()["id"], id);
    peer.is_alive().await;
}

pub(super) async fn other_id(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let reply = peer.frame(id).await.json();
    assert!(reply["id"].is_u64() && reply["id"] != id, "{reply}");
    assert_eq!(text_of(&reply), "{}");
    peer.is_alive().await;
}

pub(super) async fn twice(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let (first, second) = (peer.frame(id).await.json(), peer.frame(id).await.json());
    assert_eq!((&first["id"], &first), (&json!(id), &second));
    peer.is_alive().await;
}

pub(super) async fn overtaken(mut peer: Peer) {
    let first = peer.call("echo", json!({})).await;
    if peer.transport == TransportName::Http {
        let waiting = timeout(REORDER_LIMIT / 2, peer.next(first)).await;
        assert!(waiting.is_err(), "it waits for another: {waiting:?}");
        peer.echo().await;
        let now = timeout(REORDER_LIMIT / 4, peer.reply(first)).await;
        assert!(now.is_ok(), "another has left");
        return;
    }
    let second = peer.call("echo", json!({})).await;
    for id in [second, first] {
        assert_eq!(peer.frame(id).await.json()["id"], id);
    }
}

/// Neither what nobody asked for nor a status that accepts a message is a reply.
#[tokio::test]
async fn only_a_reply_lets_another_pass() {
    use TransportName::{Http, Sse, Stdio, Ws};
    for transport in [Stdio, Http, Sse, Ws] {
        for flood in ["none", "flood:50"] {
            let faults = ["reorder@nth=1", flood].map(|fault| fault.parse().unwrap());
            let mock = faults.into_iter().fold(Mock::new(), Mock::fault);
            let mut peer = Peer::start(mock, transport, Era::Legacy).await;
            let begun = Instant::now();
            let id = peer.call("echo", json!({})).await;
            for _ in 0..3 {
                peer.notify("notifications/roots/list_changed", json!({})).await;
            }
            peer.reply(id).await;
            assert!(begun.elapsed() >= REORDER_LIMIT, "{transport:?} {flood}");
        }
    }
}

/// Over Streamable HTTP its connection may end without a word.
#[tokio::test]
async fn a_call_that_is_cut_off_lets_no_reply_pass() {
    let faults = ["reorder@tool=echo", "disconnect@tool=chatty"];
    let faults = faults.map(|fault| fault.parse().unwrap());
    let mock = faults.into_iter().fold(Mock::new(), Mock::fault);
    let mut peer = Peer::start(mock, TransportName::Http, Era::Legacy).await;
    let begun = Instant::now();
    let id = peer.call("echo", json!({})).await;
    let cut = peer.call("chatty", json!({})).await;
    assert_eq!(peer.next(cut).await, Got::closed());
    peer.reply(id).await;
    assert!(begun.elapsed() >= REORDER_LIMIT);
}

pub(super) async fn long_text(mut peer: Peer, bytes: usize) {
    let id = peer.call("echo", json!({})).await;
    let reply = peer.reply(id).await;
    assert!(text_of(&reply).len() >= bytes && schema().is_valid(&reply["result"]));
    peer.is_alive().await;
}

pub(super) async fn bad_result(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    let reply = peer.reply(id).await;
    assert!(!schema().is_valid(&reply["result"]), "{reply}");
    assert!(reply["jsonrpc"] == "2.0" && reply.get("error").is_none(), "{reply}");
    peer.is_alive().await;
}

pub(super) async fn pieces(mut peer: Peer) {
    let id = peer.call("echo", json!({"message": "drop by drop"})).await;
    let frame = peer.frame(id).await;
    assert_eq!(text_of(&frame.json()), r#"{"message":"drop by drop"}"#);
    // A WebSocket puts its fragments together before we see them.
    assert!(frame.pieces > 3 || peer.transport == TransportName::Ws, "{frame:?}");
    peer.is_alive().await;
}

/// What both eras say about the result of a call, as far as it matters here.
fn schema() -> jsonschema::Validator {
    let schema = json!({
        "type": "object",
        "required": ["content"],
        "properties": {
            "content": {
                "type": "array",
                "items": { "type": "object", "required": ["type"] },
            },
            "isError": { "type": "boolean" },
            "structuredContent": { "type": "object" },
            "resultType": { "type": "string" },
            "_meta": { "type": "object" },
        },
    });
    jsonschema::validator_for(&schema).unwrap()
}
