//! The official conformance suite: runs it against a URL, and reads what it says of each scenario.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{process::Command, time::timeout};

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// All scenarios of a revision take a few seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// How many scenarios the suite requires: fewer would be a vacuous success.
pub(crate) const REQUIRED: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];

/// What the suite said of each scenario.
pub(crate) struct Summary {
    pub(crate) scenarios: BTreeMap<String, Outcome>,
    /// Those that the revision does not require.
    pub(crate) unscored: BTreeSet<String>,
    pub(crate) said: String,
    /// Whether the suite itself was content.
    pub(crate) is_content: bool,
}

impl Summary {
    /// The scenarios that the revision requires.
    pub(crate) fn scored(&self) -> usize {
        self.scenarios.keys().filter(|name| !self.unscored.contains(*name)).count()
    }

    fn read(said: String, is_content: bool) -> Self {
        let (_, summary) = said.split_once("=== SUMMARY ===").unwrap_or_default();
        let (scenarios, others) = summary.split_once("Not scored for").unwrap_or((summary, ""));
        Self {
            scenarios: scenarios.lines().filter_map(scenario).collect(),
            unscored: others.lines().filter_map(unscored).collect(),
            said,
            is_content,
        }
    }
}

/// What became of a scenario.
pub(crate) struct Outcome {
    is_ticked: bool,
    /// Checks that went well.
    passed: u32,
    /// Checks that did not.
    failed: u32,
}

impl Outcome {
    /// To pass takes a check that was made: the suite also ticks what it found nothing to check in.
    pub(crate) fn is_passed(&self) -> bool {
        self.is_ticked && self.passed > 0 && self.failed == 0
    }
}

/// Reads a line such as `✓ ping: 2 passed, 0 failed`.
fn scenario(line: &str) -> Option<(String, Outcome)> {
    let (sign, rest) = line.split_once(' ').filter(|(sign, _)| matches!(*sign, "✓" | "✗"))?;
    let (name, counts) = rest.split_once(": ")?;
    let mut counts = counts.split(", ").filter_map(|count| count.split(' ').next()?.parse().ok());
    let (passed, failed) = (counts.next()?, counts.next()?);
    Some((name.to_owned(), Outcome { is_ticked: sign == "✓", passed, failed }))
}

/// Reads a line such as `  ✗ tasks-lifecycle (extension)`.
fn unscored(line: &str) -> Option<String> {
    let (sign, rest) = line.trim_start().split_once(' ')?;
    let (name, _) = rest.split_once(" (")?;
    matches!(sign, "✓" | "✗").then(|| name.to_owned())
}

/// Holds what the suite said against a list of expected failures, in both directions. Where a reason
/// begins with `3 checks: `, so many checks fail and all others pass.
pub(crate) fn problems<'a>(
    expected: &BTreeMap<String, String>,
    summaries: impl IntoIterator<Item = (&'a str, &'a Summary)>,
) -> Vec<String> {
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    for (revision, summary) in summaries {
        for (name, outcome) in &summary.scenarios {
            let place = format!("{name} at {revision}");
            match (outcome.is_passed(), expected.get(name)) {
                (true, None) => {}
                (false, None) => problems.push(format!("{place} does not pass")),
                (true, Some(reason)) => {
                    problems.push(format!("{place} passes, although it should not: {reason}"));
                }
                (false, Some(reason)) => {
                    let count = reason.split_once(" checks: ").map(|(count, _)| count);
                    let failed = outcome.failed.to_string();
                    if count.is_some_and(|count| count != failed) {
                        problems.push(format!("{place}: {failed} checks fail: {reason}"));
                    }
                }
            }
            seen.insert(name);
        }
    }
    let unknown = expected.keys().filter(|name| !seen.contains(name));
    problems.extend(unknown.map(|name| format!("there is no scenario `{name}`")));
    problems
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

/// Runs the scenarios of a revision.
pub(crate) async fn run(url: &str, revision: &str) -> Summary {
    let suite = home().await;
    let command = Command::new(suite.join("node_modules/.bin/node"))
        .current_dir(&suite)
        .args([SUITE, "server", "--url", url, "--requirements", revision])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, command).await.expect("the suite ends").expect("node can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Summary::read(said, output.status.success())
}

/// The scenarios that are expected to fail, with the reason of each.
pub(crate) fn expected_failures(file: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(file)).expect("the list is there");
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
