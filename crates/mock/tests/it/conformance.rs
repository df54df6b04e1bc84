//! The server scenarios of the official conformance suite, run against the mock over HTTP.
//!
//! Every scenario that the suite requires of a revision must pass. The others must pass as well,
//! unless `tests/conformance/expected-server-failures.txt` names them: then they must not. To pass
//! takes a check that was made: the suite also says so when it found nothing to check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::Mock;
use serde_json::json;
use tokio::{process::Command, time::timeout};

use super::peer::{Peer, text_of};

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const EXPECTED: &str = "tests/conformance/expected-server-failures.txt";
/// All scenarios of a revision take a few seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// How many scenarios the suite requires: fewer would be a vacuous success.
const REQUIRED: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];

#[tokio::test]
async fn the_mock_passes_what_it_is_expected_to() {
    let suite = home().await;
    let expected = expected_failures();
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    for (revision, required) in REQUIRED {
        let summary = run(&suite, revision).await;
        let is_scored = |name: &&String| !summary.unscored.contains(*name);
        assert_eq!(summary.passed.keys().filter(is_scored).count(), required, "{}", summary.said);
        for (name, passed) in &summary.passed {
            let reason = expected.get(name).filter(|_| summary.unscored.contains(name));
            match (passed, reason) {
                (true, None) | (false, Some(_)) => {}
                (true, Some(reason)) => problems
                    .push(format!("{name} at {revision} passes, although it should not: {reason}")),
                (false, None) => problems.push(format!("{name} at {revision} does not pass")),
            }
        }
        seen.extend(summary.passed.into_keys());
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

/// What the suite said of each scenario.
struct Summary {
    passed: BTreeMap<String, bool>,
    /// Those that the revision does not require.
    unscored: BTreeSet<String>,
    said: String,
}

impl Summary {
    fn read(said: String) -> Self {
        let (_, summary) = said.split_once("=== SUMMARY ===").unwrap_or_default();
        let (scenarios, others) = summary.split_once("Not scored for").unwrap_or((summary, ""));
        Self {
            passed: scenarios.lines().filter_map(scenario).collect(),
            unscored: others.lines().filter_map(unscored).collect(),
            said,
        }
    }
}

/// Reads a line such as `✓ ping: 2 passed, 0 failed`.
fn scenario(line: &str) -> Option<(String, bool)> {
    let (sign, rest) = line.split_once(' ').filter(|(sign, _)| matches!(*sign, "✓" | "✗"))?;
    let (name, counts) = rest.split_once(": ")?;
    Some((name.to_owned(), sign == "✓" && !counts.starts_with("0 passed")))
}

/// Reads a line such as `  ✗ tasks-lifecycle (extension)`.
fn unscored(line: &str) -> Option<String> {
    let (sign, rest) = line.trim_start().split_once(' ')?;
    let (name, _) = rest.split_once(" (")?;
    matches!(sign, "✓" | "✗").then(|| name.to_owned())
}

/// Where the suite is installed. Without it the test fails and says what to run.
async fn home() -> PathBuf {
    let asked = Command::new("python3")
        .arg(root().join("tests/env/testenv.py"))
        .args(["path", "conformance"])
        .output();
    let asked = asked.await.expect("python3 can be run");
    let problem = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "the conformance suite is not there: {problem}");
    String::from_utf8_lossy(&asked.stdout).trim_end().into()
}

async fn run(suite: &Path, revision: &str) -> Summary {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mock = Mock::new().conformance().bind(listen).await.unwrap().spawn();
    let command = Command::new(suite.join("node_modules/.bin/node"))
        .current_dir(suite)
        .args([SUITE, "server", "--url", mock.url(), "--requirements", revision])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, command).await.expect("the suite ends").expect("node can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary = Summary::read(said);
    assert!(output.status.success(), "{revision}: {}", summary.said);
    summary
}

/// The scenarios that are expected to fail, with the reason of each.
fn expected_failures() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(EXPECTED)).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (name, reason) =
            line.split_once(": ").unwrap_or_else(|| panic!("no reason is given: {line}"));
        (name.to_owned(), reason.to_owned())
    };
    lines.map(entry).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
