//! A running server: its pipes, its end, and what it said on stderr.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_loadtest_core::hint::Hint;
use thiserror::Error;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::exit::ExitInfo;
use super::fence::{self, Fence};
use super::launch::{Launch, TeeStderr};
use super::lookup::{LookupError, Places};
use super::stderr::{Drain, Log};
use super::tee::Tee;

/// How long the last words of a server that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// `Drop` looks, kills and pauses at most so often: three seconds, for what no signal ends.
const DROP_PASSES: u32 = 600;
const DROP_PAUSE: Duration = Duration::from_millis(5);

/// Why a server did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// [`ServerProcess::spawn`] was called outside a tokio runtime.
    #[error("a server can only be started inside a tokio runtime")]
    NoRuntime,
    /// The command means no program.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The server cannot run where it was told to.
    #[error("the working directory `{}` is not there", path.display())]
    WorkingDir {
        /// The directory, made absolute.
        path: PathBuf,
        /// What the system said, if anything.
        #[source]
        source: io::Error,
    },
    /// The log file cannot be written.
    #[error("the stderr log `{}` cannot be opened", path.display())]
    StderrLog {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The system would not start the program.
    #[error("`{}` does not start", path.display())]
    Start {
        /// The program, found.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Hint for SpawnError {
    fn hint(&self) -> Option<String> {
        match self {
            SpawnError::NoRuntime => Some("call it from within `Runtime::block_on`".into()),
            SpawnError::Lookup(error) => error.hint(),
            SpawnError::WorkingDir { .. } => Some("create it, or correct the path".into()),
            SpawnError::StderrLog { .. } => Some("check that its directory can be written".into()),
            SpawnError::Start { path, source } => start_hint(path, source),
        }
    }
}

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
    pub(super) fence: Fence,
    pub(super) stderr: Drain,
    pub(super) exit: Option<ExitInfo>,
    pub(super) cleared: Cleared,
    pid: u32,
}

/// Whether everything the server started is known to be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cleared {
    No,
    Yes,
}

impl ServerProcess {
    /// Starts a server with piped stdin, stdout and stderr. Its stderr is drained from now on.
    pub fn spawn(launch: &Launch) -> Result<Self, SpawnError> {
        tokio::runtime::Handle::try_current().map_err(|_| SpawnError::NoRuntime)?;
        let directory = working_dir(launch)?;
        let environment = launch.environment(std::env::vars_os());
        let variable = |name: &str| variable(&environment, name);
        let program = Places::new(&variable, directory.clone()).find(&launch.command)?;
        let log = launch.stderr_log.as_deref().map(open_log).transpose()?;

        let mut command = Command::new(&program);
        command.args(&launch.args).current_dir(directory);
        command.env_clear().envs(&environment);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.kill_on_drop(true);
        let mut fence = Fence::around(&mut command);
        let start_error = |source| SpawnError::Start {
            path: program,
            source,
        };
        let mut child = command.spawn().map_err(start_error)?;
        fence.close_behind(&child);

        // Without a thread to spare, the server's words are kept all the same.
        let wanted = launch.tee_stderr == TeeStderr::On;
        let tee = wanted.then(|| Tee::start(io::stderr()).ok()).flatten();
        let pipe = child.stderr.take().expect("stderr was asked to be a pipe");
        Ok(ServerProcess {
            pid: child.id().unwrap_or(0),
            child,
            fence,
            stderr: Drain::start(pipe, log, tee),
            exit: None,
            cleared: Cleared::No,
        })
    }

    /// The number of the process. On Unix it is also that of its process group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The way to the server; `None` if it was taken. Dropping it is how a server is asked to end.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The way from the server; `None` if it was taken.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
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
        // The child's own `wait` closes stdin if it was not taken: to wait is not to ask to end.
        let stdin = self.child.stdin.take();
        let status = self.child.wait().await;
        self.child.stdin = stdin;
        let exit = status.map_or(ExitInfo::UNKNOWN, ExitInfo::from);
        self.note_exit(exit);
        exit
    }

    /// The last four kilobytes of the server's stderr. Raw: whoever shows it must make it safe.
    pub fn stderr_tail(&self) -> String {
        self.stderr.tail()
    }

    /// What did not work but was no reason to stop: no guard process, an incomplete log.
    pub fn warnings(&self) -> Vec<String> {
        let guard = self.fence.warning().map(str::to_owned);
        guard.into_iter().chain(self.stderr.trouble()).collect()
    }

    /// Kills the server and its group at once; the sweep is for the rest.
    pub(super) fn kill(&mut self) {
        self.fence.kill();
        // In case there is no fence, as on a Windows that refused a job.
        let _ = self.child.start_kill();
    }

    fn note_exit(&mut self, exit: ExitInfo) {
        self.exit = Some(exit);
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

/// Where the server runs, as an absolute path.
fn working_dir(launch: &Launch) -> Result<PathBuf, SpawnError> {
    let written = launch.working_dir.as_deref().unwrap_or(Path::new("."));
    let failed = |source| SpawnError::WorkingDir {
        path: written.to_owned(),
        source,
    };
    let path = std::path::absolute(written).map_err(failed)?;
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Ok(path),
        Ok(_) => Err(failed(io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(failed(error)),
    }
}

/// Windows spells `Path` as it likes.
fn variable(environment: &BTreeMap<OsString, OsString>, name: &str) -> Option<OsString> {
    let matches = |(known, _): &(&OsString, &OsString)| {
        if cfg!(windows) {
            known.eq_ignore_ascii_case(name)
        } else {
            known.as_os_str() == name
        }
    };
    environment
        .iter()
        .find(matches)
        .map(|(_, value)| value.clone())
}

fn open_log(path: &Path) -> Result<Log, SpawnError> {
    Log::open(path).map_err(|source| SpawnError::StderrLog {
        path: path.to_owned(),
        source,
    })
}

/// What to try when the system refuses a program that is there.
fn start_hint(path: &Path, source: &io::Error) -> Option<String> {
    #[cfg(unix)]
    if source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) {
        return Some(
            "check that it is a program for this machine; a script needs a `#!` line".into(),
        );
    }
    #[cfg(unix)]
    if source.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) {
        return Some("raise the limit of open files (`ulimit -n`), or start fewer servers".into());
    }
    let hint = match source.kind() {
        io::ErrorKind::NotFound => match interpreter(path) {
            Some(name) => return Some(format!("install `{name}`, which its `#!` line names")),
            None => "install the loader or library it was built for: the file itself is there",
        },
        io::ErrorKind::PermissionDenied => {
            "check the rights of the file and its directories, and that the disk allows programs"
        }
        io::ErrorKind::ArgumentListTooLong => "shorten the arguments or the environment",
        io::ErrorKind::WouldBlock => "raise the limit of processes, or start fewer servers",
        io::ErrorKind::InvalidInput => "remove NUL characters from arguments and environment",
        _ => return None,
    };
    Some(hint.into())
}

/// What the first line of a script names, shown so that a stray `\r` is seen.
fn interpreter(path: &Path) -> Option<String> {
    use io::Read;
    let mut head = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(256)
        .read_to_end(&mut head)
        .ok()?;
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    Some(
        mcp_loadtest_core::display::visible_bytes(line, 120)
            .trim()
            .to_owned(),
    )
}
