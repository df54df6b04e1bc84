//! Ctrl-C in the middle of each kind of scenario: what was measured is told, and nothing is left.

use std::{collections::BTreeMap, io::Read as _, path::Path, process::Stdio};

use mcp_loadtest_core::scenario::ScenarioName;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    harness::mock,
    process::{binary, wait_for_calls},
};

/// A mock, and a scenario on it that would go on for ten minutes.
const RUNS: &[(&str, &[&str])] = &[
    ("mock-normal.py", &["--scenario", "cold_start", "--iterations", "10000"]),
    ("mock-normal.py", &["--scenario", "sustained", "--duration", "600s"]),
    ("mock-normal.py", &["--rate", "100/s", "--duration", "600s"]),
    // Some callers wait for their turn for minutes, and some calls are minutes apart.
    ("mock-normal.py", &["--scenario", "spike", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "ramp", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "ramp", "--ramp-to", "1/s", "--duration", "600s"]),
    ("mock-normal.py", &["--concurrent", "2", "--think-time", "5m", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "soak", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "pattern", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "race_check", "--rounds", "1000000"]),
    ("mock-serial.py", &["--scenario", "slow_mix", "--slow-tool", "slow", "--duration", "300s"]),
    ("mock-normal.py", &["--scenario", "reconnect", "--drops", "100000"]),
    ("mock-normal.py", &["--scenario", "fuzzer", "--iterations", "10000000", "--duration", "600s"]),
    ("mock-normal.py", &["--scenario", "capacity", "--hold", "300s", "--p99-latency", "1s"]),
    // Calls that are never answered: they get a moment and are withdrawn.
    (
        "mock-broken.py",
        &["--scenario", "sustained", "--duration", "600s", "--hang-timeout", "500s"],
    ),
    ("mock-broken.py", &["--rate", "20/s", "--duration", "600s", "--hang-timeout", "500s"]),
    ("mock-broken.py", &["--scenario", "deadlock_probe", "--hang-timeout", "500s"]),
    ("mock-broken.py", &["--scenario", "race_check", "--hang-timeout", "500s"]),
];

/// Scenarios at the same time.
const AT_ONCE: usize = 4;

#[test]
fn every_scenario_can_be_interrupted() {
    for name in ScenarioName::ALL {
        let has_run = RUNS.iter().any(|(_, flags)| flags.contains(&name.as_str()));
        assert!(has_run, "`{name}` needs a run of ten minutes in RUNS of interrupted.rs");
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((server, flags)) =
                    RUNS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    interrupt(server, flags);
                }
            });
        }
    });
}

fn interrupt(server: &str, flags: &[&str]) {
    let what = format!("{server} {flags:?}");
    let dir = tempfile::tempdir().unwrap();
    let mark = format!("MCP_LOADTEST_TEST_MARK={}", dir.path().display());
    let (name, value) = mark.split_once('=').unwrap();
    let mut child = binary()
        .args(["run", "-s", &mock(server), "--tool", "echo", "--json", "-o"])
        .arg(dir.path())
        .args(flags)
        .env(name, value)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_calls(dir.path());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{what}: {out}");
    let summary: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{what}: {e} {out}"));
    assert_eq!(summary["exit_code"], 130, "{what}");
    accounting_closes(&what, dir.path());
    assert_eq!(marked(&mark), BTreeMap::new(), "{what} left somebody alive");
}

/// It used to say that there had been no call yet.
#[test]
fn a_second_signal_ends_it_at_once_and_says_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = binary()
        .args(["run", "-s", &mock("mock-broken.py"), "--tool", "echo", "--duration", "600s"])
        .args(["--hang-timeout", "500s", "-o"])
        .arg(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_calls(dir.path());
    // Calls that are never answered hold the end back for some seconds. Signals that come together
    // may be heard as one.
    while child.try_wait().unwrap().is_none() {
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        std::thread::yield_now();
    }
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("interrupted again, before there was a report"), "{said}");
}

/// All that was begun has ended, and all files of a run are there.
fn accounting_closes(what: &str, parent: &Path) {
    let run = std::fs::read_dir(parent).unwrap().next().unwrap().unwrap().path();
    for name in ["summary.json", "metrics.json", "report.md", "trace.jsonl", "config.toml"] {
        assert!(run.join(name).is_file(), "{what}: no {name}");
    }
    let metrics = std::fs::read_to_string(run.join("metrics.json")).unwrap();
    let report = mcp_loadtest_core::report::json::read(&metrics).unwrap();
    let calls = &report.throughput;
    let ended = calls.successful_requests + report.errors.total + report.dropped;
    assert_eq!(calls.total_requests, ended, "{what}: {:?}", report.errors.by_category);
    assert!(report.interrupted && calls.total_requests > 0, "{what}");
    assert!(report.finding("accounting_open").is_none(), "{what}: {:#?}", report.findings);
}

/// The processes whose environment holds this.
pub(crate) fn marked(mark: &str) -> BTreeMap<String, String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let carries = processes.filter_map(|process| {
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let found = environment.windows(mark.len()).any(|part| part == mark.as_bytes());
        let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        // What has ended and was not waited for has no command line.
        let alive = found && !command.is_empty();
        alive.then(|| (process.file_name().to_string_lossy().into_owned(), command))
    });
    carries.collect()
}
