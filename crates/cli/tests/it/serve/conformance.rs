//! The server scenarios of the official conformance suite, run against `serve --mcp` over HTTP.
//!
//! Most scenarios call tools, resources and prompts that the suite's own test server has, and ours has
//! not. These stand in `tests/conformance/expected-serve-failures.txt` with their reasons, and must
//! not pass: whatever is left must.

use super::workplace;
use crate::{
    conformance_suite::{REQUIRED, expected_failures, problems, run},
    process::Listening,
};

const EXPECTED: &str = "tests/conformance/expected-serve-failures.txt";

#[tokio::test]
async fn what_needs_no_fixture_passes() {
    let dir = workplace();
    let config = dir.path().join(".mcp.json");
    let server = Listening::start(&[
        "serve",
        "--mcp",
        "--listen",
        "127.0.0.1:0",
        "--mcp-config",
        config.to_str().unwrap(),
    ]);
    let mut summaries = Vec::new();
    for (revision, required) in REQUIRED {
        let summary = run(&server.url, revision).await;
        assert_eq!(summary.scored(), required, "{}", summary.said);
        assert!(!summary.is_content, "some of what is expected to fail is required");
        summaries.push((revision, summary));
    }
    let summaries = summaries.iter().map(|(revision, summary)| (*revision, summary));
    let problems = problems(&expected_failures(EXPECTED), summaries);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    server.stop();
}
