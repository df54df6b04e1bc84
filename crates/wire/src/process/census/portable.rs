//! The process table of Unix systems other than Linux, from the `sysinfo` crate.

use rustix::process::{Pid, Signal, getpgid, kill_process};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::super::marker::MARKER_VARIABLE;
use super::Row;

pub(super) fn look() -> Vec<Row> {
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    let Some(system) = read(ProcessesToUpdate::All, what) else {
        return Vec::new();
    };
    let processes = system.processes().values();
    processes.filter_map(row).collect()
}

fn row(process: &sysinfo::Process) -> Option<Row> {
    if matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead) {
        return None;
    }
    let pid = process.pid().as_u32();
    // Processes of the kernel have session 0 and group 0, a number that `getpgid` does not expect.
    let has_group = process.session_id().is_some_and(|session| session.as_u32() > 0);
    let number = rustix_pid(pid).filter(|_| has_group);
    let group = number.and_then(|number| getpgid(Some(number)).ok());
    Some(Row {
        pid,
        parent: process.parent().map_or(0, |parent| parent.as_u32()),
        group: group.map_or(0, |group| group.as_raw_nonzero().get().unsigned_abs()),
        born: process.start_time(),
        markers: markers(process),
    })
}

fn markers(process: &sysinfo::Process) -> Vec<u8> {
    let value = |variable: &std::ffi::OsString| {
        let rest = variable.as_encoded_bytes().strip_prefix(MARKER_VARIABLE.as_bytes())?;
        rest.strip_prefix(b"=").map(<[u8]>::to_vec)
    };
    process.environ().iter().find_map(value).unwrap_or_default()
}

/// Kills exactly this process.
pub(in super::super) fn kill(row: &Row) {
    if let Some(pid) = rustix_pid(row.pid)
        && born(row.pid) == Some(row.born)
    {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// When the process with this number started; `None` if none is running.
pub(super) fn born(pid: u32) -> Option<u64> {
    let number = sysinfo::Pid::from_u32(pid);
    let what = ProcessRefreshKind::nothing();
    let system = read(ProcessesToUpdate::Some(&[number]), what)?;
    system.process(number).and_then(row).map(|row| row.born)
}

/// The time, in the unit of [`Row::born`]: seconds since 1970. Not read from a clock, as only one
/// place in this program reads the wall clock.
pub(in super::super) fn now() -> u64 {
    match (System::boot_time(), System::uptime()) {
        (Ok(start), Ok(since)) => start + since,
        _ => 0,
    }
}

/// The command line with spaces between the arguments, cut to `limit` bytes; raw.
pub(in super::super) fn command_line(row: &Row, limit: usize) -> String {
    let number = sysinfo::Pid::from_u32(row.pid);
    let what = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    let system = read(ProcessesToUpdate::Some(&[number]), what);
    let process = system.as_ref().and_then(|system| system.process(number));
    let words = process.map(|process| process.cmd().join(std::ffi::OsStr::new(" ")));
    let line = words.unwrap_or_default().into_encoded_bytes();
    String::from_utf8_lossy(&line[..line.len().min(limit)]).into_owned()
}

fn read(which: ProcessesToUpdate<'_>, what: ProcessRefreshKind) -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(which, true, what);
    Some(system)
}

fn rustix_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}
