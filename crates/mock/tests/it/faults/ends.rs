//! The end of a connection, of a session or of the whole process.

use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, method},
};
use mcp_loadtest_mock::Served;
use serde_json::json;

use crate::peer::{Got, Peer};

/// What HTTP+SSE writes before the message.
const EVENT: &[u8] = b"event: message\ndata: ";

pub(super) async fn part(mut peer: Peer, bytes: usize) {
    let id = peer.call("echo", json!({})).await;
    let Got::Closed { part, announced } = peer.next(id).await else { panic!("it goes on") };
    match peer.transport {
        TransportName::Http => {
            assert_eq!(part.len(), bytes);
            assert!(announced.is_some_and(|announced| announced > bytes), "{announced:?}");
        }
        TransportName::Sse => {
            assert_eq!((part.len(), &part[..EVENT.len()]), (EVENT.len() + bytes, EVENT));
        }
        TransportName::Stdio => assert_eq!(part.len(), bytes),
        // A WebSocket shows no half messages.
        TransportName::Ws => {}
    }
    if peer.transport == TransportName::Stdio {
        assert_eq!(peer.served().await, Served::Gone);
    }
}

pub(super) async fn closed(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    assert_eq!(peer.next(id).await, Got::closed());
    match peer.transport {
        TransportName::Stdio => assert_eq!(peer.served().await, Served::Gone),
        TransportName::Http => peer.is_alive().await,
        _ => {}
    }
}

pub(super) async fn reset(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    assert_eq!(peer.next(id).await, Got::Reset);
    if peer.transport == TransportName::Http {
        peer.is_alive().await;
    }
}

pub(super) async fn exit(mut peer: Peer, code: i32) {
    let id = peer.call("echo", json!({})).await;
    let got = peer.next(id).await;
    assert!(matches!(got, Got::Closed { ref part, .. } if part.is_empty()) || got == Got::Reset);
    assert_eq!(peer.served().await, Served::Crashed(code));
}

pub(super) async fn status(mut peer: Peer, status: u16, header: Option<&str>) {
    let id = peer.call("echo", json!({})).await;
    let frame = peer.frame(id).await;
    assert_eq!(frame.status, Some(status), "{frame:?}");
    for name in ["retry-after", "www-authenticate"] {
        assert_eq!(frame.header(name).is_some(), header == Some(name), "{frame:?}");
    }
    // A status that has no body must not be followed by one: it would be read as the next reply.
    assert_eq!(frame.bytes.is_empty(), status == 204, "{frame:?}");
    peer.is_alive().await;
}

pub(super) async fn session_gone(mut peer: Peer) {
    assert_eq!((peer.transport, peer.era), (TransportName::Http, Era::Legacy));
    for _ in 0..2 {
        let id = peer.call("echo", json!({})).await;
        assert_eq!(peer.frame(id).await.status, Some(404));
    }
    let id = peer.send(method::TOOLS_LIST, json!({})).await;
    assert_eq!(peer.frame(id).await.status, Some(404), "the session is gone for everything");
    peer.shake_hands().await;
    peer.echo().await;
}
