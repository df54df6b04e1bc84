//! Servers in a line of shell or Python, and ways to see what became of them.

use std::time::Duration;

use mcp_loadtest_wire::process::{Launch, RunState, ServerProcess, inspect};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::Instant;

/// Far more than anything here takes. Servers end by themselves after a minute at the latest, so
/// that a failed test leaves nothing behind for long.
pub(super) const DEADLINE: Duration = Duration::from_secs(30);

/// Leaves its family, its group and its session, and sleeps.
pub(super) const DAEMON: &str = "
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
";

/// Moves on to a new process every few milliseconds, in a session of its own: hard to hit. Faster
/// would be harder, but leaves more dead than some containers' first process can bury.
#[cfg(target_os = "linux")]
pub(super) const HOPPER: &str = "
import os, time
end = time.monotonic() + 60
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        time.sleep(0.005)
    os._exit(0)
";

pub(super) fn sh(script: &str) -> Launch {
    let mut launch = Launch::new("sh");
    launch.args = vec!["-c".into(), script.into()];
    launch
}

pub(super) fn python(script: &str) -> Launch {
    let mut launch = Launch::new("python3");
    launch.args = vec!["-c".into(), script.into()];
    launch
}

pub(super) fn spawn(launch: &Launch) -> ServerProcess {
    let server = ServerProcess::spawn(launch).expect("the server starts");
    assert_eq!(server.warnings(), [""; 0]);
    server
}

/// Starts a server and reads its first line, so that it is known to have come so far.
pub(super) async fn spawn_ready(launch: &Launch) -> (ServerProcess, String) {
    let mut server = spawn(launch);
    let stdout = server.take_stdout().expect("nobody took it");
    let mut lines = BufReader::new(stdout).lines();
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await;
    let line = line.expect("in time").expect("readable");
    (server, line.expect("a line"))
}

/// Waits for a condition that no event tells of.
pub(super) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs; what is left of one that nobody waited for does not count.
pub(super) fn alive(pid: u32) -> bool {
    inspect(pid).is_some_and(|tree| tree.state != RunState::Zombie)
}

pub(super) fn number(line: &str) -> u32 {
    line.trim().parse().expect("a number")
}

/// The processes that have `text` in their environment.
#[cfg(target_os = "linux")]
pub(super) fn carriers(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(text.len()).any(|part| part == text.as_bytes())
    };
    pids.filter(carries).collect()
}
