//! Clients that we did not write, against `mock` as a process, over stdio and HTTP, in each era that
//! they have.
//!
//! Every client has a script of its own that does the same and prints one report; that of the Rust SDK
//! is part of this program. The audit log says what really arrived.

mod rust;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::process::Listening;

/// Quotes, line ends and letters that are no ASCII.
const MESSAGE: &str = "grüße \" \n 日本";
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// A client.
struct Sdk {
    /// Where it is installed.
    environment: &'static str,
    /// In this folder.
    script: &'static str,
    /// What the script is told, and the revision that comes of it.
    modes: &'static [(Option<&'static str>, &'static str)],
}

const ONE_ERA: &[(Option<&str>, &str)] = &[(None, LEGACY)];
const BOTH_ERAS: &[(Option<&str>, &str)] =
    &[(Some("legacy"), LEGACY), (Some(MODERN), MODERN), (Some("auto"), MODERN)];

#[test]
fn the_python_sdk_before_2() {
    check(&Sdk { environment: "mcp-1.30.0", script: "python_v1.py", modes: ONE_ERA });
}

#[test]
fn the_python_sdk() {
    check(&Sdk { environment: "mcp-2.3.0", script: "python_v2.py", modes: BOTH_ERAS });
}

#[test]
fn fastmcp() {
    // Its imports take seconds, and what it does with a revision is what the SDK below it does.
    let modes = &[(Some("legacy"), LEGACY), (Some("auto"), MODERN)];
    check(&Sdk { environment: "fastmcp-4.1.4", script: "fastmcp_client.py", modes });
}

#[test]
fn the_rust_sdk() {
    check_visits("rust", BOTH_ERAS, rust::visit);
}

#[test]
fn the_typescript_sdk_before_2() {
    check(&Sdk { environment: "ts-clients", script: "typescript_v1.mjs", modes: ONE_ERA });
}

#[test]
fn the_typescript_sdk() {
    check(&Sdk { environment: "ts-clients", script: "typescript_v2.mjs", modes: BOTH_ERAS });
}

fn check(sdk: &Sdk) {
    check_visits(sdk.script, sdk.modes, |mode, target| sdk.visit(mode, target));
}

/// Has a client visit a mock over stdio and over HTTP, in each mode that it has.
fn check_visits(
    name: &str,
    modes: &[(Option<&str>, &str)],
    visit: impl Fn(Option<&str>, &[&str]) -> Value,
) {
    for (mode, revision) in modes {
        let case = format!("{name} {}", mode.unwrap_or_default());
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("audit.jsonl");
        let audit = format!("--audit=jsonl:{}", log.display());
        let report = visit(*mode, &[env!("CARGO_BIN_EXE_mcp-loadtest"), "mock", &audit]);
        check_report(&report, &format!("{case} over stdio"));
        check_log(&log, revision, true, &format!("{case} over stdio"));

        fs::remove_file(&log).unwrap();
        let mock = Listening::start(&["mock", "--transport", "http", &audit]);
        let report = visit(*mode, &[&mock.url]);
        check_report(&report, &format!("{case} over HTTP"));
        // In the modern era a client withdraws a call by closing the reply's stream.
        check_log(&log, revision, *revision == LEGACY, &format!("{case} over HTTP"));
        mock.stop();
    }
}

fn check_report(report: &Value, case: &str) {
    assert_eq!(report["tools"], json!(["echo", "whoami", "headers"]), "{case}");
    assert_eq!(report["echo"], json!({ "message": MESSAGE }), "{case}");
    assert_eq!(report["protocol_error"], json!([-32050, "boom"]), "{case}");
    assert_eq!(report["tool_error"], json!([true, "boom"]), "{case}");
    assert_eq!(report["cancelled"], true, "{case}");
    assert_eq!(report["progress"]["sent"], 3, "{case}");
    // The TypeScript SDKs put off notifications but not results: those that come together with the
    // result are lost.
    let steps = [json!("step 1/3"), json!("step 2/3"), json!("step 3/3")];
    let told = report["progress"]["told"].as_array().unwrap();
    let least = if case.starts_with("typescript") { 1 } else { 3 };
    assert!(told.len() >= least && steps.starts_with(told), "{case}: {told:?}");
}

/// What must have reached the mock; waits until it has.
fn check_log(log: &Path, revision: &str, is_told: bool, case: &str) {
    let is_cancelled = |row: &&Value| row["tool"] == "slow" && row["cancelled"] == true;
    let rows = loop {
        let rows = rows(log);
        // If it never comes, the limit of the test says so.
        if rows.iter().any(|row| is_cancelled(&row)) {
            break rows;
        }
        std::thread::yield_now();
    };
    let slow = rows.iter().find(is_cancelled).unwrap();
    assert_eq!(slow["error_category"], "cancelled", "{case}: {slow}");
    let is_news = |row: &&Value| row["kind"] == "cancellation" && row["rpc_id"] == slow["rpc_id"];
    let news: Vec<_> = rows.iter().filter(is_news).map(|row| &row["note"]).collect();
    let expected = if is_told { &["the call was running"][..] } else { &[] };
    assert_eq!(news, expected, "{case}");
    for echo in rows.iter().filter(|row| row["tool"] == "echo") {
        assert_eq!((&echo["revision"], &echo["success"]), (&json!(revision), &json!(true)));
    }
}

/// The rows that are whole.
fn rows(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl Sdk {
    /// Runs the script; its report.
    fn visit(&self, mode: Option<&str>, target: &[&str]) -> Value {
        let mut client = self
            .command()
            .args(mode)
            .args(target)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        client.stdin.take().unwrap().write_all(json!(MESSAGE).to_string().as_bytes()).unwrap();
        let output = client.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {mode:?} {target:?}: {said}", self.script);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    fn command(&self) -> Command {
        let home = home(self.environment);
        let (program, script) = match self.script.ends_with(".py") {
            true => (home.join("bin/python"), scripts().join(self.script)),
            // What it imports is searched beside it.
            false => ("node".into(), home.join(self.script)),
        };
        let mut command = Command::new(program);
        command.arg(script);
        command
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clients")
}

/// Where an environment is installed. Without it the test fails and says what to run.
pub(crate) fn home(environment: &str) -> PathBuf {
    let testenv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let told = Command::new("python3").arg(testenv).args(["path", environment]).output().unwrap();
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "cannot test with this client: {problem}");
    String::from_utf8_lossy(&told.stdout).trim().into()
}
