//! The tools that the mock has of its own, as a client calls them.

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::Mock;
use serde_json::json;

use super::peer::Peer;

/// A client whose numbers all have a point gets what it asks for.
#[tokio::test]
async fn whole_numbers_may_have_a_point() {
    let mut peer = Peer::start(Mock::new(), TransportName::Http, Era::Legacy).await;
    let id = peer.call("progress", json!({"steps": 2.0, "step_ms": 1.0})).await;
    assert_eq!(peer.reply(id).await["result"]["structuredContent"]["steps"], 2);
    let id = peer.call("slow", json!({"milliseconds": 40.0})).await;
    let slept = &peer.reply(id).await["result"]["structuredContent"]["slept_ms"];
    assert!(slept.as_u64().unwrap() >= 40, "{slept}");
}
