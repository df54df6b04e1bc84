//! What was given to us in confidence is in no file and on no screen.

use std::path::{Path, PathBuf};

use crate::{
    harness::{Ran, mock, run_in},
    process::listening_mock,
};

/// Found in nothing else.
pub(crate) const CANARY: &str = "c4n4ry-5ecret-9f";

/// A little more than half of the secret, as it is and as others would write it: in base64 at all places of
/// a group, and in URLs. No cut may leave so much of it.
const FORMS_OF_CANARY: [&str; 6] = [
    "c4n4ry-5e",
    "YzRuNHJ5LTVl",
    "M0bjRyeS01ZW",
    "jNG40cnktNWV",
    "c4n4ry%2D5e",
    "%63%34%6E%34%72%79%2D%35%65",
];

pub(super) fn files_in(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

/// Whether a text tells the secret in any form.
pub(crate) fn tells(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    FORMS_OF_CANARY.iter().any(|form| text.contains(&form.to_ascii_lowercase()))
}

/// Runs a command, which must keep the secret from the screen and from all files of the directory.
pub(super) fn assert_kept(dir: &Path, args: &[&str]) -> Ran {
    let ran = run_in(dir, args);
    assert!(ran.code <= 2, "{args:?}: {}", ran.err);
    assert!(!tells(&ran.out) && !tells(&ran.err), "{args:?}: {}{}", ran.out, ran.err);
    assert_files_keep(dir, &format!("{args:?}"));
    ran
}

pub(super) fn assert_files_keep(dir: &Path, after: &str) {
    for file in files_in(dir) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!tells(&text), "{} tells a secret after {after}", file.display());
    }
}

pub(super) const LOAD: &[&str] =
    &["run", "--tool", "echo", "--duration", "300ms", "--trace", "full"];
pub(super) const FORMS: &[&str] = &["--format", "html", "--format", "markdown", "--format", "json"];

#[test]
fn secrets_in_headers_and_addresses_are_told_to_the_server_only() {
    let dir = tempfile::tempdir().unwrap();
    let server = listening_mock("mock-http-server.py", &[]);
    let header = format!("Authorization: Bearer {CANARY}");
    let cookie = format!("X-Session: {CANARY}");
    let headers = ["--url", &server.url, "--header", &header, "--header", &cookie];
    assert_kept(dir.path(), &[LOAD, FORMS, &headers].concat());
    assert_kept(dir.path(), &[&["probe", "--only", "unknown_tool"], &headers[..]].concat());
    let with_user = server.url.replace("http://", &format!("http://me:{CANARY}@"));
    let with_query = format!("{}?api_key={CANARY}", server.url);
    for url in [&with_user, &with_query] {
        assert_kept(dir.path(), &[LOAD, FORMS, &["--url", url]].concat());
        assert_kept(dir.path(), &["probe", "--only", "unknown_tool", "--url", url]);
    }
    // Nobody is there: the address is told, the rest is not.
    assert_kept(dir.path(), &["probe", "--url", &format!("http://me:{CANARY}@127.0.0.1:1/")]);
}

#[test]
fn secrets_in_variables_are_told_to_the_server_only() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let variables: Vec<String> = ["API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "AUTH"]
        .iter()
        .map(|name| format!("{name}={CANARY}"))
        .collect();
    let mut args = [LOAD, FORMS, &["-s", &server]].concat();
    for variable in &variables {
        args.extend(["--env", variable]);
    }
    assert_kept(dir.path(), &args);
}

#[test]
fn secrets_of_a_clients_file_are_told_to_the_server_only() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let command = mock("mock-normal.py");
    let script = command.strip_prefix("python3 ").unwrap();
    let entry = serde_json::json!({"mcpServers": {"it": {
        "command": "python3", "args": [script], "env": {"API_TOKEN": CANARY}
    }}});
    let file = elsewhere.path().join("mcp.json");
    std::fs::write(&file, entry.to_string()).unwrap();
    let named = ["--name", "it", "--mcp-config", file.to_str().unwrap()];
    assert_kept(dir.path(), &[LOAD, FORMS, &named].concat());
}
