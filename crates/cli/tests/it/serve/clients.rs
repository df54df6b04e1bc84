//! Clients that we did not write: the SDKs in both eras, over stdio and HTTP, and MCP Inspector's CLI.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::workplace;
use crate::{clients::home, process::Listening};

/// What every tool is called, in the order of the list.
const TOOLS: [&str; 8] = [
    "probe",
    "deadlock_probe",
    "sustained_load",
    "negative_path",
    "compare_runs",
    "report_summary",
    "list_recent_runs",
    "explain",
];

/// The flags that name the servers of a workplace, wherever we are started.
fn flags(dir: &Path) -> Vec<String> {
    let (config, runs) = (dir.join(".mcp.json"), dir.join("runs"));
    let words = ["serve", "--mcp", "--allow-server", "healthy", "--allow-server", "deadlocked"];
    let places = ["--mcp-config", config.to_str().unwrap(), "-o", runs.to_str().unwrap()];
    words.into_iter().chain(places).map(str::to_owned).collect()
}

fn output(mut command: Command) -> Value {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// What a script is told of the era, where it knows both.
const BOTH_ERAS: &[Option<&str>] = &[Some("legacy"), Some("auto")];
const ONE_ERA: &[Option<&str>] = &[None];

/// Has a client visit us in the eras that it knows, on both transports.
fn check(modes: &[Option<&str>], client: impl Fn() -> Command) {
    for mode in modes {
        let dir = workplace();
        let mut over_stdio = client();
        over_stdio.args(*mode).arg(env!("CARGO_BIN_EXE_mcp-loadtest")).args(flags(dir.path()));
        check_report(&output(over_stdio), &format!("{mode:?} over stdio"));

        let mut flags = flags(dir.path());
        flags.extend(["--listen".into(), "127.0.0.1:0".into()]);
        let server = Listening::start(&flags);
        let mut over_http = client();
        over_http.args(*mode).arg(&server.url);
        check_report(&output(over_http), &format!("{mode:?} over HTTP"));
        server.stop();
    }
}

fn check_report(report: &Value, case: &str) {
    assert_eq!(report["tools"], json!(TOOLS), "{case}");
    assert_eq!((&report["deadlocked"], &report["healthy"]), (&json!(3), &json!(0)), "{case}");
    assert_eq!(report["refused"][0], true, "{case}: {report}");
    assert!(report["refused"][1].as_str().unwrap().contains("nothing was started"), "{case}");
    for good in ["schemas", "cancelled", "told"] {
        assert_eq!(report[good], true, "{case}: {good}");
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/serve").join(name)
}

fn check_python(environment: &str, name: &str, modes: &[Option<&str>]) {
    let python = home(environment).join("bin/python");
    check(modes, || {
        let mut command = Command::new(&python);
        command.arg(script(name));
        command
    });
}

fn check_typescript(name: &str, modes: &[Option<&str>]) {
    // What a script imports is searched beside it.
    let beside = tempfile::tempdir().unwrap();
    let copy = beside.path().join(name);
    fs::copy(script(name), &copy).unwrap();
    let modules = home("ts-clients").join("node_modules");
    std::os::unix::fs::symlink(modules, beside.path().join("node_modules")).unwrap();
    check(modes, || {
        let mut command = Command::new("node");
        command.arg(&copy);
        command
    });
}

#[test]
fn the_python_sdk_before_2() {
    check_python("mcp-1.30.0", "python_v1.py", ONE_ERA);
}

#[test]
fn the_python_sdk() {
    check_python("mcp-2.3.0", "python_v2.py", BOTH_ERAS);
}

#[test]
fn the_typescript_sdk_before_2() {
    check_typescript("typescript_v1.mjs", ONE_ERA);
}

#[test]
fn the_typescript_sdk() {
    check_typescript("typescript_v2.mjs", BOTH_ERAS);
}

#[test]
fn the_inspector() {
    let inspector = home("inspector");
    let ask = |dir: &Path, words: &[&str]| {
        let mut command = Command::new(inspector.join("node_modules/.bin/node"));
        command
            .arg(inspector.join("node_modules/.bin/mcp-inspector"))
            .args(["--cli", env!("CARGO_BIN_EXE_mcp-loadtest")])
            .args(flags(dir))
            .args(words)
            .env("HOME", dir);
        output(command)
    };
    let dir = workplace();
    let listed = ask(dir.path(), &["--method", "tools/list"]);
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    assert!(names.eq(TOOLS.map(|name| json!(name)).iter()), "{listed:#}");
    let called = ask(
        dir.path(),
        &["--method", "tools/call", "--tool-name", "explain", "--tool-arg", "topic=deadlock_probe"],
    );
    assert_eq!(called["structuredContent"]["topic"], "deadlock_probe", "{called:#}");
}
