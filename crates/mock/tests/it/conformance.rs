//! The server scenarios of the official conformance suite, run against the mock over HTTP.
//!
//! Every scenario that the suite requires of a revision must pass. The others must pass as well,
//! unless `tests/conformance/expected-server-failures.txt` names them: then they must not. To pass
//! takes a check that was made: the suite also says so when it found nothing to check.

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::Mock;
use serde_json::json;

use super::{
    peer::{Peer, text_of},
    suite::{REQUIRED, Summary, expected_failures, problems},
};

const EXPECTED: &str = "tests/conformance/expected-server-failures.txt";

#[tokio::test]
async fn the_mock_passes_what_it_is_expected_to() {
    let mut summaries = Vec::new();
    for (revision, required) in REQUIRED {
        let summary = run(revision).await;
        assert_eq!(summary.scored(), required, "{}", summary.said);
        // All that the revision requires passes: what is expected to fail is not required.
        assert!(summary.is_content, "{revision}: {}", summary.said);
        summaries.push((revision, summary));
    }
    let summaries = summaries.iter().map(|(revision, summary)| (*revision, summary));
    let problems = problems(&expected_failures(EXPECTED), summaries);
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
    super::suite::run(mock.url(), revision).await
}
