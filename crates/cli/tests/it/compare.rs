//! Runs against runs: `compare`, `run --baseline`, `--tag`, `runs`, and several servers in turns.
//!
//! The slow mock is slower by so much that a busy machine cannot hide it, and pauses between calls
//! keep the load so low that a busy machine cannot make the generator the limit.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Ran, mock, run_in};

/// A run of seven seconds against a mock that takes this long for a call.
fn slow_run(dir: &Path, delay: &str, more: &[&str]) -> Ran {
    let server = mock("mock-slow.py");
    let delay = format!("MOCK_DELAY_S={delay}");
    let args = [
        "run",
        "-s",
        &server,
        "--env",
        &delay,
        "--tool",
        "echo",
        "--concurrent",
        "1",
        "--think-time",
        "50ms",
        "--duration",
        "7s",
        "--json",
    ];
    run_in(dir, &[&args, more].concat())
}

fn summary(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

fn validated(comparison: &Value) {
    let schema = mcp_loadtest_core::compare::json::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(comparison).map(|error| error.to_string()).collect();
    assert_eq!(errors, [] as [String; 0], "{comparison:#}");
}

#[test]
fn a_run_is_gated_by_the_last_one_that_passed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let first = slow_run(dir, "0.05", &["--baseline", "last", "--tag", "v1"]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert!(first.err.contains("there is no baseline"), "{}", first.err);
    let first = summary(&first);
    assert_eq!((&first["tags"], &first["baseline"]), (&serde_json::json!(["v1"]), &Value::Null));

    let second = slow_run(dir, "1", &["--baseline", "last"]);
    assert_eq!(second.code, 1, "{}{}", second.out, second.err);
    let second = summary(&second);
    assert_eq!(second["exit_code"], 1);
    assert_eq!(second["baseline"]["verdict"], "REGRESSION", "{second:#}");
    assert_eq!(second["baseline"]["run_id"], first["run_id"]);
    let base_dir = first["run_dir"].as_str().unwrap();
    let slow_dir = second["run_dir"].as_str().unwrap();
    let written = std::fs::read_to_string(format!("{slow_dir}/comparison.json")).unwrap();
    validated(&serde_json::from_str(&written).unwrap());

    // What regressed is not what the next run is measured by.
    let third = slow_run(dir, "1", &["--baseline", "last"]);
    assert_eq!((third.code, &summary(&third)["baseline"]["run_id"]), (1, &first["run_id"]));

    assert_eq!(run_in(dir, &["report", slow_dir]).code, 1, "the gate fails again");
    saved_runs_are_compared(dir, base_dir, slow_dir);
    they_are_listed(dir, &first);

    // Flags win over the usual limits.
    let generous = ["--compare-p99", "off", "--compare-throughput", "off"];
    let allowed = slow_run(dir, "1", &[&["--baseline", "last"][..], &generous].concat());
    assert_eq!(allowed.code, 0, "{}", allowed.err);
}

fn saved_runs_are_compared(dir: &Path, base: &str, slow: &str) {
    let ran = run_in(dir, &["compare", base, slow, "--markdown", "page.md"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("REGRESSION throughput"), "{}", ran.out);
    let page = std::fs::read_to_string(dir.join("page.md")).unwrap();
    assert!(page.starts_with("# REGRESSION"), "{page}");
    let metrics = format!("{slow}/metrics.json");
    let ran = run_in(dir, &["compare", base, &metrics, "--json"]);
    let comparison: Value = serde_json::from_str(&ran.out).unwrap();
    validated(&comparison);
    assert_eq!(comparison["verdict"], "REGRESSION");
    // Against itself nothing differs, but so few calls have no p99.
    let ran = run_in(dir, &["compare", base, base]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("p99 needs 1000") && ran.err.contains("warning: undecided"));
    assert_eq!(run_in(dir, &["compare", base, base, "--undecided", "fail"]).code, 1);
    let ran = run_in(dir, &["compare", base, base, "--p99", "off", "--undecided", "fail"]);
    assert_ne!(ran.code, 2, "{}", ran.out);
    let lenient = ["--p99", "off", "--throughput", "off"];
    let ran = run_in(dir, &[&["compare", base, slow], lenient.as_slice()].concat());
    assert_eq!(ran.code, 0, "{}", ran.out);
}

fn they_are_listed(dir: &Path, first: &Value) {
    let list: Value = serde_json::from_str(&run_in(dir, &["runs", "--json"]).out).unwrap();
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|run| &run["run_id"]).collect();
    assert_eq!((ids.len(), ids[2]), (3, &first["run_id"]), "the latest first");
    let table = run_in(dir, &["runs", "--limit", "3", "runs"]).out;
    let verdicts: Vec<_> =
        table.lines().filter(|line| line.contains("sustained")).map(|line| &line[21..31]).collect();
    // Where the machine is busy its first call may have taken long, which is told and is no failure.
    let is_late = first["findings"].to_string().contains("lazy_init_cliff");
    let own = if is_late { "WARNING   " } else { "PASS      " };
    assert_eq!(verdicts, ["REGRESSION", "REGRESSION", own], "{table}");
    assert!(table.contains("v1"), "{table}");
}

#[test]
fn a_tag_names_the_baseline_and_may_not_be_there_yet() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let run = |more: &[&str]| {
        let args = ["run", "-s", &server, "--tool", "echo", "--duration", "300ms"];
        let load = ["--concurrent", "1", "--think-time", "20ms"];
        run_in(dir.path(), &[args.as_slice(), &load, more].concat())
    };
    let ran = run(&["--baseline", "tag:v1"]);
    assert_eq!(ran.code, 2, "a gate that is mistyped is no gate: {}", ran.err);
    assert!(ran.err.contains("has the tag `v1`"), "{}", ran.err);
    let ran = run(&["--baseline", "tag:v1", "--tag", "v1", "--tag", "main"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("has the tag `v1`"), "{}", ran.err);
    let text = "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\nduration = '300ms'\n\
                [compare]\nbaseline = 'tag:v1'\nundecided = 'fail'\n";
    std::fs::write(dir.path().join("bench.toml"), text).unwrap();
    let ran = run(&["--config", "bench.toml", "--json"]);
    let summary = summary(&ran);
    // A run of less than a second decides nothing.
    assert_eq!(summary["baseline"]["verdict"], "UNDECIDED", "{summary:#}{}", ran.err);
    assert_eq!((ran.code, &summary["exit_code"]), (1, &1.into()));
    a_gate_that_failed_fails_again(dir.path(), summary["run_dir"].as_str().unwrap());
    let ran = run(&["--baseline", "tag:main"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("UNDECIDED  p99"), "{}", ran.out);
    nothing_above_an_open_gate_says_pass(dir.path(), &ran);
}

fn a_gate_that_failed_fails_again(dir: &Path, run: &str) {
    let again = run_in(dir, &["report", run, "--json", "--junit", "again.xml"]);
    assert_eq!((again.code, &summary(&again)["exit_code"]), (1, &1.into()), "{}", again.err);
    let xml = std::fs::read_to_string(dir.join("again.xml")).unwrap();
    assert!(xml.contains("<failure message=\"UNDECIDED: "), "{xml}");
    // What it was judged by must be there: without it nobody knows whether the gate held.
    std::fs::remove_file(Path::new(run).join("comparison.json")).unwrap();
    let again = run_in(dir, &["report", run]);
    assert_eq!(again.code, 2, "{}", again.out);
    assert!(again.err.contains("comparison.json"), "{}", again.err);
}

#[test]
fn a_baseline_that_goes_away_is_no_run_that_passed() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let run = |server: &str, more: &[&str]| {
        let load = ["run", "-s", server, "--tool", "echo", "--duration", "300ms", "--json"];
        run_in(dir.path(), &[load.as_slice(), more].concat())
    };
    let base = summary(&run(&format!("{program} mock"), &[]))["run_dir"].clone();
    let base = base.as_str().unwrap();
    let server = format!("sh -c 'rm -rf {base}; exec {program} mock'");
    let ran = run(&server, &["--baseline", base]);
    assert_eq!((ran.code, &summary(&ran)["exit_code"]), (2, &2.into()), "{}", ran.err);
}

fn nothing_above_an_open_gate_says_pass(dir: &Path, ran: &Ran) {
    assert!(ran.out.starts_with("UNDECIDED  "), "{}", ran.out);
    let run_dir = ran.out.lines().find_map(|line| line.strip_prefix("Everything: ")).unwrap();
    let written = |name: &str| std::fs::read_to_string(Path::new(run_dir).join(name)).unwrap();
    assert!(written("report.md").contains("**Status:** ⚠ UNDECIDED ("), "{}", written("report.md"));
    assert!(written("report.html").contains("<span class=\"verdict warn\">UNDECIDED</span>"));
    let listed = run_in(dir, &["runs", "--limit", "1", "runs"]).out;
    assert!(listed.contains(" UNDECIDED "), "{listed}");
    let again = run_in(dir, &["report", run_dir]);
    assert!(again.out.starts_with("UNDECIDED  ") && again.code == 0, "{}", again.out);
}

#[test]
fn several_servers_are_tested_in_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (mock("mock-normal.py"), mock("mock-slow.py"));
    let run = |delay: &str, more: &[&str]| {
        let delay = format!("MOCK_DELAY_S={delay}");
        let args = ["run", "-s", &ours, "-s", &theirs, "--label", "ours", "--label", "theirs"];
        let load = ["--env", &delay, "--tool", "echo", "--concurrent", "1"];
        run_in(dir.path(), &[args.as_slice(), &load, &["--think-time", "20ms"], more].concat())
    };
    let ran = run("0.2", &["--repeat", "4", "--duration", "1s", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let comparison: Value = serde_json::from_str(&ran.out).unwrap();
    validated(&comparison);
    let theirs = &comparison["candidates"][0];
    assert_eq!((&comparison["method"], &theirs["standing"]), (&"rounds".into(), &"worse".into()));
    let runs = |target: &Value| -> Vec<String> {
        let runs = target["runs"].as_array().unwrap();
        runs.iter().map(|run| run["run_dir"].as_str().unwrap().to_owned()).collect()
    };
    let (base, other) = (runs(&comparison["base"]), runs(&theirs["target"]));
    assert_eq!((base.len(), other.len()), (4, 4));
    assert!(base.iter().chain(&other).all(|dir| Path::new(dir).join("metrics.json").is_file()));
    let parent = Path::new(&base[0]).parent().unwrap().parent().unwrap();
    for file in ["report.md", "report.html", "comparison.json"] {
        assert!(parent.join(file).is_file(), "{file}");
    }
    assert!(parent.file_name().unwrap().to_str().unwrap().contains("-compare-"));

    // The same is told again from the directory.
    let told = |more: &[&str]| {
        let parent = parent.to_str().unwrap();
        run_in(dir.path(), &[&["report", parent], more].concat())
    };
    let again = told(&["--json"]);
    assert_eq!((again.code, &again.out), (0, &ran.out), "{}", again.err);
    let kept = |name: &str| std::fs::read_to_string(parent.join(name)).unwrap();
    assert_eq!(told(&["--format", "markdown"]).out, kept("report.md"));
    assert_eq!(told(&["--format", "html"]).out, kept("report.html"));
    assert!(told(&[]).out.starts_with("WORSE"), "{}", told(&[]).out);
    for (flags, word) in [(["--format", "hlog"], "hlog"), (["--junit", "x.xml"], "--junit")] {
        let refused = told(&flags);
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(refused.err.contains(word) && refused.err.contains("hint:"), "{}", refused.err);
    }

    let ran = run("1", &["--repeat", "1", "--duration", "3s", "--p50-latency", "500ms"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("FAIL theirs in round 1"), "{}", ran.out);
    assert!(ran.out.starts_with("UNDECIDED  theirs against ours"), "{}", ran.out);
    let last: Vec<&str> = ran.out.lines().rev().take(3).collect();
    let [everything, page, report] = last.as_slice() else { panic!("{}", ran.out) };
    assert!(everything.starts_with("Everything: "), "{}", ran.out);
    assert!(page.starts_with("Page: ") && page.ends_with("/report.html"), "{}", ran.out);
    assert!(report.starts_with("Report: ") && report.ends_with("/report.md"), "{}", ran.out);
    let again = run_in(dir.path(), &["report", everything.strip_prefix("Everything: ").unwrap()]);
    assert_eq!(again.code, 1, "{}", again.err);
    assert!(again.out.contains("FAIL theirs in round 1"), "{}", again.out);

    // Only the forms that are asked for.
    let ran = run("0.2", &["--repeat", "1", "--duration", "300ms", "--format", "html"]);
    assert!(ran.out.contains("Page: ") && !ran.out.contains("Report: "), "{}", ran.out);
    assert!(!ran.out.contains("median"), "no terminal was asked for: {}", ran.out);
    let dir = ran.out.lines().find_map(|line| line.strip_prefix("Everything: ")).unwrap();
    let there = |name: &str| Path::new(dir).join(name).is_file();
    assert!(there("report.html") && there("comparison.json") && !there("report.md"));
}
