//! The client scenarios of the official conformance suite, run against `examples/conformance_client.rs`.
//!
//! Every scenario that the suite lists is run at every revision that it is for. It must pass, unless
//! `tests/conformance/expected-failures.txt` names it: then it must not. A scenario passes when the
//! suite says so (to which a warning is a failure) and when at least one check was made: it also says
//! so when it found nothing to check. What an expected failure lacks does not depend on the revision,
//! so those are run once.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    rc::Rc,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    process::Command,
    sync::Semaphore,
    task::{JoinSet, LocalSet},
    time::timeout,
};

const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// What the suite gives our client; scenarios take about a second.
const CLIENT_LIMIT: Duration = Duration::from_secs(30);
/// What we give the suite.
const LIMIT: Duration = Duration::from_secs(60);
/// The check that the suite adds to all scenarios: alone it does not show that ours did anything.
const ADDED_CHECK: &str = "wire-schema-valid";

#[tokio::test]
async fn the_client_passes_what_it_is_expected_to() {
    let suite = Rc::new(Suite::find().await);
    let expected = expected_failures();
    let runs = runs(&suite.scenarios().await, &expected);
    let unknown = expected.keys().filter(|name| !runs.iter().any(|run| run.scenario == **name));
    let mut problems: Vec<_> = unknown
        .map(|name| format!("{name}: expected to fail, but there is no such scenario"))
        .collect();

    let results = LocalSet::new().run_until(run_all(&suite, runs)).await;
    for (run, result) in &results {
        match (result.passed(), expected.get(&run.scenario)) {
            _ if result.checks.is_empty() => {
                problems.push(format!("{run}: the suite did not run it\n{}", result.said))
            }
            (true, None) | (false, Some(_)) => {}
            (true, Some(reason)) => {
                problems.push(format!("{run}: passes although it was expected to fail ({reason})"))
            }
            (false, None) => problems.push(format!("{run}: {}", result.complaints())),
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems in {} runs:\n{}",
        problems.len(),
        results.len(),
        problems.join("\n")
    );
}

/// One scenario at one revision; extensions are run at the suite's choice.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    scenario: String,
    revision: Option<String>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scenario)?;
        self.revision.as_ref().map_or(Ok(()), |revision| write!(f, " at {revision}"))
    }
}

/// A check of the suite.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    description: String,
    error_message: Option<String>,
}

/// What became of a run.
struct RunResult {
    suite_passed: bool,
    checks: Vec<Check>,
    /// What the suite said, for when the checks do not tell.
    said: String,
}

impl RunResult {
    fn count(&self, status: &str) -> usize {
        self.checks.iter().filter(|check| check.status == status).count()
    }

    fn passed(&self) -> bool {
        let made =
            self.checks.iter().any(|check| check.status == "SUCCESS" && check.id != ADDED_CHECK);
        self.suite_passed && made
    }

    fn complaints(&self) -> String {
        let bad = self
            .checks
            .iter()
            .filter(|check| matches!(check.status.as_str(), "FAILURE" | "WARNING"));
        let told: Vec<_> = bad
            .map(|check| {
                let why = check.error_message.as_ref().unwrap_or(&check.description);
                format!("\n    {} {}: {why}", check.status, check.id)
            })
            .collect();
        if told.is_empty() { format!("no check was made\n{}", self.said) } else { told.concat() }
    }
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed() { "passed" } else { "not passed" };
        write!(
            f,
            "{word}, {} good, {} warned, {} failed",
            self.count("SUCCESS"),
            self.count("WARNING"),
            self.count("FAILURE")
        )
    }
}

/// Every run that is to be made.
fn runs(scenarios: &[(String, Vec<String>)], expected: &BTreeMap<String, String>) -> Vec<Run> {
    let mut runs = Vec::new();
    for (scenario, revisions) in scenarios {
        let skipped =
            if expected.contains_key(scenario) { revisions.len().saturating_sub(1) } else { 0 };
        let dated = revisions.iter().skip(skipped).map(|revision| Some(revision.clone()));
        let undated = revisions.is_empty().then_some(None);
        runs.extend(
            dated.chain(undated).map(|revision| Run { scenario: scenario.clone(), revision }),
        );
    }
    runs
}

/// Makes the runs, a few at a time, and prints a line for each.
#[expect(
    clippy::print_stdout,
    reason = "it tells what was run, for whoever runs it with `--nocapture`"
)]
async fn run_all(suite: &Rc<Suite>, runs: Vec<Run>) -> Vec<(Run, RunResult)> {
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let places = Rc::new(Semaphore::new(at_once));
    let mut running = JoinSet::new();
    for run in runs {
        let (suite, places) = (suite.clone(), places.clone());
        running.spawn_local(async move {
            let _place = places.acquire().await;
            let result = suite.run(&run).await;
            println!("{run}: {result}");
            (run, result)
        });
    }
    running.join_all().await
}

/// The installed suite and the client that it is to run.
struct Suite {
    home: PathBuf,
    client: PathBuf,
}

impl Suite {
    async fn find() -> Self {
        let asked = Command::new("python3")
            .arg(root().join("tests/env/testenv.py"))
            .args(["path", "conformance"])
            .output();
        let asked = asked.await.expect("python3 can be run");
        let (said, error) =
            (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
        assert!(asked.status.success(), "the conformance suite is not there: {error}");
        Self { home: said.trim_end().into(), client: client() }
    }

    async fn node(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.home.join("node_modules/.bin/node"));
        command
            .current_dir(&self.home)
            .arg(SUITE)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = timeout(LIMIT, command.output()).await;
        ended
            .unwrap_or_else(|_| panic!("the suite did not end within {LIMIT:?}: {arguments:?}"))
            .expect("node can be run")
    }

    /// The client scenarios and the revisions that each is for, oldest first.
    async fn scenarios(&self) -> Vec<(String, Vec<String>)> {
        let listed = self.node(&["list", "--client"]).await;
        let listed = String::from_utf8(listed.stdout).expect("the list is text");
        let scenarios: Vec<_> = listed.lines().filter_map(scenario).collect();
        assert!(!scenarios.is_empty(), "the suite lists no client scenarios: {listed}");
        scenarios
    }

    async fn run(&self, run: &Run) -> RunResult {
        let results = tempfile::tempdir().expect("a temporary folder");
        let client = self.client.to_str().expect("the path is text");
        let limit = CLIENT_LIMIT.as_millis().to_string();
        let mut arguments =
            vec!["client", "--command", client, "--scenario", &run.scenario, "--timeout", &limit];
        if let Some(revision) = &run.revision {
            arguments.extend(["--spec-version", revision]);
        }
        let folder = results.path().to_str().expect("the path is text");
        arguments.extend(["--output-dir", folder]);
        let output = self.node(&arguments).await;
        RunResult {
            suite_passed: output.status.success(),
            checks: checks(results.path()),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Reads a line of the list such as `  - tools_call [2025-11-25,2026-07-28]`.
fn scenario(line: &str) -> Option<(String, Vec<String>)> {
    let (name, revisions) = line.trim_start().strip_prefix("- ")?.split_once(" [")?;
    let revisions = revisions.strip_suffix(']')?.split(',').filter(|word| *word != "extension");
    Some((name.to_owned(), revisions.map(str::to_owned).collect()))
}

/// The checks that the suite wrote, somewhere in this folder; none if it came to nothing.
fn checks(folder: &Path) -> Vec<Check> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let found = checks(&path);
            if !found.is_empty() {
                return found;
            }
        } else if path.ends_with("checks.json") {
            let text = fs::read(&path).expect("the checks can be read");
            return serde_json::from_slice(&text).expect("the checks are what they were");
        }
    }
    Vec::new()
}

/// The example as `cargo test` has built it.
fn client() -> PathBuf {
    let this_test = std::env::current_exe().expect("this test has a path");
    let built = this_test
        .ancestors()
        .nth(2)
        .expect("a test lies in `deps`")
        .join("examples/conformance_client");
    let hint = "run `cargo build -p mcp-loadtest-wire --example conformance_client`";
    let age = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
    let made = age(&built).unwrap_or_else(|error| panic!("{}: {error}; {hint}", built.display()));
    // `cargo test --test it` builds no examples: the old one would be tested in place of the new.
    let sources = fs::read_to_string(built.with_extension("d"))
        .expect("cargo says what the example was made of");
    let newer = sources
        .split_whitespace()
        .skip(1)
        .find(|source| age(Path::new(source)).is_ok_and(|at| at > made));
    assert_eq!(newer, None, "{} is out of date; {hint}", built.display());
    built
}

/// The scenarios that are expected to fail, with the reason of each.
fn expected_failures() -> BTreeMap<String, String> {
    let path = root().join("tests/conformance/expected-failures.txt");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries = lines.map(|line| {
        let (name, reason) =
            line.split_once(": ").unwrap_or_else(|| panic!("no reason is given: {line}"));
        (name.to_owned(), reason.to_owned())
    });
    entries.collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
