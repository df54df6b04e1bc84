//! Replies that are to be overtaken.

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::{Mock, audit::Audit};
use serde_json::json;

use super::start;
use crate::peer::Peer;

/// The one that waits must not hold up those that it waits for: they share a stream.
#[tokio::test(start_paused = true)]
async fn a_reply_on_a_shared_stream_waits_until_another_has_left() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = Mock::new().bind_as(TransportName::Sse, listen).await.unwrap().spawn();
    let transport = TransportName::Sse;
    let proxy = start(server.url(), transport, "reorder@nth=1", Audit::default()).await;
    let mut peer = Peer::visit(transport, Era::Legacy, proxy).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(peer.call("echo", json!({})).await);
    }
    let mut came = Vec::new();
    for _ in 0..3 {
        came.push(peer.frame(0).await.json()["id"].as_u64().unwrap());
    }
    assert_ne!(came[0], asked[0], "it is overtaken: {came:?}");
    came.sort_unstable();
    assert_eq!(came, asked, "each is answered once");
}
