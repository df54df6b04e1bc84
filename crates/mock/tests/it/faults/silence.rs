//! No reply, or one that takes its time.

use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, method},
};
use serde_json::json;
use tokio::time::{Duration, Instant};

use super::start;
use crate::peer::{Peer, text_of};

/// More than enough to meet while the first of them loads.
const TOGETHER: usize = 8;

pub(super) async fn of_calls(mut peer: Peer) {
    let id = peer.call("echo", json!({})).await;
    peer.is_alive().await;
    peer.hears_nothing_of(&[id]).await;
}

pub(super) async fn of_first(mut peer: Peer, calls: usize) {
    let mut silent = Vec::new();
    for _ in 0..calls {
        silent.push(peer.call("echo", json!({})).await);
    }
    peer.echo().await;
    peer.is_alive().await;
    peer.hears_nothing_of(&silent).await;
}

pub(super) async fn deadlock(mut peer: Peer, fault: &str) {
    let (transport, era) = (peer.transport, peer.era);
    peer.echo().await;
    for id in together(&mut peer).await {
        assert_eq!(text_of(&peer.reply(id).await), "{}", "it is loaded");
    }
    let mut peer = start(fault, transport, era).await;
    let together = together(&mut peer).await;
    peer.is_alive().await;
    peer.hears_nothing_of(&together).await;
}

/// Whoever withdraws the call that loads leaves the loading to the next.
#[tokio::test]
async fn a_loading_call_that_is_withdrawn_locks_nobody_out() {
    for transport in [TransportName::Stdio, TransportName::Http, TransportName::Ws] {
        let mut peer = start("lazy-init-deadlock", transport, Era::Legacy).await;
        let id = peer.call("echo", json!({})).await;
        peer.is_alive().await;
        peer.notify(method::CANCELLED, json!({"requestId": id})).await;
        peer.is_alive().await;
        peer.echo().await;
    }
}

async fn together(peer: &mut Peer) -> Vec<u64> {
    let mut ids = Vec::new();
    for _ in 0..TOGETHER {
        ids.push(peer.call("echo", json!({})).await);
    }
    ids
}

pub(super) async fn delay(mut peer: Peer, ms: u64) {
    let begun = Instant::now();
    peer.echo().await;
    assert!(begun.elapsed() >= Duration::from_millis(ms), "{:?}", begun.elapsed());
    peer.is_alive().await;
}

pub(super) async fn reply_after_cancel(mut peer: Peer, ms: u64) {
    let begun = Instant::now();
    let id = peer.call("echo", json!({"message": "late"})).await;
    // In the modern era a client cancels over HTTP by hanging up, and then sees no reply.
    if (peer.transport, peer.era) != (TransportName::Http, Era::Modern) {
        peer.notify(method::CANCELLED, json!({"requestId": id})).await;
    }
    assert_eq!(text_of(&peer.reply(id).await), r#"{"message":"late"}"#);
    assert!(begun.elapsed() >= Duration::from_millis(ms), "{:?}", begun.elapsed());
}
