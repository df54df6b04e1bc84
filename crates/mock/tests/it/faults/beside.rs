//! More than the reply.

use std::collections::HashSet;

use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, method},
};
use mcp_loadtest_mock::Mock;
use serde_json::json;

use crate::peer::Peer;

/// How many are read of what never ends.
const ENOUGH: usize = 100;

pub(super) async fn list_changed(mut peer: Peer) {
    let news = peer.listen().await;
    let id = peer.call("echo", json!({})).await;
    // Whoever hears both over one line may hear them in either order.
    let shares_line = peer.shares_line();
    let (mut was_told, mut was_answered) = (false, false);
    while !(was_told && was_answered) {
        let from = if was_told && !shares_line { id } else { news };
        let message = peer.frame(from).await.json();
        was_told |= message["method"] == method::TOOLS_CHANGED;
        was_answered |= message["id"] == id;
    }
}

pub(super) async fn endless_pages(mut peer: Peer) {
    let mut cursors = HashSet::new();
    let mut params = json!({});
    for _ in 0..ENOUGH {
        let page = peer.ask(method::TOOLS_LIST, params).await;
        assert!(page["result"]["tools"].is_array(), "{page}");
        let cursor = page["result"]["nextCursor"].as_str().expect("there is one more").to_owned();
        params = json!({ "cursor": cursor });
        assert!(cursors.insert(cursor), "it is always another");
    }
    peer.echo().await;
}

/// A handshake that takes its time opens the stream as well as one that is answered at once.
#[tokio::test]
async fn a_flood_begins_after_a_slow_handshake_as_well() {
    for transport in [TransportName::Stdio, TransportName::Sse, TransportName::Ws] {
        let slow = "slow:20@method=*".parse().unwrap();
        let mock = Mock::new().fault("flood".parse().unwrap()).fault(slow);
        flood(Peer::start(mock, transport, Era::Legacy).await).await;
    }
}

pub(super) async fn flood(mut peer: Peer) {
    let news = peer.listen().await;
    let mut drops = 0;
    while drops < ENOUGH {
        let message = peer.frame(news).await.json();
        drops += usize::from(message["method"] == method::LOG_MESSAGE);
    }
    peer.echo().await;
}
