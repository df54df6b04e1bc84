//! Which calls are touched, from the text of the fault to the bytes of the reply.

use mcp_loadtest_core::{config::TransportName, mcp::Era, seed::Seed};
use mcp_loadtest_mock::Mock;
use serde_json::json;
use tokio::time::{Duration, sleep};

use super::{parse, start};
use crate::peer::Peer;

const CALLS: usize = 12;

/// Whether a call of this tool ends in a tool error.
async fn fails(peer: &mut Peer, tool: &str) -> bool {
    let id = peer.call(tool, json!({})).await;
    peer.reply(id).await["result"]["isError"] == true
}

/// The numbers of the calls that fail, from 1.
async fn failing(peer: &mut Peer, calls: usize) -> Vec<usize> {
    let mut failed = Vec::new();
    for number in 1..=calls {
        if fails(peer, "echo").await {
            failed.push(number);
        }
    }
    failed
}

#[tokio::test]
async fn numbers_choose_the_same_calls_everywhere() {
    let first = [1, 2, 3];
    for (selector, expected) in [
        ("nth=3", &[3][..]),
        ("every=4", &[4, 8, 12]),
        ("first=3", &first),
        ("every=2,first=5", &[2, 4]),
        ("probability=0", &[]),
        ("probability=1,first=3", &first),
        ("tool=echo,nth=2", &[2]),
        ("tool=chatty", &[]),
        ("method=tools/list", &[]),
    ] {
        for transport in TransportName::ALL {
            let mut peer = start(&format!("tool-error@{selector}"), transport, Era::Legacy).await;
            assert_eq!(failing(&mut peer, CALLS).await, expected, "{selector} over {transport:?}");
        }
    }
}

#[tokio::test]
async fn a_tool_is_chosen_by_its_name_and_counted_alone() {
    let mut peer = start("tool-error@tool=chatty,nth=2", TransportName::Stdio, Era::Modern).await;
    let mut seen = Vec::new();
    for tool in ["chatty", "echo", "echo", "chatty", "chatty"] {
        seen.push(fails(&mut peer, tool).await);
    }
    assert_eq!(seen, [false, false, false, true, false]);
}

async fn chances(fault: &str, seed: u64, transport: TransportName, era: Era) -> Vec<usize> {
    let mock = Mock::new().fault(parse(fault)).seed(Seed(seed));
    failing(&mut Peer::start(mock, transport, era).await, 60).await
}

#[tokio::test]
async fn the_same_seed_makes_the_same_calls_fail() {
    for fault in ["flaky:0.3", "tool-error@probability=0.3"] {
        let once = chances(fault, 7, TransportName::Stdio, Era::Legacy).await;
        assert!((5..35).contains(&once.len()), "{once:?}");
        for (transport, era) in
            [(TransportName::Stdio, Era::Legacy), (TransportName::Http, Era::Modern)]
        {
            assert_eq!(chances(fault, 7, transport, era).await, once, "{fault}");
        }
        let other = chances(fault, 8, TransportName::Stdio, Era::Legacy).await;
        assert_ne!(other, once, "{fault}");
    }
    let own = "flaky:0.3@seed=7";
    let (one, two) = (
        chances(own, 1, TransportName::Stdio, Era::Legacy).await,
        chances(own, 2, TransportName::Stdio, Era::Legacy).await,
    );
    assert_eq!(one, two, "a fault's own seed wins");
}

/// The clock stands still but for the time that everybody waits.
#[tokio::test(start_paused = true)]
async fn a_window_opens_and_closes() {
    let fault = "tool-error@after=5s,until=10s";
    let mut peer = start(fault, TransportName::Http, Era::Legacy).await;
    for (wait, expected) in [(4, false), (2, true), (3, true), (2, false), (600, false)] {
        sleep(Duration::from_secs(wait)).await;
        assert_eq!(fails(&mut peer, "echo").await, expected);
    }
}

#[tokio::test]
async fn a_session_is_chosen_by_its_name() {
    let fault = "tool-error@session=stdio";
    assert!(fails(&mut start(fault, TransportName::Stdio, Era::Legacy).await, "echo").await);
    assert!(!fails(&mut start(fault, TransportName::Http, Era::Legacy).await, "echo").await);
}

#[tokio::test]
async fn faults_are_added_up() {
    let mock = Mock::new().fault(parse("tool-error@nth=2")).fault(parse("error:-32050@nth=3"));
    let mut peer = Peer::start(mock, TransportName::Http, Era::Modern).await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        let id = peer.call("echo", json!({})).await;
        let reply = peer.reply(id).await;
        seen.push((reply["result"]["isError"] == true, reply["error"]["code"].as_i64()));
    }
    assert_eq!(seen, [(false, None), (true, None), (false, Some(-32050)), (false, None)]);
}
