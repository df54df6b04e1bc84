//! The guard: a small shell process that outlives us by a moment and ends what we left behind.
//!
//! It waits for the end of its stdin. The operating system closes that pipe whichever way we die,
//! `kill -9` included, and no server inherits it. There is one guard for each process of ours, not
//! for each run: it guards the process. It stays until we end, or are about to and have nothing left
//! that it could end.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::marker::token;
use crate::torture::{Deed, strike};

/// There is no binary of ours to start: those who embed us have their own.
const SCRIPT: &str = include_str!("guard.sh");
const SHELL: &str = "/bin/sh";

static WATCH: Mutex<Watch> = Mutex::new(Watch { guard: None, groups: BTreeSet::new() });

/// Why there is no guard.
#[derive(Debug, Error)]
#[error(
    "no guard process: `{SHELL}` does not start ({0}); \
     if this process is killed, servers may be left running"
)]
pub(super) struct GuardError(#[from] io::Error);

/// Makes sure that the guard is there; to be called before a server starts.
pub(super) fn ensure() -> Result<(), GuardError> {
    Ok(watch().ensure()?)
}

/// Tells the guard of the process group of a new server.
pub(super) fn add(group: u32) {
    let mut watch = watch();
    watch.groups.insert(group);
    watch.tell(&format!("+{group}\n"));
}

/// Tells the guard that a group's number is free for others to use.
pub(super) fn remove(group: u32) {
    let mut watch = watch();
    watch.groups.remove(&group);
    watch.tell(&format!("-{group}\n"));
}

/// A guard that somebody has stopped is not waited for any longer.
const GOES_WITHIN: Duration = Duration::from_secs(2);

/// Sends the guard home if no server is left, and waits until it is gone.
pub(super) fn dismiss() {
    let mut watch = watch();
    if !watch.groups.is_empty() {
        return;
    }
    watch.tell("done\n");
    let Some(Guard { mut process, line }) = watch.guard.take() else { return };
    let (gone, told) = mpsc::channel();
    thread::spawn(move || {
        let _ = process.wait();
        let _ = gone.send(());
    });
    let _ = told.recv_timeout(GOES_WITHIN);
    drop(line);
}

fn watch() -> MutexGuard<'static, Watch> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Watch {
    guard: Option<Guard>,
    groups: BTreeSet<u32>,
}

struct Guard {
    process: Child,
    line: ChildStdin,
}

impl Watch {
    /// Starts the guard if there is none, or none any more: a server may have killed it.
    fn ensure(&mut self) -> io::Result<()> {
        if let Some(guard) = &mut self.guard
            && let Ok(None) = guard.process.try_wait()
        {
            return Ok(());
        }
        self.guard = Some(start()?);
        let told: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        self.tell(&format!("{}\n{told}", token()));
        Ok(())
    }

    /// A guard that does not listen is no reason to stop; it still finds the marked processes.
    fn tell(&mut self, words: &str) {
        if let Some(guard) = &mut self.guard {
            let _ = guard.line.write_all(words.as_bytes());
        }
    }
}

fn start() -> io::Result<Guard> {
    let mut command = Command::new(SHELL);
    command
        .args(["-c", &script()])
        // Without our own marker in its environment, or a run around this one would end it early.
        .env_clear()
        .env("PATH", search_path())
        .env("LC_ALL", "C")
        // In our group, a Ctrl-C at the terminal or a `kill(0)` of a server would reach it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    strike(Deed::Spawn, SHELL)?;
    let mut process = command.spawn()?;
    let line = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    // Should the guard be stopped by somebody, we must not block on a full pipe.
    rustix::io::ioctl_fionbio(&line, true)?;
    Ok(Guard { process, line })
}

/// The script without its comments, which would fill the screen of whoever runs `ps`.
fn script() -> String {
    let lines = SCRIPT.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Our own `PATH` first: on NixOS, for one, the usual directories are empty.
fn search_path() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/bin:/bin:/usr/sbin:/sbin");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_was_killed_is_replaced_and_told_again() {
        add(u32::MAX);
        let mut watch = watch();
        watch.ensure().unwrap();
        let guard = &mut watch.guard.as_mut().unwrap().process;
        let first = guard.id();
        guard.kill().unwrap();
        guard.wait().unwrap();
        watch.ensure().unwrap();
        assert_ne!(watch.guard.as_ref().unwrap().process.id(), first);
        drop(watch);
        remove(u32::MAX);
    }

    #[test]
    fn a_guard_goes_home_when_it_is_told_to_and_has_nothing_to_guard() {
        let mut guard = start().unwrap();
        let group = u32::MAX;
        write!(guard.line, "{}\n+{group}\ndone\n-{group}\ndone\n", token()).unwrap();
        assert_eq!(guard.process.wait().unwrap().code(), Some(0), "although its line is open");
    }

    #[test]
    fn a_token_that_every_process_might_carry_is_refused() {
        for token in ["", "1-2", "........................", "0123456789abcdef0123456789*"] {
            let mut guard = start().unwrap();
            writeln!(guard.line, "{token}").unwrap();
            drop(guard.line);
            assert_eq!(guard.process.wait().unwrap().code(), Some(1), "{token:?}");
        }
    }
}
