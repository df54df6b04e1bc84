//! `doctor` on machines that are well and on machines that are not.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::{
    harness::{mock, run, run_in},
    process::{binary, wait_for_calls},
};

/// A machine with the real PATH, and nothing else of ours.
fn doctor(dir: &Path, args: &[&str]) -> (Option<i32>, Value) {
    let path = std::env::var_os("PATH").unwrap();
    let Output { status, stdout, stderr } = binary()
        .args([["doctor", "--json"].as_slice(), args].concat())
        .current_dir(dir)
        .env_clear()
        .env("PATH", path)
        .env("HOME", dir)
        .output()
        .unwrap();
    let report = serde_json::from_slice(&stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&stderr)));
    let schema = serde_json::from_str(&run(&["schema", "doctor"]).out).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report), "{report:#}");
    (status.code(), report)
}

fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["check"] == id).unwrap_or(&Value::Null)
}

#[test]
fn a_server_that_starts_is_well() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let (code, report) = doctor(dir.path(), &["-s", &server, "--only", "server,runtimes,clock"]);
    assert_eq!((code, &report["passed"]), (Some(0), &true.into()), "{report:#}");
    let server = check(&report, "server");
    assert_eq!(server["health"], "ok", "{report:#}");
    assert!(server["seen"][0]["what"].as_str().unwrap().contains("handshake"), "{report:#}");
    assert!(check(&report, "disk").is_null(), "nobody asked for it");
}

#[test]
fn names_from_files_of_others_are_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let config = "{\"mcpServers\": {\"a\u{202e}b\": {\"command\": \"no-such-program\"}}}";
    fs::write(dir.path().join(".mcp.json"), config).unwrap();
    let ran = run_in(dir.path(), &["doctor", "--only", "clients", "--json"]);
    assert!(ran.out.contains("a\\u202eb") && !ran.out.contains('\u{202e}'), "{}", ran.out);
}

#[test]
fn a_server_that_dies_at_its_start_is_told_with_its_last_words() {
    let dir = tempfile::tempdir().unwrap();
    let dying = "python3 -c 'import sys; sys.exit(\"no licence found\")'";
    let (code, report) = doctor(dir.path(), &["-s", dying, "--only", "server"]);
    assert_eq!((code, &report["passed"]), (Some(1), &false.into()), "{report:#}");
    let seen = &check(&report, "server")["seen"][0];
    assert_eq!(seen["health"], "failed");
    assert!(seen["details"].to_string().contains("no licence found"), "{report:#}");
    assert!(seen["fix"].is_string(), "{report:#}");
}

#[test]
fn the_usual_places_of_clients_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    let file = r#"{"mcpServers": {"gone": {"command": "no-such-program-anywhere"}}}"#;
    fs::write(dir.path().join(".mcp.json"), file).unwrap();
    let (code, report) = doctor(dir.path(), &["--only", "clients"]);
    assert_eq!(code, Some(1), "{report:#}");
    assert!(check(&report, "clients").to_string().contains("no-such-program-anywhere"));
}

#[test]
fn a_killed_run_is_found_and_fix_removes_only_what_recorded_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for (run, trace) in [("empty", ""), ("full", "{}\n")] {
        let run = dir.path().join("runs").join(run);
        fs::create_dir_all(&run).unwrap();
        for name in ["config.toml", "server.stdout.log", "server.stderr.log", ".running"] {
            fs::write(run.join(name), "").unwrap();
        }
        fs::write(run.join("trace.jsonl"), trace).unwrap();
    }
    let (code, report) = doctor(dir.path(), &["--only", "runs"]);
    assert_eq!((code, &check(&report, "runs")["health"]), (Some(0), &"warning".into()));
    assert!(dir.path().join("runs/empty").exists(), "nothing is done unasked");
    let (_, report) = doctor(dir.path(), &["--only", "runs", "--fix"]);
    let runs = check(&report, "runs");
    assert!(runs["seen"][1]["done"].as_str().unwrap().starts_with("removed "), "{report:#}");
    assert!(!dir.path().join("runs/empty").exists() && dir.path().join("runs/full").exists());
}

#[test]
fn a_run_that_goes_on_is_left_in_peace() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let runs = dir.path().join("runs");
    fs::create_dir_all(&runs).unwrap();
    let mut running = binary()
        .args(["run", "-s", &server, "--tool", "echo", "--duration", "600s"])
        .current_dir(dir.path())
        .spawn()
        .unwrap();
    wait_for_calls(&runs);
    let (_, report) = doctor(dir.path(), &["--only", "runs", "--fix"]);
    running.kill().unwrap();
    running.wait().unwrap();
    let seen = &check(&report, "runs")["seen"][1];
    assert!(seen["what"].as_str().unwrap().ends_with("goes on"), "{report:#}");
    let (_, report) = doctor(dir.path(), &["--only", "runs"]);
    let seen = &check(&report, "runs")["seen"][1];
    assert!(seen["what"].as_str().unwrap().contains("was killed"), "{report:#}");
}

#[test]
fn people_get_a_list_and_a_wrong_word_gets_the_right_one() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run_in(dir.path(), &["doctor", "--only", "clock,runs"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("✓ clock") && ran.out.contains("✓ runs"), "{}", ran.out);
    let ran = run(&["doctor", "--only", "clok"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `clock`?"), "{}", ran.err);
}

/// How long it takes is the machine's business; that it is told, for people and for machines, is ours.
#[test]
fn what_we_add_to_a_call_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let (code, report) = doctor(dir.path(), &["--only", "overhead"]);
    assert_eq!(code, Some(0), "{report:#}");
    let seen = &check(&report, "overhead")["seen"][0];
    for figure in ["calls", "p50_us", "p99_us"] {
        assert!(seen["figures"][figure].as_f64().is_some_and(|value| value > 0.0), "{report:#}");
    }
    if cfg!(target_os = "linux") {
        assert!(seen["figures"]["cpu_us_per_call"].as_f64().is_some(), "{report:#}");
    }
    let told = run_in(dir.path(), &["doctor", "--only", "overhead"]).out;
    assert!(told.contains("p50") && told.contains("p99"), "{told}");
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "it leaves no run behind");
}
