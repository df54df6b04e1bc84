//! Reads a process tree from `/proc`.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use super::super::procfs::{self, Stat};
use super::state::{RunState, StateCounts, TreeState};
use super::waits;

/// A fork bomb is not read to its end.
const PROCESS_LIMIT: usize = 10_000;

/// Needs no memory between two readings: `/proc` holds all of it.
pub(super) struct Reader;

impl Reader {
    pub(super) fn new() -> Self {
        Reader
    }

    pub(super) fn read(&self, root: u32) -> Option<TreeState> {
        let members = tree(root)?;
        Some(summary(&members))
    }

    /// The memory of the tree with what is shared divided among its users. The kernel walks all
    /// pages for it, so it costs milliseconds for a large process. `None` if it may not be known.
    pub(super) fn pss(&self, root: u32) -> Option<u64> {
        tree(root)?
            .iter()
            .map(|(pid, stat)| if stat.has_ended() { Some(0) } else { pss(*pid) })
            .sum()
    }

    /// Adds what the threads wait for, which costs a file for each thread.
    pub(super) fn read_thoroughly(&self, root: u32) -> Option<TreeState> {
        let members = tree(root)?;
        Some(TreeState {
            waits: waits::summary(members.iter().map(|(pid, _)| *pid)),
            ..summary(&members)
        })
    }
}

/// The process and its descendants, itself first.
fn tree(root: u32) -> Option<Vec<(u32, Stat)>> {
    let mut members = vec![(root, Stat::read(root)?)];
    let mut children = children_source();
    let mut next = 0;
    while next < members.len() && members.len() < PROCESS_LIMIT {
        for child in children(members[next].0) {
            if let Some(stat) = Stat::read(child) {
                members.push((child, stat));
            }
        }
        next += 1;
    }
    Some(members)
}

/// Who the children of a process are.
type Children = Box<dyn FnMut(u32) -> Vec<u32>>;

/// Kernels that list the children of each thread are asked; others, for all processes at once.
fn children_source() -> Children {
    match std::fs::exists("/proc/thread-self/children") {
        Ok(true) => Box::new(listed_children),
        _ => sorted_children(),
    }
}

fn sorted_children() -> Children {
    let mut by_parent: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in procfs::pids() {
        if let Some(stat) = Stat::read(pid) {
            by_parent.entry(stat.parent).or_default().push(pid);
        }
    }
    Box::new(move |pid| by_parent.remove(&pid).unwrap_or_default())
}

fn listed_children(pid: u32) -> Vec<u32> {
    let threads = procfs::numbers_in(procfs::path(pid, "task"));
    let lists = threads.filter_map(|thread| {
        let file = format!("task/{thread}/children");
        std::fs::read_to_string(procfs::path(pid, &file)).ok()
    });
    let parse = |list: String| -> Vec<u32> {
        let words = list.split_ascii_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    lists.flat_map(parse).collect()
}

fn summary(members: &[(u32, Stat)]) -> TreeState {
    let units = units();
    let sum = |of: fn(&Stat) -> u64| members.iter().map(|(_, stat)| of(stat)).sum::<u64>();
    let mut states = StateCounts::default();
    for (_, stat) in members {
        states.add(run_state(stat.state));
    }
    let cpu = sum(|stat| stat.ticks) as f64 / units.ticks_per_second as f64;
    TreeState {
        state: run_state(members[0].1.state),
        states,
        cpu: Duration::from_secs_f64(cpu),
        rss_bytes: sum(|stat| stat.resident_pages) * units.page_bytes,
        pss_bytes: None,
        processes: states.total(),
        threads: u32::try_from(sum(|stat| u64::from(stat.threads))).ok(),
        open_files: members.iter().map(|(pid, _)| open_files(*pid)).sum(),
        waits: None,
    }
}

/// A process that has ended meanwhile has no memory; one of another user keeps it to itself.
fn pss(pid: u32) -> Option<u64> {
    match std::fs::read(procfs::path(pid, "smaps_rollup")) {
        Ok(text) => Some(parse_pss(&text).unwrap_or(0)),
        Err(_) if Stat::read(pid).is_none_or(|stat| stat.has_ended()) => Some(0),
        Err(_) => None,
    }
}

fn parse_pss(text: &[u8]) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Pss:"))?;
    let number = std::str::from_utf8(line).ok()?.trim().strip_suffix("kB")?;
    Some(number.trim().parse::<u64>().ok()? * 1024)
}

/// The letters are those of proc(5).
pub(super) fn run_state(letter: char) -> RunState {
    match letter {
        'R' => RunState::Running,
        'S' | 'I' => RunState::Sleeping,
        'D' => RunState::DiskWait,
        'T' | 't' => RunState::Stopped,
        'Z' | 'X' | 'x' => RunState::Zombie,
        _ => RunState::Other,
    }
}

/// Since Linux 6.2 the size of the directory is the number of its entries.
fn open_files(pid: u32) -> Option<u32> {
    let directory = procfs::path(pid, "fd");
    match std::fs::metadata(&directory).ok()?.len() {
        0 => u32::try_from(std::fs::read_dir(directory).ok()?.count()).ok(),
        length => u32::try_from(length).ok(),
    }
}

/// The units of the kernel's numbers.
#[derive(Clone, Copy)]
struct Units {
    page_bytes: u64,
    ticks_per_second: u64,
}

/// The kernel hands both to every program in its auxiliary vector; the keys are those of
/// getauxval(3).
fn units() -> Units {
    static UNITS: OnceLock<Units> = OnceLock::new();
    *UNITS.get_or_init(|| {
        let vector = std::fs::read("/proc/self/auxv").unwrap_or_default();
        let words: Vec<u64> = vector.chunks_exact(size_of::<usize>()).map(word).collect();
        let value = |key: u64| {
            let pair = words.chunks_exact(2).find(|pair| pair[0] == key);
            pair.map(|pair| pair[1]).filter(|value| *value > 0)
        };
        Units { page_bytes: value(6).unwrap_or(4096), ticks_per_second: value(17).unwrap_or(100) }
    })
}

fn word(bytes: &[u8]) -> u64 {
    let native = bytes.try_into().map(usize::from_ne_bytes);
    native.map_or(0, |value| value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_its_units() {
        assert!(units().page_bytes.is_power_of_two() && units().page_bytes >= 4096);
        assert!((1..=10_000).contains(&units().ticks_per_second));
    }

    #[test]
    fn we_can_see_ourselves() {
        let tree = Reader::new().read_thoroughly(std::process::id()).unwrap();
        assert_eq!(tree.states.total(), tree.processes);
        assert!(tree.rss_bytes > 100_000 && tree.threads > Some(0) && tree.open_files > Some(2));
        assert!(tree.waits.unwrap().contains("thread"));
    }

    #[test]
    fn shared_memory_is_divided() {
        let text = b"55d0-7ffe ---p 0 00:00 0 [rollup]\nRss:  900 kB\nPss:       123 kB\nPss_Dirty: 7 kB\n";
        assert_eq!(parse_pss(text), Some(123 * 1024));
        assert_eq!(parse_pss(b""), None);
        let us = std::process::id();
        let reader = Reader::new();
        let (pss, rss) = (reader.pss(us).unwrap(), reader.read(us).unwrap().rss_bytes);
        assert!(pss > 100_000 && pss < rss * 2, "{pss} {rss}");
    }

    #[test]
    fn both_ways_to_find_children_agree() {
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let us = std::process::id();
        assert!(sorted_children()(us).contains(&child.id()));
        if std::fs::exists("/proc/thread-self/children").unwrap() {
            assert!(listed_children(us).contains(&child.id()));
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
