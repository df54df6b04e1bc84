//! What a run leaves behind, and what can be read from it again.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_loadtest::{Report, Run, SavedError, SavedRun, Scenario, Server, Trace, Verdict};
use mcp_loadtest_core::{config, report, trace};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixtures::{http_mock, inline_mock, mock, verdict};

/// All files of a run directory.
const FILES: [&str; 8] = [
    "config.toml",
    "metrics.json",
    "report.html",
    "report.md",
    "server.stderr.log",
    "server.stdout.log",
    "summary.json",
    "trace.jsonl",
];

/// A run that has ended, and its directory.
struct Kept {
    report: Report,
    dir: PathBuf,
    _parent: TempDir,
}

impl Kept {
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn lines(&self) -> Vec<Value> {
        let text = self.text("trace.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }

    fn saved(&self) -> SavedRun {
        SavedRun::open(&self.dir).expect("a run directory")
    }
}

async fn keep(run: Run) -> Kept {
    let parent = TempDir::new().expect("a directory");
    let report = run.with_output_dir(parent.path()).execute().await.expect("it runs");
    let dir = only_entry(parent.path());
    Kept { report, dir, _parent: parent }
}

fn only_entry(parent: &Path) -> PathBuf {
    let entries: Vec<_> =
        fs::read_dir(parent).expect("the parent").flatten().map(|entry| entry.path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

fn load(concurrent: u32) -> Scenario {
    Scenario::sustained()
        .concurrent(concurrent)
        .duration(Duration::from_millis(700))
        .tool("echo")
        .build()
}

/// Waits as short as a mock that never answers allows.
fn probe() -> Scenario {
    let probe = Scenario::deadlock_probe().concurrent(4).tool("echo");
    probe
        .hang_threshold(Duration::from_millis(300))
        .grace_period(Duration::from_millis(700))
        .build()
}

fn validate(schema: &Value, document: &Value, what: &str) {
    let validator = jsonschema::validator_for(schema).expect("our schemas are schemas");
    let errors: Vec<_> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what} is not what its schema says: {errors:#?}\n{document:#}");
}

fn validate_all(kept: &Kept) {
    let mut names: Vec<_> = fs::read_dir(&kept.dir)
        .expect("the directory")
        .flatten()
        .map(|file| file.file_name())
        .collect();
    names.sort();
    assert_eq!(names, FILES);
    validate(&report::json::schema(), &kept.json("metrics.json"), "metrics.json");
    validate(&report::summary::schema(), &kept.json("summary.json"), "summary.json");
    let written: toml::Value = toml::from_str(&kept.text("config.toml")).expect("TOML");
    validate(
        &config::schema(),
        &serde_json::to_value(written).expect("TOML is JSON"),
        "config.toml",
    );
    let schema = trace::schema::schema();
    let validator = jsonschema::validator_for(&schema).expect("our schema is a schema");
    for (number, line) in kept.lines().iter().enumerate() {
        assert!(
            validator.is_valid(line),
            "line {}: {:?}\n{line}",
            number + 1,
            validator.validate(line).err()
        );
    }
}

fn kinds(kept: &Kept) -> std::collections::BTreeSet<String> {
    kept.lines().iter().map(|line| line["kind"].as_str().expect("a kind").to_owned()).collect()
}

#[tokio::test]
async fn every_file_is_there_and_is_what_its_schema_says() {
    let load =
        Scenario::sustained().concurrent(2).duration(Duration::from_millis(200)).tool("echo");
    let normal = keep(Run::new(mock("mock-normal").env("API_KEY", "a secret"), load)).await;
    let silent = keep(Run::new(mock("mock-broken"), probe())).await;
    let starts =
        keep(Run::new(mock("mock-noise"), Scenario::cold_start().iterations(2).tool("echo"))).await;
    for kept in [&normal, &silent, &starts] {
        validate_all(kept);
    }
    assert_eq!(
        kinds(&normal),
        ["generator_sample", "process_sample", "request", "response", "scenario_event"]
            .map(String::from)
            .into()
    );
    assert!(
        kinds(&silent).is_superset(&["hang", "deadlock", "error"].map(String::from).into()),
        "{:?}",
        kinds(&silent)
    );
    assert!(
        normal.text("report.md").contains("PASS")
            && silent.text("report.md").contains("DEADLOCK DETECTED")
    );
    assert!(starts.text("server.stdout.log").contains("INFO handling tools/call"));
    for name in FILES {
        assert!(!normal.text(name).contains("a secret"), "{name} tells a secret");
    }
}

#[tokio::test]
async fn a_crash_leaves_its_last_words_in_the_log() {
    let server = mock("mock-crash").env("MOCK_CRASH_RATE", "1");
    let kept = keep(Run::new(server, probe())).await;
    assert!(kept.text("server.stderr.log").contains("mock-crash: simulated crash"));
}

/// Two reports are the same; if not, only what differs is shown.
fn assert_same(one: &Report, other: &Report, what: &str) {
    let fields = |report: &Report| serde_json::to_value(report).expect("a report can be written");
    let (left, right) = (fields(one), fields(other));
    let members = left
        .as_object()
        .expect("an object")
        .iter()
        .filter(|(name, value)| right[name.as_str()] != **value);
    let differences: Vec<_> = members
        .map(|(name, value)| format!("{name}: {value} / {}", right[name.as_str()]))
        .collect();
    assert!(differences.is_empty(), "{what} differ in {differences:#?}");
    assert!(one == other, "{what} differ in what is not written");
}

/// What the trace tells again must be what the run told, to the last figure.
pub(crate) async fn assert_agrees(name: &str, run: Run) {
    let kept = keep(run.with_trace(Trace::Full)).await;
    let saved = kept.saved();
    assert!(saved.is_complete());
    let read = saved.report().expect("the report");
    assert_same(&read, &kept.report, &format!("{name}: metrics.json and the run"));
    let told = saved.report_from_trace().expect("the trace");
    assert_same(&told, &kept.report, &format!("{name}: trace.jsonl and the run"));
    assert_eq!(kept.report.trace_events, kept.lines().len() as u64, "{name}");
}

#[tokio::test]
async fn a_single_session_is_told_again_from_its_trace() {
    assert_agrees("normal", Run::new(mock("mock-normal"), load(4))).await;
    assert_agrees("errors", Run::new(mock("mock-error"), load(4))).await;
    assert_agrees("broken", Run::new(mock("mock-broken"), probe())).await;
    assert_agrees("lost", Run::new(mock("mock-lost"), probe())).await;
    let crash = mock("mock-crash").env("MOCK_CRASH_RATE", "0.05").env("MOCK_SEED", "2");
    assert_agrees("crash", Run::new(crash, load(4))).await;
    let starts = Scenario::cold_start().iterations(3).tool("echo");
    assert_agrees("cold start", Run::new(mock("mock-noise"), starts)).await;
}

#[tokio::test]
async fn several_threads_are_told_again_from_their_trace() {
    let listening = http_mock(&[]).await;
    assert_agrees("http", Run::new(Server::http(&listening.url), load(64)).with_threads(2)).await;
    let streaming = http_mock(&[("MOCK_HTTP_MODE", "sse")]).await;
    assert_agrees("sse", Run::new(Server::http(&streaming.url), load(64)).with_threads(2)).await;
    let sessions = Scenario { sessions: Some(4), ..load(8) };
    assert_agrees("stdio", Run::new(mock("mock-noise"), sessions.clone()).with_threads(2)).await;
    let crash = mock("mock-crash").env("MOCK_CRASH_RATE", "0.05").env("MOCK_SEED", "2");
    assert_agrees("crash", Run::new(crash, sessions).with_threads(2)).await;
}

#[tokio::test]
async fn a_result_of_more_than_a_kibibyte_is_cut() {
    let text = "é".repeat(2_000);
    let scenario = Scenario::cold_start()
        .iterations(1)
        .warmup(false)
        .tool("echo")
        .args(json!({ "text": text }));
    let kept = keep(Run::new(mock("mock-normal"), scenario)).await;
    let lines = kept.lines();
    let call = |line: &&Value| line["phase"] == "load";
    let response =
        lines.iter().filter(call).find(|line| line["kind"] == "response").expect("a response");
    let result = response["result"].as_str().expect("text, as the JSON is cut");
    assert!(result.starts_with(r#"{"content":[{"#), "{result}");
    assert!(result.len() <= 1_024 && response["result_bytes"].as_u64() > Some(2_000), "{response}");
    let request =
        lines.iter().filter(call).find(|line| line["kind"] == "request").expect("a request");
    assert_eq!(request["params"]["arguments"]["text"], text, "what we sent is never cut");
    let short: Vec<_> = lines
        .iter()
        .filter(|line| line["kind"] == "response" && line["method"] == "tools/list")
        .collect();
    assert!(short.iter().all(|line| line["result"]["tools"].is_array()), "{short:#?}");
    assert_same(
        &kept.saved().report_from_trace().expect("the trace"),
        &kept.report,
        "the trace and the run",
    );
}

#[tokio::test]
async fn half_a_line_at_the_end_is_tolerated_and_anywhere_else_it_is_named() {
    let kept = keep(Run::new(mock("mock-normal"), load(2)).with_trace(Trace::Full)).await;
    let path = kept.dir.join("trace.jsonl");
    let whole = fs::read(&path).expect("the trace");
    fs::remove_file(kept.dir.join("metrics.json")).expect("it is there");
    let saved = kept.saved();
    assert!(saved.report().expect("the trace alone will do").throughput.successful_requests > 0);
    // Wherever a killed run stopped writing, the rest can be read.
    for cut in [1, 10, 100, whole.len() / 2, whole.len() - 5] {
        fs::write(&path, &whole[..whole.len() - cut]).expect("it can be written");
        let report = saved.report().unwrap_or_else(|error| panic!("cut by {cut}: {error}"));
        assert!(report.throughput.total_requests <= kept.report.throughput.total_requests);
    }
    // Half of a character is no reason to give up either.
    let mut broken = whole.clone();
    broken.extend_from_slice(b"{\"ts\":1.0,\"kind\":\"\xc3");
    fs::write(&path, &broken).expect("it can be written");
    assert!(saved.report().is_ok(), "{:?}", saved.report().err());
    broken.extend_from_slice(b"\n{}\n");
    fs::write(&path, &broken).expect("it can be written");
    let error = saved.report().expect_err("a hole in the middle");
    let SavedError::Trace { line, .. } = &error else { panic!("{error}") };
    assert_eq!(*line, whole.iter().filter(|byte| **byte == b'\n').count() + 1);
}

#[tokio::test]
async fn a_run_without_a_trace_still_leaves_its_report() {
    let kept = keep(Run::new(mock("mock-normal"), load(2)).with_trace(Trace::Off)).await;
    assert!(!kept.dir.join("trace.jsonl").exists());
    let read = kept.saved().report().expect("the report");
    assert_eq!((verdict(&read), read.trace_path.as_os_str().len()), (Verdict::Pass, 0));
    assert_same(&read, &kept.report, "metrics.json and the run");
}

#[test]
fn a_directory_that_is_no_run_says_so() {
    let empty = TempDir::new().expect("a directory");
    let error = SavedRun::open(empty.path()).expect_err("nothing is there");
    assert!(error.to_string().contains("is not a run directory"), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_start_leaves_its_words_and_no_process() {
    let parent = TempDir::new().expect("a directory");
    let server = inline_mock("import sys; sys.exit('no such licence')");
    let error = Run::new(server, load(2))
        .with_output_dir(parent.path())
        .execute()
        .await
        .expect_err("it ends at once");
    assert!(error.to_string().contains("exit code 1"), "{error}");
    let log =
        fs::read_to_string(only_entry(parent.path()).join("server.stderr.log")).expect("the log");
    assert!(log.contains("no such licence"), "{log}");
}
