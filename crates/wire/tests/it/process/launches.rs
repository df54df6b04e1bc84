//! What a server is started with, how it ends, and why it does not start.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use mcp_loadtest_core::hint::Hint;
use mcp_loadtest_core::server::InheritEnv;
use mcp_loadtest_wire::process::{Launch, MARKER_VARIABLE, ServerProcess, SpawnError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::*;

async fn output(launch: &Launch) -> String {
    let mut server = spawn(launch);
    let mut text = String::new();
    let mut stdout = server.take_stdout().expect("nobody took it");
    stdout.read_to_string(&mut text).await.expect("text");
    text
}

async fn environment(launch: &Launch) -> BTreeMap<String, String> {
    let text = output(launch).await;
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.into(), value.into())).collect()
}

#[tokio::test]
async fn only_harmless_variables_are_inherited() {
    // Cargo and nextest both set this one for us, so it stands for any secret.
    const OURS: &str = "CARGO_MANIFEST_DIR";
    let mut launch = Launch::new("env");
    launch.env.insert("CONFIGURED".into(), "yes".into());
    let seen = environment(&launch).await;
    assert!(seen.contains_key("PATH") && seen.contains_key(MARKER_VARIABLE));
    assert_eq!(seen["CONFIGURED"], "yes");
    assert!(!seen.contains_key(OURS));
    launch.inherit_env = InheritEnv::All;
    assert!(environment(&launch).await.contains_key(OURS));
}

#[tokio::test]
async fn words_go_in_and_come_out() {
    let mut server = spawn(&sh("cat"));
    let mut stdin = server.take_stdin().unwrap();
    assert!(server.take_stdin().is_none());
    stdin.write_all(b"hello").await.unwrap();
    drop(stdin);
    let mut text = String::new();
    server.take_stdout().unwrap().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "hello");
    assert!(server.wait().await.success());
}

#[tokio::test]
async fn waiting_does_not_close_stdin() {
    let mut server = spawn(&sh("cat"));
    let waited = tokio::time::timeout(std::time::Duration::from_millis(100), server.wait());
    assert!(waited.await.is_err());
    server.take_stdin().unwrap().write_all(b"still open").await.unwrap();
    assert!(server.wait().await.success());
}

#[tokio::test]
async fn a_server_runs_where_it_was_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let mut launch = sh("pwd");
    launch.working_dir = Some(path.clone());
    assert_eq!(output(&launch).await.trim(), path.to_str().unwrap());
}

#[tokio::test]
async fn codes_and_signals_are_told_apart() {
    for (script, expected) in [
        ("exit 0", "exit code 0"),
        ("exit 3", "exit code 3"),
        ("kill -9 $$", "signal 9 (SIGKILL)"),
        ("kill -SEGV $$", "signal 11 (SIGSEGV)"),
    ] {
        let mut server = spawn(&sh(script));
        assert_eq!(server.wait().await.to_string(), expected);
        assert_eq!(server.exit().unwrap().to_string(), expected);
    }
}

#[tokio::test]
async fn the_last_words_are_there_when_the_server_has_ended() {
    let mut server = spawn(&sh("echo 'no such module' >&2; exit 1"));
    server.wait().await;
    assert_eq!(server.stderr_tail(), "no such module\n");
}

#[test]
fn without_a_runtime_there_is_an_error_not_a_panic() {
    let error = ServerProcess::spawn(&Launch::new("cat")).err().unwrap();
    assert!(matches!(error, SpawnError::NoRuntime));
}

/// What a person is told: the error, its causes, and the hint.
fn told(launch: &Launch) -> String {
    let error = ServerProcess::spawn(launch).err().expect("it does not start");
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    let hint = error.hint().unwrap_or_default();
    format!("{error}{}; {hint}", cause.unwrap_or_default())
}

#[tokio::test]
async fn each_reason_not_to_start_has_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    file("plain", "text", 0o644);
    file("lost", "#!/no/such/interpreter -x\n", 0o755);
    file("garbage", "\x7fno program", 0o755);
    let at =
        |command: &str| Launch { working_dir: Some(dir.path().to_owned()), ..Launch::new(command) };
    for (launch, expected) in [
        (at("no-such-command"), "no program `no-such-command` in PATH ("),
        (at("plain"), "write `./plain` for the file in the working directory"),
        (at("./missing"), "missing`; check the path"),
        (at("."), "no program `.` in PATH"),
        (at("./"), "is a directory"),
        (at("./plain"), "plain` is not executable; run `chmod +x"),
        (at("./lost"), "install `/no/such/interpreter -x`, which its `#!` line names"),
        (at("./garbage"), "a script needs a `#!` line"),
        (at(""), "the server command is empty"),
    ] {
        let told = told(&launch);
        assert!(told.contains(expected), "{expected:?} is not in {told:?}");
    }
    let nowhere = Launch { working_dir: Some(dir.path().join("nowhere")), ..Launch::new("cat") };
    assert!(told(&nowhere).contains("nowhere` is not there"));
    let unwritable =
        Launch { stderr_log: Some(dir.path().join("nowhere/stderr.log")), ..Launch::new("cat") };
    assert!(told(&unwritable).contains("cannot be opened"));
    let mut nul = Launch::new("cat");
    nul.args = vec!["a\0b".into()];
    assert!(told(&nul).contains("remove NUL"));
}
