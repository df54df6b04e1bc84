//! The process table: who carries a mark, who descends from whom, who is gone.

use std::{
    collections::HashSet,
    fs,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep};

/// Far more than anything here takes.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A process and when it began: numbers are used again.
pub(crate) type Process = (u32, u64);

/// A value that no other server of any test has. Servers get it in [`MARK`], and whatever they
/// start inherits it.
pub(crate) fn unique_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{}-{}.", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The variable that holds the mark.
pub(crate) const MARK: &str = "MCP_LOADTEST_TEST_MARK";

/// The processes that carry a mark.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let text = format!("{MARK}={mark}");
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(text.len()).any(|part| part == text.as_bytes())
    };
    pids().filter(carries).collect()
}

/// All descendants of a process, without itself.
pub(crate) fn descendants(root: u32) -> HashSet<Process> {
    let rows: Vec<_> = pids().filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut found = HashSet::from([root]);
    loop {
        let before = found.len();
        found.extend(
            rows.iter()
                .filter(|(_, stat)| found.contains(&stat.parent))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            break;
        }
    }
    let born = rows.iter().filter(|(pid, _)| *pid != root && found.contains(pid));
    born.map(|(pid, stat)| (*pid, stat.born)).collect()
}

/// Whether a process still runs; what is left of one that nobody waited for does not count.
pub(crate) fn runs((pid, born): Process) -> bool {
    stat(pid).is_some_and(|stat| stat.born == born && stat.state != 'Z')
}

/// Waits until none of these processes runs and nobody carries the mark.
pub(crate) async fn until_gone(mark: &str, family: &HashSet<Process>) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let family = family.iter().filter(|process| runs(**process)).map(|process| process.0);
        let left: HashSet<u32> = family.chain(marked(mark)).collect();
        if left.is_empty() {
            return;
        }
        let told: Vec<_> = left.into_iter().map(describe).collect();
        assert!(Instant::now() < deadline, "still there: {told:#?}");
        sleep(Duration::from_millis(10)).await;
    }
}

fn describe(pid: u32) -> String {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    match stat(pid) {
        Some(stat) => format!("{pid} {} of {}: {command}", stat.state, stat.parent),
        None => format!("{pid} is gone now"),
    }
}

/// Waits for a condition that no event tells of.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

struct Stat {
    state: char,
    parent: u32,
    born: u64,
}

/// The fields after the name, which may itself hold spaces and brackets.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        born: fields.get(19)?.parse().ok()?,
    })
}
