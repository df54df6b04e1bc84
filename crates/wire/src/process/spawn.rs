//! Starts a server, or says why not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use mcp_loadtest_core::{hint::Hint, secrets::Veil};
use thiserror::Error;
use tokio::process::Command;

use super::fence::Fence;
use super::launch::{Launch, TeeStderr};
use super::lookup::{LookupError, Places};
use super::server::ServerProcess;
use super::stderr::{Drain, Log};
use super::tee::Tee;
use crate::torture::{Deed, strike};

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
    #[error("the working directory `{}` is not there: {source}", path.display())]
    WorkingDir {
        /// The directory, made absolute.
        path: PathBuf,
        /// What the system said, if anything.
        #[source]
        source: io::Error,
    },
    /// The log file cannot be written.
    #[error("the stderr log `{}` cannot be opened: {source}", path.display())]
    StderrLog {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The system would not start the program.
    #[error("`{}` does not start: {source}", path.display())]
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        let mut fence = Fence::around(&mut command);
        let spawned = strike(Deed::Spawn, program.display()).and_then(|()| command.spawn());
        let start_error = |source| SpawnError::Start { path: program, source };
        let mut child = spawned.map_err(start_error)?;
        fence.close_behind(&child);

        let pipe = child.stderr.take().expect("stderr was asked to be a pipe");
        let drain = Drain::start(pipe, log, tee(launch), Veil::new(launch.secrets.clone()));
        Ok(ServerProcess::new(child, fence, drain, launch.secrets.clone()))
    }
}

/// Without a thread to spare, the server's words are not shown; they are kept all the same.
fn tee(launch: &Launch) -> Option<Tee> {
    match launch.tee_stderr {
        TeeStderr::On => Tee::start(io::stderr(), "server").ok(),
        TeeStderr::As(speaker) => Tee::start(io::stderr(), speaker).ok(),
        TeeStderr::Off => None,
    }
}

/// Where the server runs, as an absolute path.
fn working_dir(launch: &Launch) -> Result<PathBuf, SpawnError> {
    let written = launch.working_dir.as_deref().unwrap_or(Path::new("."));
    let failed = |source| SpawnError::WorkingDir { path: written.to_owned(), source };
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
        if cfg!(windows) { known.eq_ignore_ascii_case(name) } else { known.as_os_str() == name }
    };
    environment.iter().find(matches).map(|(_, value)| value.clone())
}

fn open_log(path: &Path) -> Result<Log, SpawnError> {
    Log::open(path).map_err(|source| SpawnError::StderrLog { path: path.to_owned(), source })
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
    std::fs::File::open(path).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(mcp_loadtest_core::display::visible_bytes(line, 120).trim().to_owned())
}
