//! The official Python client against the mock: a peer that we did not write.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{process::Command, time::timeout};

use super::support::start;

/// The version whose client speaks both eras.
const ENVIRONMENT: &str = "mcp-2.3.0";
const NAME: &str = "mcp-loadtest-mock";
/// Importing the SDK takes seconds where the disk is slow or busy.
const LIMIT: Duration = Duration::from_secs(120);

/// The interpreter of the environment. Without it the test fails and says what to run.
async fn python() -> PathBuf {
    let testenv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let told = Command::new("python3").arg(&testenv).args(["path", ENVIRONMENT]).output().await;
    let told = told.expect("`python3` is installed");
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "cannot test with the official client: {problem}");
    PathBuf::from(String::from_utf8_lossy(&told.stdout).trim()).join("bin/python")
}

async fn visit(url: &str, mode: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/python_client.py");
    let client = Command::new(python().await)
        .arg(script)
        .args([url, mode])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, client).await.expect("the client ends in time").expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "mode {mode}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// A client that was told the revision asks nobody, and so does not know the server's name.
async fn check(mode: &str, version: &str, server: Option<&str>) {
    let mock = start("none").await;
    let report = visit(mock.url(), mode).await;
    let expected = json!({
        "version": version,
        "server": server,
        "tools": "echo",
        "read_only": true,
        "text": { "text": "grüße" },
        "errors": [false, true],
    });
    assert_eq!(report, expected, "mode {mode}");
}

#[tokio::test]
async fn the_official_client_shakes_hands() {
    check("legacy", "2025-11-25", Some(NAME)).await;
}

#[tokio::test]
async fn the_official_client_needs_no_handshake() {
    check("2026-07-28", "2026-07-28", None).await;
}

#[tokio::test]
async fn the_official_client_finds_the_modern_era() {
    check("auto", "2026-07-28", Some(NAME)).await;
}
