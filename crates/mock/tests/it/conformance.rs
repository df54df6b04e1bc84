//! The server scenarios of the official conformance suite, run against the mock over HTTP.
//!
//! Every scenario that the suite requires of a revision must pass. The others must pass as well,
//! unless `tests/conformance/expected-server-failures.txt` names them: then they must not. To pass
//! takes a check that was made: the suite also says so when it found nothing to check.

use std::collections::BTreeSet;

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::Mock;
use serde_json::json;

use super::{
    peer::{Peer, text_of},
    suite::{REQUIRED, Summary, expected_failures},
};

const EXPECTED: &str = "tests/conformance/expected-server-failures.txt";
#[tokio::test]
async fn the_mock_passes_what_it_is_expected_to() {
    let expected = expected_failures(EXPECTED);
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    for (revision, required) in REQUIRED {
        let summary = run(revision).await;
        assert_eq!(summary.scored(), required, "{}", summary.said);
        for (name, outcome) in &summary.scenarios {
            let reason = expected.get(name).filter(|_| summary.unscored.contains(name));
            match (outcome.is_passed(), reason) {
                (true, None) | (false, Some(_)) => {}
                (true, Some(reason)) => problems
                    .push(format!("{name} at {revision} passes, although it should not: {reason}")),
                (false, None) => problems.push(format!("{name} at {revision} does not pass")),
            }
        }
        seen.extend(summary.scenarios.into_keys());
    }
    let unknown = expected.keys().filter(|name| !seen.contains(*name));
    problems.extend(unknown.map(|name| format!("there is no scenario `{name}`")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Two checks of the suite also pass when the tool is not there.
#[tokio::test]
async fn the_texts_are_those_of_the_suite() {
    for era in [Era::Legacy, Era::Modern] {
        let mut peer = Peer::start(Mock::new().conformance(), TransportName::Http, era).await;
        for (tool, text, is_error) in [
            ("test_simple_text", "This is a simple text response for testing.", false),
            ("test_error_handling", "This tool intentionally returns an error for testing", true),
        ] {
            let id = peer.call(tool, json!({})).await;
            let reply = peer.reply(id).await;
            assert_eq!((text_of(&reply), &reply["result"]["isError"]), (text, &json!(is_error)));
        }
    }
}

async fn run(revision: &str) -> Summary {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mock = Mock::new().conformance().bind(listen).await.unwrap().spawn();
    let summary = super::suite::run(mock.url(), revision).await;
    assert!(summary.is_content, "{revision}: {}", summary.said);
    summary
}
