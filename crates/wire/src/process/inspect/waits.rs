//! What the threads of a process tree wait for, in one line: `3 threads: 2 futex_wait, 1 ep_poll`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::procfs;
use super::linux::run_state;

/// Reading more threads than this tells nothing new.
const THREAD_LIMIT: usize = 4096;
/// The rarest waits are left out.
const SHOWN: usize = 8;

/// The line for these processes; `None` if no thread could be read.
pub(super) fn summary(pids: impl Iterator<Item = u32>) -> Option<String> {
    let threads = pids.flat_map(|pid| {
        let threads = procfs::numbers_in(procfs::path(pid, "task"));
        threads.map(move |thread| (pid, thread))
    });
    let mut counts = BTreeMap::new();
    for (pid, thread) in threads.take(THREAD_LIMIT) {
        if let Some(wait) = wait(pid, thread) {
            *counts.entry(wait).or_insert(0_usize) += 1;
        }
    }
    line(&counts)
}

/// The kernel function a thread sleeps in; where the kernel keeps that to itself, its state.
fn wait(pid: u32, thread: u32) -> Option<String> {
    let read = |file: &str| {
        let path = procfs::path(pid, &format!("task/{thread}/{file}"));
        std::fs::read_to_string(path).ok()
    };
    match read("wchan") {
        Some(channel) if !matches!(channel.as_str(), "" | "0") => Some(channel),
        _ => {
            let stat = read("stat")?;
            let state = stat.rsplit_once(") ")?.1.chars().next()?;
            Some(run_state(state).to_string())
        }
    }
}

fn line(counts: &BTreeMap<String, usize>) -> Option<String> {
    let total: usize = counts.values().sum();
    if total == 0 {
        return None;
    }
    let mut waits: Vec<_> = counts.iter().collect();
    waits.sort_by_key(|(_, count)| Reverse(**count));
    let plural = if total == 1 { "" } else { "s" };
    let mut line = format!("{total} thread{plural}: ");
    for (index, (wait, count)) in waits.iter().take(SHOWN).enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let _ = write!(line, "{comma}{count} {wait}");
    }
    if waits.len() > SHOWN {
        line.push_str(", …");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_common_wait_comes_first() {
        let counts = [("ep_poll", 1), ("futex_wait", 2)];
        let counts = counts.map(|(wait, count)| (wait.to_owned(), count)).into();
        let expected = "3 threads: 2 futex_wait, 1 ep_poll";
        assert_eq!(line(&counts).as_deref(), Some(expected));
        assert_eq!(line(&BTreeMap::new()), None);
    }
}
