//! Reads a process tree with the `sysinfo` crate, on systems other than Linux.

use std::time::Duration;

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use super::state::{RunState, StateCounts, TreeState};

/// Keeps the process table between two readings, as refreshing it costs less than building it.
pub(super) struct Reader {
    system: Option<System>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader { system: System::new().ok() }
    }

    pub(super) fn read(&mut self, root: u32) -> Option<TreeState> {
        let system = self.system.as_mut()?;
        let what = ProcessRefreshKind::nothing().with_cpu().with_memory();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
        let members = tree(system, system.process(Pid::from_u32(root))?);
        Some(summary(&members))
    }

    /// No system but Linux tells.
    pub(super) fn pss(&self, _root: u32) -> Option<u64> {
        None
    }

    pub(super) fn read_thoroughly(&mut self, root: u32) -> Option<TreeState> {
        self.read(root)
    }
}

/// The process and its descendants, itself first.
fn tree<'a>(system: &'a System, root: &'a Process) -> Vec<&'a Process> {
    let mut members = vec![root];
    let mut next = 0;
    while next < members.len() {
        let parent = members[next].pid();
        // Windows keeps the number of a parent that is gone and may be given to a descendant.
        let known: Vec<Pid> = members.iter().map(|member| member.pid()).collect();
        let is_child = |process: &&Process| {
            process.parent() == Some(parent) && !known.contains(&process.pid())
        };
        members.extend(system.processes().values().filter(is_child));
        next += 1;
    }
    members
}

fn summary(members: &[&Process]) -> TreeState {
    let mut states = StateCounts::default();
    for process in members {
        states.add(run_state(process.status()));
    }
    let milliseconds = members.iter().map(|process| process.accumulated_cpu_time()).sum();
    TreeState {
        state: run_state(members[0].status()),
        states,
        cpu: Duration::from_millis(milliseconds),
        rss_bytes: members.iter().map(|process| process.memory()).sum(),
        pss_bytes: None,
        processes: states.total(),
        threads: None,
        open_files: None,
        waits: None,
    }
}

fn run_state(status: ProcessStatus) -> RunState {
    match status {
        ProcessStatus::Run | ProcessStatus::Waking => RunState::Running,
        ProcessStatus::Sleep | ProcessStatus::Idle => RunState::Sleeping,
        ProcessStatus::UninterruptibleDiskSleep => RunState::DiskWait,
        ProcessStatus::Stop | ProcessStatus::Tracing => RunState::Stopped,
        ProcessStatus::Zombie | ProcessStatus::Dead => RunState::Zombie,
        _ => RunState::Other,
    }
}
