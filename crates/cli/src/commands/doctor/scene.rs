//! What the checks look at: read once from the machine, or made up by a test.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use mcp_loadtest::{Server, wall_time};
use tokio::time::Instant;

use crate::{
    env::{Env, Lookup},
    limits::{self, Limit},
    server_args::client_files,
};

/// A machine, as far as a test cares.
pub(super) struct Scene<'a> {
    /// Looks a variable up.
    pub(super) var: &'a Lookup,
    /// The working directory.
    pub(super) cwd: PathBuf,
    /// The home directory.
    pub(super) home: Option<PathBuf>,
    /// Where runs are written.
    pub(super) runs: PathBuf,
    /// The files of MCP clients that are looked for.
    pub(super) client_files: Vec<PathBuf>,
    /// How many files may be open.
    pub(super) open_files: Limit,
    /// How many processes may run.
    pub(super) processes: Limit,
    /// The first and the last port that the system gives away.
    pub(super) ports: Option<(u16, u16)>,
    /// How many bytes are free where runs are written.
    pub(super) free: Option<u64>,
    /// The time of day.
    pub(super) now: SystemTime,
    /// The shortest step of the clock that calls are measured with.
    pub(super) tick: Duration,
    /// On Windows, which of its two worlds of native code this program is of.
    pub(super) world: Option<&'static str>,
    /// The server that was named.
    pub(super) server: Option<Server>,
    /// Whether another revision than the one asked for is a failure.
    pub(super) strict_protocol: bool,
    /// Whether the server's stderr is shown as it comes.
    pub(super) tee_stderr: bool,
}

impl<'a> Scene<'a> {
    pub(super) fn of_this_machine(env: &'a Env, runs: PathBuf) -> Self {
        Self {
            cwd: env.cwd.clone(),
            home: env.home(),
            client_files: client_files(env),
            open_files: limits::open_files(),
            processes: limits::processes(),
            ports: port_range(),
            free: limits::free_space(existing(&runs)),
            now: wall_time(),
            tick: tick(),
            world: WORLD,
            server: None,
            strict_protocol: false,
            tee_stderr: false,
            var: &env.var,
            runs,
        }
    }

    /// A variable as programs are looked up with.
    pub(super) fn os_var(&self, name: &str) -> Option<OsString> {
        (self.var)(name).map(OsString::from)
    }

    /// A machine on which nothing is wrong and nothing is installed, in this directory.
    #[cfg(test)]
    pub(super) fn healthy(dir: &Path, var: &'a Lookup) -> Self {
        Self {
            var,
            cwd: dir.to_owned(),
            home: None,
            runs: dir.join("runs"),
            client_files: Vec::new(),
            open_files: Limit::At(65_536),
            processes: Limit::None,
            ports: Some((32_768, 60_999)),
            free: Some(100 << 30),
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000),
            tick: Duration::from_nanos(50),
            world: None,
            server: None,
            strict_protocol: false,
            tee_stderr: false,
        }
    }
}

const WORLD: Option<&str> = match () {
    () if !cfg!(windows) => None,
    () if cfg!(target_env = "msvc") => Some("msvc"),
    () => Some("gnu"),
};

/// The directory itself, or the nearest one above it that is there.
pub(super) fn existing(path: &Path) -> &Path {
    path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"))
}

/// Linux tells in a file; others are asked by programs, which is not worth the risk.
fn port_range() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// The shortest of some steps of the clock.
fn tick() -> Duration {
    let step = |_| {
        let begun = Instant::now();
        (0..1_000_000).map(|_| begun.elapsed()).find(|step| !step.is_zero()).unwrap_or_default()
    };
    (0..20).map(step).min().unwrap_or_default()
}
