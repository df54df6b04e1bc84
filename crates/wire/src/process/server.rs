//! A running server: its pipes, its end, and what it said on stderr.

use std::path::Path;
use std::time::Duration;

use mcp_loadtest_core::secrets::{Secrets, Veil};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::capture::{self, Capture};
use super::crowd::Lookout;
use super::exit::ExitInfo;
use super::fence::{self, Fence};
use super::stderr::Drain;

/// How long the last words of a server that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// `Drop` looks, kills and pauses at most so often: three seconds, for what no signal ends.
const DROP_PASSES: u32 = 600;
const DROP_PAUSE: Duration = Duration::from_millis(5);

/// A process started by us, with everything it started in turn.
///
/// However it goes out of scope, nothing of it is left: [`stop`](Self::stop) is the friendly way,
/// `Drop` kills, and should this whole program be killed, a guard process does the same.
///
/// ```
/// # #[cfg(unix)] {
/// use mcp_loadtest_wire::process::{Launch, Patience, ServerProcess, StopStep};
///
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// runtime.block_on(async {
///     let mut server = ServerProcess::spawn(&Launch::new("cat")).unwrap();
///     drop(server.take_stdin());
///     let report = server.stop(Patience::default()).await;
///     assert_eq!(report.step, StopStep::Eof);
///     assert!(report.strays.is_empty());
/// });
/// # }
/// ```
pub struct ServerProcess {
    pub(super) child: Child,
    /// Not left in `child`, whose `wait` would close it: to wait is not to ask to end.
    stdin: Option<ChildStdin>,
    pub(super) fence: Fence,
    pub(super) stderr: Drain,
    pub(super) exit: Option<ExitInfo>,
    pub(super) cleared: Cleared,
    stdout_trouble: capture::Trouble,
    secrets: Secrets,
    lookout: Option<Lookout>,
    pid: u32,
}

/// Whether everything the server started is known to be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleared {
    No,
    Yes,
}

impl ServerProcess {
    pub(super) fn new(mut child: Child, fence: Fence, stderr: Drain, secrets: Secrets) -> Self {
        ServerProcess {
            pid: child.id().unwrap_or(0),
            stdin: child.stdin.take(),
            lookout: Lookout::over(fence.twin()),
            child,
            fence,
            stderr,
            exit: None,
            cleared: Cleared::No,
            stdout_trouble: capture::Trouble::default(),
            secrets,
        }
    }

    /// The number of the process. On Unix it is also that of its process group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The way to the server; `None` if it was taken. Dropping it is how a server is asked to end.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The way from the server; `None` if it was taken.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Where what it writes to stdout is kept by whoever reads it.
    pub(crate) fn capture(&self, log: Option<&Path>) -> Capture {
        Capture::new(log, Veil::new(self.secrets.clone()), self.stdout_trouble.clone())
    }

    /// How the server ended, if it has. Does not wait.
    pub fn exit(&mut self) -> Option<ExitInfo> {
        if self.exit.is_none() {
            match self.child.try_wait() {
                Ok(Some(status)) => self.note_exit(status.into()),
                Ok(None) => {}
                Err(_) => self.note_exit(ExitInfo::UNKNOWN),
            }
        }
        self.exit
    }

    /// Waits until the server has ended and its last words have arrived.
    pub async fn wait(&mut self) -> ExitInfo {
        let exit = self.ended().await;
        self.stderr.finish(LAST_WORDS).await;
        exit
    }

    /// Waits until the server has ended.
    pub(super) async fn ended(&mut self) -> ExitInfo {
        if let Some(exit) = self.exit {
            return exit;
        }
        let status = self.child.wait().await;
        self.note_exit(status.map_or(ExitInfo::UNKNOWN, ExitInfo::from));
        self.exit.unwrap_or(ExitInfo::UNKNOWN)
    }

    /// The last four kilobytes of the server's stderr. Raw: whoever shows it must make it safe.
    pub fn stderr_tail(&self) -> String {
        self.stderr.tail()
    }

    /// What did not work but was no reason to stop: no guard process, an incomplete log.
    pub fn warnings(&self) -> Vec<String> {
        let guard = self.fence.warning().map(str::to_owned);
        let logs = self.stderr.trouble().into_iter().chain(self.stdout_trouble.get().cloned());
        guard.into_iter().chain(logs).collect()
    }

    /// Kills the server and its group at once; the sweep is for the rest.
    pub(super) fn kill(&mut self) {
        self.fence.kill();
        // In case there is no fence, as on a Windows that refused a job.
        let _ = self.child.start_kill();
    }

    fn note_exit(&mut self, exit: ExitInfo) {
        let crowd = self.lookout.take().and_then(|lookout| lookout.crowd());
        self.exit = Some(ExitInfo { crowd, ..exit });
        self.fence.leader_reaped();
    }
}

impl Drop for ServerProcess {
    /// Kills the server and all it started, and waits for their end: there may be no later.
    fn drop(&mut self) {
        if self.cleared == Cleared::Yes {
            return;
        }
        // The first look comes before the first blow: it sees the family while it is together.
        let mut left = self.fence.look(fence::ticket());
        self.kill();
        for _ in 0..DROP_PASSES {
            if self.exit().is_some() && left == 0 {
                return;
            }
            self.fence.kill_seen();
            pause();
            left = self.fence.look(fence::ticket());
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "in `Drop` there may be no runtime left to await anything in"
)]
fn pause() {
    std::thread::sleep(DROP_PAUSE);
}
