//! The process table of Linux, from `/proc`.

use std::fs::File;
use std::io::Read;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::super::marker::MARKER_VARIABLE;
use super::super::procfs::{self, Stat};
use super::Row;

/// An environment is read no further than this.
const ENVIRONMENT_LIMIT: u64 = 8 * 1024 * 1024;

pub(super) fn look() -> Vec<Row> {
    let mut environment = Vec::new();
    let row = |pid| {
        let stat = Stat::read(pid).filter(|stat| !stat.has_ended())?;
        Some(Row {
            pid,
            parent: stat.parent,
            group: stat.group,
            born: stat.born,
            markers: markers(pid, &mut environment),
        })
    };
    procfs::pids().filter_map(row).collect()
}

/// The value of the marker variable at the time the program was started.
fn markers(pid: u32, environment: &mut Vec<u8>) -> Vec<u8> {
    environment.clear();
    // Other users' processes cannot be read, and kernel threads have none.
    let Ok(file) = File::open(procfs::path(pid, "environ")) else {
        return Vec::new();
    };
    let _ = file.take(ENVIRONMENT_LIMIT).read_to_end(environment);
    let value = |variable: &[u8]| {
        let rest = variable.strip_prefix(MARKER_VARIABLE.as_bytes())?;
        rest.strip_prefix(b"=").map(<[u8]>::to_vec)
    };
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(value).unwrap_or_default()
}

/// Kills exactly this process.
pub(in super::super) fn kill(row: &Row) {
    let Some(pid) = i32::try_from(row.pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    // A handle keeps naming the same process. If it is still the right one once we hold it, the
    // signal cannot reach another that was given the same number since.
    let handle = pidfd_open(pid, PidfdFlags::empty());
    if born(row.pid) != Some(row.born) {
        return;
    }
    // Old kernels and some containers have no handles.
    let _ = match handle {
        Ok(handle) => pidfd_send_signal(handle, Signal::KILL),
        Err(_) => kill_process(pid, Signal::KILL),
    };
}

/// When the process with this number started; `None` if none is running.
pub(super) fn born(pid: u32) -> Option<u64> {
    let stat = Stat::read(pid).filter(|stat| !stat.has_ended());
    stat.map(|stat| stat.born)
}

/// The time, in the unit of [`Row::born`]: hundredths of a second since the system started.
pub(in super::super) fn now() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    seconds.map_or(0, |seconds| (seconds * 100.0) as u64)
}

/// The command line with spaces between the arguments, cut to `limit` bytes; raw.
pub(in super::super) fn command_line(row: &Row, limit: usize) -> String {
    let mut line = Vec::new();
    if let Ok(file) = File::open(procfs::path(row.pid, "cmdline")) {
        let _ = file.take(limit as u64).read_to_end(&mut line);
    }
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    String::from_utf8_lossy(line).replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn births_and_the_time_are_told_in_one_unit() {
        let before = now();
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let born = born(child.id()).unwrap();
        // One tick for each of the two roundings.
        assert!((before - 1..=now() + 1).contains(&born), "{before} {born} {}", now());
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
