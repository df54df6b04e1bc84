//! Files of others, files of ours, and numbers at the ends of their range.

use std::{os::unix::fs::PermissionsExt, path::Path, process::Command};

use super::summary;
use crate::harness::{mock, run_in};

fn load(server: &str) -> [&str; 8] {
    ["run", "-s", server, "--tool", "echo", "--duration", "300ms", "--json"]
}

/// A file in a folder that somebody else filled names a command. Looking around does not run it.
#[test]
fn a_command_in_a_file_runs_only_when_its_name_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made");
    let entry = serde_json::json!({"mcpServers": {"tempting": {
        "command": "touch", "args": [made.to_str().unwrap()]
    }}});
    std::fs::write(dir.path().join(".mcp.json"), entry.to_string()).unwrap();
    for command in [
        &["probe"][..],
        &["run", "--duration", "1s"],
        &["deadlock-probe"],
        &["probe", "--name", "temptin"],
        &["runs", "."],
    ] {
        run_in(dir.path(), command);
        assert!(!made.exists(), "{command:?}");
    }
    let ran = run_in(dir.path(), &["probe", "--name", "tempting"]);
    assert!(made.exists(), "{}", ran.err);
    assert!(ran.err.contains(".mcp.json") && ran.err.contains("touch"), "{}", ran.err);
}

/// A directory that takes nothing from us: where rights bind nobody, as root, one that takes nothing from
/// anybody.
fn locked(parent: &Path) -> String {
    let locked = parent.join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o500)).unwrap();
    let binds = std::fs::write(locked.join("tried"), "").is_err();
    if binds { "locked".into() } else { "/proc/locked".into() }
}

#[test]
fn a_directory_that_cannot_be_used_is_told_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "mine").unwrap();
    std::os::unix::fs::symlink("/dev/null/nowhere", dir.path().join("dangling")).unwrap();
    let server = mock("mock-normal.py");
    for place in ["file", "file/deeper", "dangling", &locked(dir.path())] {
        let ran = run_in(dir.path(), &[&load(&server)[..], &["-o", place]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{place}: {}", ran.err);
        assert!(ran.err.contains("--output-dir"), "{place}: {}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), "mine");
    // A link to a directory is a directory.
    std::fs::create_dir(dir.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", dir.path().join("link")).unwrap();
    let ran = run_in(dir.path(), &[&load(&server)[..], &["-o", "link"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(std::fs::read_dir(dir.path().join("real")).unwrap().count(), 1);
}

#[test]
fn runs_that_begin_together_do_not_share_a_directory() {
    const TOGETHER: usize = 6;
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let dirs: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..TOGETHER).map(|_| scope.spawn(|| run_in(dir.path(), &load(&server)))).collect();
        let told = runs.into_iter().map(|run| summary(&run.join().unwrap()));
        told.map(|told| told["run_dir"].as_str().unwrap().to_owned()).collect()
    });
    assert_eq!(dirs.len(), TOGETHER);
    assert_eq!(std::fs::read_dir(dir.path().join("runs")).unwrap().count(), TOGETHER);
}

/// No file may grow beyond 32 KiB, as on a disk that is full: what was measured is told all the same.
#[test]
fn a_disk_that_fills_up_in_the_middle_costs_nobody_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let server = mock("mock-normal.py");
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec {program} run -s '{server}' --tool echo --duration 1s \
         --trace full --json"
    );
    let ran = Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("trace.jsonl") && said.contains("hint:"), "{said}");
    let told: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(told["ok"].as_u64().unwrap() > 0, "{told:#}");
}

/// Every number in a document is one: no infinity, nothing that is not a number, and no null where
/// something was measured.
#[test]
fn odd_rates_and_lengths_are_refused_or_give_honest_figures() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let base = ["run", "-s", &server, "--tool", "echo", "--json"];
    for flags in [
        &["--rate", "0.1/s", "--duration", "300ms"][..],
        &["--rate", "1000000/s", "--duration", "300ms"],
        &["--rate", "1/h", "--duration", "300ms"],
        &["--duration", "1ms"],
    ] {
        let ran = run_in(dir.path(), &[&base[..], flags].concat());
        assert!(ran.code <= 2, "{flags:?}: {}", ran.err);
        if ran.code == 2 {
            assert!(ran.err.starts_with("error:"), "{flags:?}: {}", ran.err);
            continue;
        }
        let told = summary(&ran);
        let (due, ok, errors) = (&told["requests"], &told["ok"], &told["errors"]);
        let ended = ok.as_u64().unwrap() + errors.as_u64().unwrap();
        assert!(due.as_u64().unwrap() >= ended, "{flags:?}: {told:#}");
        assert!(told["requests_per_sec"].is_number(), "{flags:?}: {told:#}");
        assert_eq!(told["p50_ms"].is_null(), ended == 0, "{flags:?}: {told:#}");
        assert!(ended > 0 || told["passed"] == false, "nothing measured is no pass: {told:#}");
    }
    for flags in [
        ["--concurrent", "0"],
        ["--rate", "0/s"],
        ["--rate", "inf/s"],
        ["--rate", "NaN/s"],
        ["--duration", "0s"],
        ["--rate", "-1/s"],
        ["--duration", "1e400s"],
    ] {
        let ran = run_in(dir.path(), &[&base[..], &flags].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{flags:?}: {}", ran.err);
    }
}
