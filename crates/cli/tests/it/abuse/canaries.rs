//! Servers that tell whatever they were given in confidence: in results, errors, names, descriptions, on stderr and
//! between messages, as it is, in base64 and as URLs write it. Nothing of it may come out of us.

use std::{
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
};

use serde_json::json;

use super::{
    file_of_run,
    secrets::{CANARY, FORMS, LOAD, assert_files_keep, assert_kept, files_in, tells},
};
use crate::{
    harness::{mock, run_in},
    process::{binary, fixture, listening_mock},
};

const TELLER: &str = "hostile-secrets.py";

/// Runs every command that speaks with a server, and those that read what it left.
fn try_all(dir: &Path, server: &[&str]) {
    let files = ["--junit", "junit.xml", "--code-quality", "quality.json", "--github"];
    let kept = |command: &[&str]| assert_kept(dir, &[command, server].concat());
    kept(&[LOAD, FORMS, &files].concat());
    let told = kept(&[LOAD, &["--format", "terminal"]].concat());
    assert!(told.out.contains("***"), "the server told it, and we have it masked: {}", told.out);
    kept(&[LOAD, &["--json"]].concat());
    let checks = "unknown_tool,unknown_method,leak_scan,stdout_noise,wrong_type,result_shape";
    kept(&[
        "probe",
        "--only",
        checks,
        "--sarif",
        "probe.sarif",
        "--junit",
        "probe.xml",
        "--github",
    ]);
    let told = kept(&["probe", "--only", checks, "--json"]);
    assert!(told.out.contains("***"), "{}", told.out);
    kept(&["negative-path", "--tool", "echo", "--json"]);
    kept(&["deadlock-probe", "--tool", "echo", "--concurrent", "4", "--steady-calls", "2"]);
    kept(&["doctor", "--only", "server"]);
    kept(&["doctor", "--only", "server", "--json"]);
    let runs: Vec<_> = files_in(&dir.join("runs"))
        .into_iter()
        .filter(|file| file.ends_with("summary.json"))
        .map(|file| file.parent().unwrap().display().to_string())
        .collect();
    for format in ["terminal", "markdown", "html", "json", "openmetrics"] {
        assert_kept(dir, &["report", &runs[0], "--format", format]);
    }
    assert_kept(dir, &["report", &runs[0], "--from-trace"]);
    assert_kept(dir, &["compare", &runs[0], &runs[1], "--html", "compare.html"]);
    assert_kept(dir, &["runs"]);
}

/// The short way, for another place to give the same secret.
fn try_some(dir: &Path, server: &[&str]) {
    assert_kept(dir, &[LOAD, FORMS, server].concat());
    let told = assert_kept(dir, &[&["probe", "--only", "unknown_tool", "--json"], server].concat());
    assert!(told.out.contains("***"), "the server told it, and we have it masked: {}", told.out);
}

#[test]
fn a_server_that_tells_its_variables_tells_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let (server, variable) = (mock(TELLER), format!("API_TOKEN={CANARY}"));
    try_all(dir.path(), &["-s", &server, "--env", &variable]);
    let log = file_of_run(dir.path(), "server.stderr.log");
    assert!(log.contains("asked for tools/list ***"), "{log}");
    assert!(file_of_run(dir.path(), "server.stdout.log").contains("listing ***"));
    let address = format!("DATABASE_URL=postgres://me:{CANARY}@db/x");
    try_some(dir.path(), &["-s", &server, "--env", &address]);
}

#[test]
fn a_server_that_tells_its_arguments_tells_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let teller = mock(TELLER);
    try_some(dir.path(), &["-s", &format!("{teller} --token {CANARY}")]);
    assert!(file_of_run(dir.path(), "config.toml").contains(r#""--token", "***""#));
    for arguments in [
        format!("--api-key={CANARY}"),
        format!("--header 'Authorization: Bearer {CANARY}'"),
        format!("https://me:{CANARY}@host/mcp"),
        format!("--to 'https://host/mcp?access_token={CANARY}&page=2'"),
        format!("-e API_KEY={CANARY}"),
    ] {
        try_some(dir.path(), &["-s", &format!("{teller} {arguments}")]);
    }
}

#[test]
fn a_server_that_tells_headers_and_queries_tells_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let server = listening_mock("hostile-secrets-http.py", &[]);
    let header = format!("Authorization: Bearer {CANARY}");
    try_all(dir.path(), &["--url", &server.url, "--header", &header]);
    let cookie = format!("Cookie: theme=dark; session={CANARY}");
    try_some(dir.path(), &["--url", &server.url, "--header", &cookie]);
    try_some(dir.path(), &["--url", &format!("{}?api_key={CANARY}&page=2", server.url)]);
    // What is wrong is told without what is secret.
    for flags in [["--header", CANARY], ["--env", CANARY], ["--url", &format!("me:{CANARY}@h/")]] {
        let ran = assert_kept(dir.path(), &[&["probe", "-s", "x"], &flags[..]].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
    }
}

#[test]
fn secrets_of_a_clients_file_are_kept_when_the_server_tells_them() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let server = listening_mock("hostile-secrets-http.py", &[]);
    let script = fixture(TELLER).canonicalize().unwrap();
    let file = elsewhere.path().join("mcp.json");
    let entries = json!({"mcpServers": {
        "pipes": {"command": "python3", "args": [script], "env": {"API_TOKEN": CANARY}},
        "http": {"type": "http", "url": server.url, "headers": {"X-Api-Key": CANARY}},
        "arguments": {"command": "python3", "args": [script, "--password", CANARY]},
    }});
    std::fs::write(&file, entries.to_string()).unwrap();
    for name in ["pipes", "http", "arguments"] {
        try_some(dir.path(), &["--name", name, "--mcp-config", file.to_str().unwrap()]);
    }
}

#[test]
fn suites_gateways_and_proxies_keep_what_they_hear() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let script = fixture(TELLER).canonicalize().unwrap();
    let script = script.to_str().unwrap();
    let suite = elsewhere.path().join("suite.json");
    let test = |name: &str, matcher: serde_json::Value| {
        json!({"name": name, "tool": "echo", "args": {"text": "x"},
               "expect": [{"target": "result.content[0].text", "matcher": matcher}]})
    };
    let wrong = json!({"exact": "something else"});
    let mut tests = ["one", "two", "three", "four"].map(|name| test(name, wrong.clone())).to_vec();
    tests.push(test("kept", json!("snapshot")));
    let document = json!({
        "servers": {"it": {"command": ["python3", script], "env": {"API_TOKEN": CANARY}}},
        "tools": tests,
    });
    std::fs::write(&suite, document.to_string()).unwrap();
    let files = ["--junit", "suite.xml", "--html", "suite.html", "--markdown", "suite.md"];
    let path = suite.to_str().unwrap();
    let told = assert_kept(dir.path(), &[&["test", path, "--json"], &files[..]].concat());
    assert!(told.out.contains("***"), "{}", told.out);
    assert_kept(dir.path(), &["test", path, "--github"]);
    assert_kept(dir.path(), &["test", path, "--update"]);
    let snapshots = std::fs::read_to_string(elsewhere.path().join("suite.json.snap.json")).unwrap();
    assert!(snapshots.contains("***") && !tells(&snapshots), "{snapshots}");

    let variable = format!("API_TOKEN={CANARY}");
    let gateway =
        ["gateway", "--env", &variable, "--patience", "2s", "--", "python3", script, "{upstream}"];
    assert_kept(dir.path(), &[&gateway[..], &["--token", CANARY]].concat());

    let ran = proxied(dir.path(), script);
    assert!(tells(&String::from_utf8_lossy(&ran.stdout)), "it goes on to the client as it came");
    assert!(!tells(&String::from_utf8_lossy(&ran.stderr)));
    assert_files_keep(dir.path(), "proxy");
    let rows = std::fs::read_to_string(dir.path().join("audit.jsonl")).unwrap();
    assert!(rows.contains("***"), "{rows}");
}

/// A proxy before the teller, with a secret in our own environment, that writes down what passes.
fn proxied(dir: &Path, script: &str) -> Output {
    let mut proxy = binary()
        .args(["proxy", "--audit", "audit.jsonl", "--", "python3", script])
        .env("API_TOKEN", CANARY)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = proxy.stdin.take().unwrap();
    let about = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about});
    writeln!(stdin, "{hello}").unwrap();
    for id in 1..=6 {
        let params = json!({"name": "echo", "arguments": {"text": "x"}});
        writeln!(
            stdin,
            "{}",
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        )
        .unwrap();
    }
    drop(stdin);
    proxy.wait_with_output().unwrap()
}

#[test]
fn a_masked_argument_or_address_is_refused_when_a_run_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let server = listening_mock("mock-http-server.py", &[]);
    let (query, arguments) =
        (format!("{}?key={CANARY}", server.url), format!("{} --token {CANARY}", mock(TELLER)));
    let ways =
        [(["--url", &query], "[server] url", "--url"), (["-s", &arguments], "[server] args", "-s")];
    for (way, place, hint) in ways {
        let here = tempfile::tempdir_in(dir.path()).unwrap();
        run_in(here.path(), &[LOAD, &way].concat());
        let run =
            std::fs::read_dir(here.path().join("runs")).unwrap().next().unwrap().unwrap().path();
        let config = run.join("config.toml").display().to_string();
        let again = run_in(here.path(), &["run", "--config", &config]);
        assert_eq!(again.code, 2, "{}", again.out);
        assert!(again.err.contains(place) && again.err.contains(hint), "{}", again.err);
        let mended =
            run_in(here.path(), &[&["run", "--config", &config, "--json"], &way[..]].concat());
        assert!(mended.code <= 1, "{}", mended.err);
    }
}

/// Words and figures that are found in everything are no secrets, whatever they are called.
#[test]
fn without_a_secret_nothing_is_masked() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let mut args = [LOAD, FORMS, &["-s", &server]].concat();
    for variable in
        ["AUTH=true", "LOG_LEVEL=info", "API_KEY=1234", "TOKEN=content", "SESSION=300000"]
    {
        args.extend(["--env", variable]);
    }
    let ran = run_in(dir.path(), &args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("***"), "{}", ran.out);
    for file in files_in(dir.path()).iter().filter(|file| !file.ends_with("config.toml")) {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        assert!(!text.contains("***"), "{}", file.display());
    }
}
