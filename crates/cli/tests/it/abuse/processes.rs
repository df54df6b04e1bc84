//! Servers that misuse their own process, or turn on ours.

use std::path::Path;

use super::{against, against_in, file_of_run, findings, has_finding, summary};
use crate::{harness::mock, interrupted::marked, process::binary};

const PROBE: &[&str] =
    &["deadlock-probe", "--tool", "echo", "--concurrent", "1", "--steady-calls", "0", "--json"];

#[test]
fn a_server_that_ends_before_it_has_said_anything_is_told_with_a_hint() {
    for mode in ["nothing", "deaf", "silence"] {
        let ran = against("hostile-process.py", mode, PROBE);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{mode}: {}", ran.err);
        assert!(
            ran.err.contains("exit code 0") && ran.err.contains("hint:"),
            "{mode}: {}",
            ran.err
        );
    }
}

#[test]
fn a_command_that_is_no_program_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plain"), "text").unwrap();
    for (command, word) in [("./plain", "not executable"), ("./", "is a directory")] {
        let ran = binary().args(["probe", "-s", command]).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains(word) && said.contains("hint:"), "{command}: {said}");
    }
    // No shell reads the command line.
    let command = ["probe", "-s", "true; touch made && echo $HOME"];
    let ran = binary().args(command).current_dir(dir.path()).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(!dir.path().join("made").exists());
}

/// All processes that carry the mark of this test, when the command has ended.
fn left_behind(mode: &str, dir: &Path) -> (std::process::Output, usize) {
    let mark = format!("MCP_LOADTEST_TEST_MARK={}", dir.display());
    let (name, value) = mark.split_once('=').unwrap();
    let ran = binary()
        .args(PROBE)
        .args(["-s", &mock("hostile-process.py"), "--env", &format!("HOSTILE={mode}")])
        .args(["--env", &mark])
        .current_dir(dir)
        .env(name, value)
        .output()
        .unwrap();
    (ran, marked(&mark).len())
}

#[test]
fn a_crowd_of_daemons_is_swept_to_the_last() {
    let dir = tempfile::tempdir().unwrap();
    let (ran, left) = left_behind("crowd", dir.path());
    let told = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(has_finding(&told, "stray_process"), "{:?}", findings(&told));
    assert_eq!(left, 0);
}

/// Six hundred processes that sleep, and no more: a real bomb would be one for this machine, too.
#[test]
fn a_server_that_starts_too_many_processes_is_ended_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let mark = format!("MCP_LOADTEST_TEST_MARK={}", dir.path().display());
    let load = ["run", "--tool", "echo", "--concurrent", "1", "--duration", "30s", "--json"];
    // So many processes take their time, which is not what is judged here.
    let patience = ["--hang-timeout", "300s"];
    let ran = against_in(
        dir.path(),
        "hostile-process.py",
        "many",
        &[&load[..], &patience, &["--env", &mark]].concat(),
    );
    let told = summary(&ran);
    assert_eq!(ran.code, 1, "{told:#}");
    assert!(has_finding(&told, "too_many_processes"), "{:?}", findings(&told));
    assert!(!has_finding(&told, "server_crash"), "it did not end by itself: {told:#}");
    assert!(told.to_string().contains("more than 512 processes"), "{told:#}");
    assert_eq!(marked(&mark).len(), 0);
    // One that never begins a session has nothing to measure.
    for command in [PROBE, &["probe", "--only", "unknown_tool"]] {
        let patience = ["--startup-timeout", "300s"];
        let command = [command, &patience, &["--env", &mark, "--protocol", "2025-11-25"]].concat();
        let ran = against_in(dir.path(), "hostile-process.py", "many_at_once", &command);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(
            ran.err.contains("at most 512 may run") && ran.err.contains("hint:"),
            "{}",
            ran.err
        );
        assert_eq!(marked(&mark).len(), 0);
    }
}

#[test]
fn a_server_that_starts_some_processes_is_let_alone() {
    let load = ["run", "--tool", "echo", "--concurrent", "1", "--duration", "2s", "--json"];
    let some = ["--env", "MANY=50"];
    let ran = against("hostile-process.py", "many", &[&load[..], &some].concat());
    let told = summary(&ran);
    assert_eq!((ran.code, &told["errors"]), (0, &0.into()), "{told:#}");
    assert!(findings(&told).iter().all(|id| *id != "too_many_processes"), "{told:#}");
}

#[test]
fn a_server_that_kills_its_group_takes_only_itself_along() {
    let dir = tempfile::tempdir().unwrap();
    let (ran, left) = left_behind("kill_group", dir.path());
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let told = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(has_finding(&told, "server_crash"), "{:?}", findings(&told));
    assert_eq!(left, 0);
}

#[test]
fn a_server_that_kills_us_does_not_survive_us() {
    let dir = tempfile::tempdir().unwrap();
    let (ran, _) = left_behind("kill_parent", dir.path());
    assert_eq!(ran.status.code(), None, "we were killed");
    let mark = format!("MCP_LOADTEST_TEST_MARK={}", dir.path().display());
    while !marked(&mark).is_empty() {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_is_preferred_to_us_when_memory_runs_out() {
    let ran = against("hostile-process.py", "score", &["deadlock-probe", "--tool", "echo", "-q"]);
    let ours: i32 =
        std::fs::read_to_string("/proc/self/oom_score_adj").unwrap().trim().parse().unwrap();
    let said = ran.out.split("score ").nth(1).unwrap_or_else(|| panic!("{}", ran.out));
    let digits: String = said.chars().take_while(char::is_ascii_digit).collect();
    assert!(digits.parse::<i32>().unwrap() > ours, "{said}");
}

#[test]
fn files_of_a_run_are_never_written_through_links_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    let (runs, victim_env) = (dir.path().join("runs"), format!("VICTIM={}", victim.display()));
    let runs_env = format!("RUNS={}", runs.display());
    let flags = ["--env", &victim_env, "--env", &runs_env];
    let ran = against_in(dir.path(), "hostile-process.py", "spoil", &[PROBE, &flags].concat());
    assert!(ran.code <= 1, "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
    let stood = std::fs::read_to_string(runs.join("seen-from")).unwrap();
    assert!(!stood.starts_with(runs.to_str().unwrap()), "the server ran in {stood}");
    std::fs::remove_file(runs.join("seen-from")).unwrap();
    assert!(file_of_run(dir.path(), "report.md").contains("echo"), "it is our report");
}

#[test]
fn a_server_that_closes_its_output_is_told_at_once_and_not_as_a_crash() {
    let ran = against("hostile-silence.py", "no_output", PROBE);
    let told = summary(&ran);
    assert_eq!((ran.code, &told["deadlock_count"]), (1, &0.into()), "{told:#}");
    assert!(has_finding(&told, "disconnected"), "{:?}", findings(&told));
    assert!(!has_finding(&told, "server_crash"), "it still runs: {told:#}");
}

#[test]
fn a_server_that_reads_nothing_more_is_a_deadlock_and_blocks_nobody() {
    let brisk = ["--hang-threshold", "1s", "--grace-period", "1s"];
    let large = format!(r#"{{"text": "{}"}}"#, "x".repeat(200_000));
    for mode in ["deaf", "no_input"] {
        let probe = ["deadlock-probe", "--tool", "echo", "--args", &large, "--concurrent", "8"];
        let command = [probe.as_slice(), &brisk, &["--json"]].concat();
        let ran = against("hostile-silence.py", mode, &command);
        let told = summary(&ran);
        assert_eq!((ran.code, &told["deadlock_count"]), (1, &8.into()), "{mode}: {told:#}");
    }
}
