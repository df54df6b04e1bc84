//! A server that talks too much on stderr.

use std::process::{Command, Stdio};

use mcp_loadtest_wire::process::{Patience, TeeStderr};

use super::support::*;

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn a_flood_is_drained_and_the_log_stays_small() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("stderr.log");
    let mut launch = sh("dd if=/dev/zero bs=65536 count=4096 >&2 2>/dev/null; echo the end >&2");
    launch.stderr_log = Some(log.clone());
    let mut server = spawn(&launch);
    let exit = tokio::time::timeout(DEADLINE * 4, server.wait()).await;
    assert!(exit.unwrap().success());
    assert!(server.stderr_tail().ends_with("the end\n"));
    assert!(server.stderr_tail().len() <= 4096);
    server.stop(Patience::default()).await;
    let text = std::fs::read(&log).unwrap();
    assert!((64 * MIB..66 * MIB).contains(&(text.len() as u64)));
    assert!(text.ends_with(b"the end\n"));
}

#[tokio::test]
async fn the_log_is_ours_alone_and_grows_from_server_to_server() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("stderr.log");
    for word in ["one", "two"] {
        let mut launch = sh(&format!("echo {word} >&2"));
        launch.stderr_log = Some(log.clone());
        spawn(&launch).wait().await;
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "one\ntwo\n");
    let mode = std::os::unix::fs::PermissionsExt::mode(&log.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
#[ignore = "a role in `what_is_shown_is_made_safe`"]
async fn role_of_a_showing_parent() {
    let mut launch = sh(r"printf '::error::x\n\033[2Jcleared' >&2");
    launch.tee_stderr = TeeStderr::On;
    let server = spawn(&launch);
    server.stop(Patience::default()).await;
}

#[test]
fn what_is_shown_is_made_safe() {
    let role = "process::stderr::role_of_a_showing_parent";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", role, "--ignored", "--nocapture"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let safe = mcp_loadtest_core::display::visible("::error::x", 80);
    assert!(text.contains(&format!("server: {safe}\n")), "{text}");
    assert!(text.contains("server: \\x1b[2Jcleared\n"), "{text}");
}
