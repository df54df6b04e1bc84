//! The binary as a process: signals, TLS roots from the environment, closed pipes.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Read as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::mock;

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-loadtest"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command of ours that listens and says where.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    pub(crate) fn start<A: AsRef<OsStr>>(args: &[A]) -> Self {
        let mut child = binary().args(args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        Self { child, url }
    }

    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "what it wrote is complete");
    }
}

/// A test that fails must leave nothing behind.
impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

/// An HTTP mock that is gone when this is dropped.
pub(crate) struct HttpMock {
    child: Child,
    pub(crate) url: String,
    pub(crate) pid: u32,
}

impl Drop for HttpMock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http_mock(env: &[(&str, &str)]) -> HttpMock {
    listening_mock("mock-http-server.py", env)
}

pub(crate) fn listening_mock(name: &str, env: &[(&str, &str)]) -> HttpMock {
    let mut child = Command::new("python3")
        .arg(fixture(name))
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
    HttpMock { pid: child.id(), child, url }
}

#[test]
fn https_is_trusted_by_the_roots_that_the_environment_names() {
    let pem = fixture("tls/localhost.pem");
    let mock = http_mock(&[("MOCK_TLS_PEM", pem.to_str().unwrap())]);
    assert!(mock.url.starts_with("https://"));
    let trusting = binary()
        .args(["probe", "--url", &mock.url, "--json"])
        .env("SSL_CERT_FILE", fixture("tls/ca.pem"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&trusting.stderr);
    assert_eq!(trusting.status.code(), Some(0), "{said}");
    let distrusting = binary()
        .args(["probe", "--url", &mock.url])
        .env("SSL_CERT_FILE", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&distrusting.stderr);
    assert_eq!(distrusting.status.code(), Some(2), "{said}");
    assert!(said.contains("certificate"), "{said}");
}

#[test]
fn a_further_ca_is_trusted_over_every_encrypted_transport() {
    let pem = fixture("tls/localhost.pem");
    let env = [("MOCK_TLS_PEM", pem.to_str().unwrap())];
    for (name, transport, scheme) in [
        ("mock-http-server.py", "http", "https://"),
        ("mock-sse-server.py", "sse", "https://"),
        ("mock-ws-server.py", "ws", "wss://"),
    ] {
        let mock = listening_mock(name, &env);
        assert!(mock.url.starts_with(scheme), "{}", mock.url);
        let probe =
            ["probe", "--transport", transport, "--url", &mock.url, "--only", "unknown_tool"];
        let trusting = binary().args(probe).arg("--ca-cert").arg(fixture("tls/ca.pem")).output();
        let trusting = trusting.unwrap();
        let said = String::from_utf8_lossy(&trusting.stderr);
        assert_eq!(trusting.status.code(), Some(0), "{transport}: {said}");
        let distrusting = binary().args(probe).output().unwrap();
        let said = String::from_utf8_lossy(&distrusting.stderr);
        assert_eq!(distrusting.status.code(), Some(2), "{transport}: {said}");
        assert!(said.contains("certificate"), "{transport}: {said}");
    }
}

/// Whoever measures a server does not want to measure a proxy.
#[test]
fn proxies_are_never_used() {
    for (name, transport) in [
        ("mock-http-server.py", "http"),
        ("mock-sse-server.py", "sse"),
        ("mock-ws-server.py", "ws"),
    ] {
        let mock = listening_mock(name, &[]);
        let nobody = "http://127.0.0.1:1";
        let ran = binary()
            .args(["probe", "--transport", transport, "--url", &mock.url])
            .args(["--only", "unknown_tool"])
            .envs([("HTTP_PROXY", nobody), ("http_proxy", nobody), ("ALL_PROXY", nobody)])
            .envs([("HTTPS_PROXY", nobody), ("https_proxy", nobody), ("NO_PROXY", "")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{transport}: {said}");
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = binary()
        .args([
            "run",
            "-s",
            &mock("mock-normal.py"),
            "--tool",
            "echo",
            "--duration",
            "600s",
            "--json",
            "-o",
        ])
        .arg(dir.path())
        .spawn()
        .unwrap();
    wait_for_calls(dir.path());
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{out}");
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["exit_code"], 130);
    assert!(summary["ok"].as_u64().unwrap() > 0, "{summary:#}");
}

/// Until the trace shows calls; a run that never makes one ends by the test's own limit.
pub(crate) fn wait_for_calls(parent: &std::path::Path) {
    loop {
        let run = std::fs::read_dir(parent).unwrap().next();
        let trace = run.map(|entry| entry.unwrap().path().join("trace.jsonl"));
        let text = trace.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        if text.contains("\"phase\":\"load\"") {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut child = binary().args(["schema", "config"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && said.is_empty(), "{said}");
}

#[test]
fn a_session_that_the_server_forgets_is_begun_anew() {
    let mock = http_mock(&[("MOCK_SESSION_CALLS", "20")]);
    let dir = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "--url",
        &mock.url,
        "--tool",
        "echo",
        "--concurrent",
        "1",
        "--duration",
        "2s",
        "--json",
        "-o",
    ];
    let ran = binary().args(run).arg(dir.path()).output().unwrap();
    let summary: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(summary["ok"].as_u64().unwrap() > 40, "{summary:#}");
    assert_eq!(ran.status.code(), Some(1), "{summary:#}");
    assert!(summary["findings"].to_string().contains("disconnected"), "{summary:#}");
}
