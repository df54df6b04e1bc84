//! The words for what a process is doing.

use std::fmt;
use std::time::Duration;

/// What a process is doing, as the system's scheduler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// On a processor, or ready to be.
    Running,
    /// Waiting for something that can be interrupted: input, a lock, a timer.
    Sleeping,
    /// Waiting for a device, deaf to signals.
    DiskWait,
    /// Stopped by a signal or a debugger.
    Stopped,
    /// Ended, but not waited for by its parent.
    Zombie,
    /// Something else.
    Other,
}

impl RunState {
    const ALL: [RunState; 6] = [
        RunState::Running,
        RunState::Sleeping,
        RunState::DiskWait,
        RunState::Stopped,
        RunState::Zombie,
        RunState::Other,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Sleeping => "sleeping",
            RunState::DiskWait => "disk wait",
            RunState::Stopped => "stopped",
            RunState::Zombie => "zombie",
            RunState::Other => "other",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many processes of a tree are in which state. Shows as `1 running, 2 sleeping`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateCounts([u32; RunState::ALL.len()]);

impl StateCounts {
    /// How many are in this state.
    pub fn of(&self, state: RunState) -> u32 {
        self.0[state as usize]
    }

    /// How many there are.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    pub(super) fn add(&mut self, state: RunState) {
        self.0[state as usize] += 1;
    }
}

impl fmt::Display for StateCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let present = RunState::ALL.into_iter().filter(|state| self.of(*state) > 0);
        for (index, state) in present.enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{} {state}", self.of(state))?;
        }
        Ok(())
    }
}

/// A process and everything that descends from it, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeState {
    /// What the process itself is doing.
    pub state: RunState,
    /// What all of them are doing.
    pub states: StateCounts,
    /// Processor time of all of them, those included that have ended and were waited for.
    pub cpu: Duration,
    /// Memory in use; what processes share is counted for each.
    pub rss_bytes: u64,
    /// The same with what is shared divided among its users. Only from a
    /// [`Sampler`](super::Sampler), and only on Linux.
    pub pss_bytes: Option<u64>,
    /// How many processes there are.
    pub processes: u32,
    /// How many threads they have, where the system tells.
    pub threads: Option<u32>,
    /// How many file descriptors they have open, where the system tells.
    pub open_files: Option<u32>,
    /// What the threads wait for in the kernel, like `3 threads: 2 futex_wait, 1 ep_poll`. Only
    /// from [`inspect`](super::inspect), and only on Linux.
    pub waits: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_a_list() {
        let mut counts = StateCounts::default();
        assert_eq!(counts.to_string(), "");
        counts.add(RunState::Sleeping);
        counts.add(RunState::Running);
        counts.add(RunState::Sleeping);
        assert_eq!(counts.to_string(), "1 running, 2 sleeping");
        assert_eq!((counts.total(), counts.of(RunState::Sleeping)), (3, 2));
    }
}
