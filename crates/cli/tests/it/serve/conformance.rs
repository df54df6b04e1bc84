//! The server scenarios of the official conformance suite, run against `serve --mcp` over HTTP.
//!
//! Most scenarios call tools, resources and prompts that the suite's own test server has, and ours has
//! not. These stand in `tests/conformance/expected-serve-failures.txt` with their reasons, and must
//! not pass: whatever is left must. Where a reason begins with `3 checks:`, all other checks of the
//! scenario must pass.

use std::collections::BTreeSet;

use super::workplace;
use crate::{
    conformance_suite::{REQUIRED, expected_failures, run},
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
    let expected = expected_failures(EXPECTED);
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    for (revision, required) in REQUIRED {
        let summary = run(&server.url, revision).await;
        assert_eq!(summary.scored(), required, "{}", summary.said);
        assert!(!summary.is_content, "what is expected to fail is required");
        for (name, outcome) in &summary.scenarios {
            match (outcome.is_passed(), expected.get(name)) {
                (true, None) => {}
                (false, Some(reason)) => {
                    let count = reason.split_once(" checks: ").map(|(count, _)| count);
                    let failed = outcome.failed.to_string();
                    if count.is_some_and(|count| count != failed) {
                        problems.push(format!("{name} at {revision} fails in {failed}: {reason}"));
                    }
                }
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
    server.stop();
}
