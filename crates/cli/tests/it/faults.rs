//! `--audit` of `run` and `report`: what the log of a mock tells of its faults, laid over the run.

use std::{fs, path::Path};

use mcp_loadtest_mock::audit::{Audit, Filter, Redaction, StoreSpec};
use serde_json::Value;

use crate::{
    cluster::Cluster,
    harness::{Ran, run_in},
};

const FAULT: &str = "tool-error@after=1s,until=3s";

/// A run against a mock that fails every call of its second and third second, and writes all down.
fn failing_run(dir: &Path, duration: &str, more: &[&str]) -> Ran {
    let log = dir.join("mock.db");
    let server = format!(
        "{} mock --audit sqlite:{} --fault {FAULT}",
        env!("CARGO_BIN_EXE_mcp-loadtest"),
        log.display()
    );
    let load = ["run", "-s", &server, "--tool", "echo", "--rate", "50/s", "--duration", duration];
    run_in(dir, &[&load, more].concat())
}

fn run_dir(dir: &Path) -> String {
    let run = fs::read_dir(dir.join("runs")).unwrap().next().unwrap().unwrap();
    run.path().display().to_string()
}

fn summary(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

/// The faults of a summary are those of the mock: each hit is a call that failed.
fn faults_are_told(summary: &Value) {
    let faults = summary["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["name"] == FAULT), "{faults:?}");
    let calls: u64 = faults.iter().map(|fault| fault["calls"].as_u64().unwrap()).sum();
    assert_eq!((calls > 0, Some(calls)), (true, summary["errors"].as_u64()), "{summary:#}");
    let (from, to) = (faults[0]["from"].as_f64().unwrap(), faults[0]["to"].as_f64().unwrap());
    let end = summary["duration_secs"].as_f64().unwrap();
    assert!(0.5 < from && from < to && to < end, "{from} to {to} of {end}");
}

#[test]
fn a_run_shows_when_faults_were_at_work() {
    let dir = tempfile::tempdir().unwrap();
    let ran = failing_run(dir.path(), "5s", &["--audit", "mock.db", "--json"]);
    let told = summary(&ran);
    faults_are_told(&told);
    let written = |name: &str| {
        fs::read_to_string(Path::new(told["run_dir"].as_str().unwrap()).join(name)).unwrap()
    };
    assert!(written("report.md").contains("\n## Faults\n"), "{}", written("report.md"));
    let page = written("report.html");
    assert!(page.contains("id=\"faults\"") && page.contains("\"fault\",5,0]"), "{page}");
    faults_are_told(&serde_json::from_str(&written("summary.json")).unwrap());
    let metrics: Value = serde_json::from_str(&written("metrics.json")).unwrap();
    assert_eq!(metrics["faults"], told["faults"]);

    // What is written is told again without the log.
    let again = run_in(dir.path(), &["report", told["run_dir"].as_str().unwrap(), "--json"]);
    faults_are_told(&summary(&again));
}

/// Every form of a saved run tells it, from every store.
fn every_form_tells(dir: &Path, run: &str, store: &str) {
    let report = |more: &[&str]| {
        let ran = run_in(dir, &[&["report", run], more, &["--audit", store]].concat());
        assert!(ran.code < 2, "{}", ran.err);
        ran
    };
    faults_are_told(&summary(&report(&["--json"])));
    for (form, sign) in [
        ("terminal", format!("Faults     `{FAULT}` hit")),
        ("markdown", format!("| `{FAULT}` |")),
        ("html", "key fault c5".to_owned()),
        ("json", "\"faults\"".to_owned()),
        ("openmetrics", "mcp_loadtest_fault_hits_total{".to_owned()),
    ] {
        let told = report(&["--format", form]).out;
        assert!(told.contains(&sign), "{form}: {sign} is missing in {told}");
        let without = run_in(dir, &["report", run, "--format", form]).out;
        assert!(!without.contains(&sign), "{form}: {sign} is there without --audit");
    }
}

#[test]
fn a_saved_run_shows_when_faults_were_at_work() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let ran = failing_run(dir, "5s", &["--json"]);
    assert!(summary(&ran)["faults"].is_null(), "a run does not know by itself: {}", ran.out);
    let run = run_dir(dir);
    every_form_tells(dir, &run, "mock.db");
    let exported = ["audit", "mock.db", "export", "--output", "rows.jsonl"];
    assert_eq!(run_in(dir, &exported).code, 0);
    every_form_tells(dir, &run, "jsonl:rows.jsonl");

    let hlog = run_in(dir, &["report", &run, "--format", "hlog", "--audit", "mock.db"]);
    assert_eq!(hlog.code, 2);
    assert!(hlog.err.contains("--audit has no effect on hlog"), "{}", hlog.err);
    let spec = |text: &str| text.parse::<StoreSpec>().unwrap().in_dir(dir);
    let rows = spec("mock.db").read().unwrap().query(&Filter::default()).unwrap();
    let fill = |store: &str, keep: &dyn Fn(usize) -> bool, is_spared: bool| {
        let audit = Audit::open(&spec(store), Redaction::default()).unwrap();
        for (at, mut row) in rows.iter().cloned().enumerate().filter(|(at, _)| keep(*at)) {
            row.seq = at as u64 + 1;
            row.fault.take_if(|_| is_spared);
            audit.record_blocking(row).unwrap();
        }
        audit.close().unwrap();
    };
    let cluster = Cluster::start();
    fill(&cluster.url(), &|_| true, false);
    every_form_tells(dir, &run, &cluster.url());

    fill("spared.db", &|_| true, true);
    let spared = run_in(dir, &["report", &run, "--audit", "spared.db"]);
    assert!(spared.code < 2 && spared.err.contains("none met a fault"), "{}", spared.err);
    fill("empty.db", &|_| false, true);
    wrong_logs_are_refused(dir, &run);
}

fn wrong_logs_are_refused(dir: &Path, run: &str) {
    let old =
        r#"{"v":1,"seq":1,"ts":"2020-01-01T00:00:00.000000Z","kind":"request","success":true}"#;
    fs::write(dir.join("old.jsonl"), format!("{old}\n")).unwrap();
    fs::write(dir.join("broken.jsonl"), "not a log\n").unwrap();
    for (store, what, next) in [
        ("old.jsonl", "its rows are from 2020-01-01T00:00:00", "written during this run"),
        ("empty.db", "has no row", "start the mock or the proxy with --audit"),
        ("missing.db", "there is no audit log at", "the store that the server was started with"),
        ("broken.jsonl", "is not an audit log", "give a log that a server has written"),
        ("none", "`none` keeps no rows", "give a log"),
        ("mysql://x", "mysql://x", "sqlite:"),
    ] {
        let ran = run_in(dir, &["report", run, "--audit", store]);
        assert_eq!(ran.code, 2, "{store}: {}", ran.out);
        assert!(ran.err.contains(what) && ran.err.contains(next), "{store}: {}", ran.err);
    }
}

#[test]
fn a_run_whose_log_is_missing_is_shown_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let ran = failing_run(dir.path(), "300ms", &["--audit", "elsewhere.db"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("there is no audit log at"), "{}", ran.err);
    assert!(ran.out.contains("Everything: "), "{}", ran.out);
    let several = ["-s", "other", "--audit", "mock.db"];
    let ran = failing_run(dir.path(), "1s", &several);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--audit is for a run of one server"), "{}", ran.err);
}
