//! What Linux tells about a process in `/proc`.

use std::path::PathBuf;

/// The fields of `/proc/PID/stat` that we use, in the kernel's units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) state: char,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// CPU time of the process and of those of its children that it has waited for, in ticks.
    pub(super) ticks: u64,
    pub(super) threads: u32,
    /// When it started, in ticks since boot: with the number, this names a process for good.
    pub(super) born: u64,
    pub(super) resident_pages: u64,
}

impl Stat {
    /// Reads it; `None` once the process is gone.
    pub(super) fn read(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read(path(pid, "stat")).ok()?)
    }

    /// The name in the second field may hold anything, brackets and spaces included, so the fields
    /// count from the last bracket. The numbers of the fields are those of proc(5).
    fn parse(line: &[u8]) -> Option<Self> {
        let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        let value = |number: usize| field(number)?.parse::<u64>().ok();
        Some(Stat {
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            ticks: value(14)? + value(15)? + value(16)? + value(17)?,
            threads: field(20)?.parse().ok()?,
            born: value(22)?,
            resident_pages: value(24)?,
        })
    }

    /// Whether only its exit code is left of it.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

pub(super) fn path(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

/// The numbers of all processes.
pub(super) fn pids() -> impl Iterator<Item = u32> {
    numbers_in("/proc".into())
}

/// The entries of a directory that are numbers: processes, threads, descriptors.
pub(super) fn numbers_in(directory: PathBuf) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// When memory runs out, the system should end a server, not us who report it.
pub(super) fn prefer_for_out_of_memory(pid: u32) {
    const SCORE: i32 = 500;
    let ours = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
    // The server has inherited our score; lowering it is not ours to do.
    if ours.trim().parse().is_ok_and(|ours: i32| ours < SCORE) {
        let _ = std::fs::write(path(pid, "oom_score_adj"), SCORE.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_does_not_shift_the_fields() {
        let line = b"7 (a) R 1 (b) S 3 4 5 6 7 8 9 10 11 12 100 20 3 4 18 19 2 21 999 23 50 25 26";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(
            stat,
            Stat {
                state: 'S',
                parent: 3,
                group: 4,
                ticks: 127,
                threads: 2,
                born: 999,
                resident_pages: 50,
            }
        );
        assert_eq!(Stat::parse(b"7 (a"), None);
        assert_eq!(Stat::parse(b"7 (a) S"), None);
    }

    #[test]
    fn we_are_among_the_processes() {
        let us = std::process::id();
        assert!(pids().any(|pid| pid == us));
        assert!(!Stat::read(us).unwrap().has_ended());
    }
}
