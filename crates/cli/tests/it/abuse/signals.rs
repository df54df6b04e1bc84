//! Signals that come to us: what was measured is kept, and nothing is left.

use std::{io::Read as _, path::Path, process::Child, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{findings, has_finding};
use crate::{
    harness::{mock, run},
    interrupted::marked,
    process::{binary, wait_for_calls},
};

/// A load on a healthy server that would go on for ten minutes; its server carries a mark.
fn begun(dir: &Path, flags: &[&str]) -> (Child, String) {
    let mark = format!("MCP_LOADTEST_TEST_MARK={}", dir.display());
    let (name, value) = mark.split_once('=').unwrap();
    let child = binary()
        .args(["run", "-s", &mock("mock-normal.py"), "--tool", "echo", "--json", "-o"])
        .arg(dir)
        .args(flags)
        .env(name, value)
        .spawn()
        .unwrap();
    wait_for_calls(dir);
    (child, mark)
}

const LONG: &[&str] = &["--duration", "600s"];

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn only_run(dir: &Path) -> String {
    let run = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap();
    run.path().to_str().unwrap().to_owned()
}

#[test]
fn asked_to_end_we_tell_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, mark) = begun(dir.path(), LONG);
    signal(&child, Signal::TERM);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{out}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(told["ok"].as_u64().unwrap() > 0, "{told:#}");
    assert!(marked(&mark).is_empty());
}

/// A terminal that closes, and a kill that cannot be answered.
#[expect(clippy::disallowed_methods, reason = "a process that nobody waits for is looked for")]
#[test]
fn ended_without_a_word_we_leave_a_run_that_can_be_read_and_no_process() {
    for how in [Signal::HUP, Signal::KILL] {
        let dir = tempfile::tempdir().unwrap();
        let (mut child, mark) = begun(dir.path(), LONG);
        signal(&child, how);
        assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
        while !marked(&mark).is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let told = run(&["report", &only_run(dir.path()), "--json"]);
        let report: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!((&report["verdict"], &report["passed"]), (&"INVALID".into(), &false.into()));
        assert_ne!(told.code, 0, "half a run is no pass");
    }
}

#[test]
fn a_reader_that_goes_away_in_the_middle_of_a_run_is_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (mut child, _) = begun(dir.path(), &["--duration", "2s"]);
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && !said.contains("panicked"), "{said}");
}

/// Stopped and let go again, as a laptop that sleeps: calls that were due meanwhile were late by our
/// own fault, which is told, and no call of a healthy server is called a deadlock.
#[expect(clippy::disallowed_methods, reason = "that is how long we sleep")]
#[test]
fn time_that_we_slept_through_is_not_blamed_on_the_server() {
    let dir = tempfile::tempdir().unwrap();
    // The sleep is longer than a call may take; how long the machine keeps us waiting is not.
    let flags = ["--rate", "100/s", "--duration", "8s", "--hang-timeout", "2500ms"];
    let (mut child, _) = begun(dir.path(), &flags);
    signal(&child, Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    signal(&child, Signal::CONT);
    let mut out = String::new();
    child.stderr = None;
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["deadlock_count"], 0, "{told:#}");
    assert!(has_finding(&told, "generator_stopped"), "{:?}", findings(&told));
    assert_eq!((&told["verdict"], &told["passed"]), (&"INVALID".into(), &false.into()));
    // Three hundred calls fell due meanwhile; only those that were on their way may count as slow.
    assert!(told["hang_count"].as_u64().unwrap() < 100, "{told:#}");
    let late = has_finding(&told, "client_bound") || has_finding(&told, "load_not_offered");
    assert!(late, "{:?} {told:#}", findings(&told));
}
