//! The fence around one server on Unix: its process group, its marker, its family.
//!
//! The Windows twin is `job.rs`; `stop.rs` and `server.rs` know only what the two have in common.

use std::collections::{BTreeMap, HashSet};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::census::{self, Group, Row};
use super::guard;
use super::marker::{MARKER_VARIABLE, Marker};
use super::stray::{COMMAND_LINE_LIMIT, Stray};

pub(super) use super::census::{Ticket, ticket};

/// A process for good: its number and its time of birth.
type Identity = (u32, u64);

/// A fork bomb leaves thousands; the first ones tell the story.
const STRAYS_REPORTED: usize = 64;

/// Everything by which the processes of one server are known.
pub(super) struct Fence {
    marker: Marker,
    /// The server's number, which is also its group's; 0 before it has started.
    group: u32,
    leader: Leader,
    /// Processes known to be the server's even if they have lost marker, group and parent.
    kin: HashSet<Identity>,
    /// What the last look saw.
    seen: Vec<Row>,
    seen_groups: Vec<Group>,
    killed: BTreeMap<Identity, Stray>,
    warning: Option<String>,
}

/// Whether the server's number can still mean nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leader {
    /// Not waited for yet: the number is taken, by it or by what is left of it.
    Held,
    /// Waited for: the system may have given the number to others since, in the unit of
    /// [`Row::born`].
    Reaped { at: u64 },
}

impl Fence {
    /// Prepares a command so that whatever it starts stays within reach.
    pub(super) fn around(command: &mut Command) -> Self {
        let warning = guard::ensure().err().map(|error| error.to_string());
        let marker = Marker::unique();
        let outer = std::env::var_os(MARKER_VARIABLE);
        command.env(MARKER_VARIABLE, marker.value_within(outer.as_deref()));
        command.process_group(0);
        Fence {
            marker,
            group: 0,
            leader: Leader::Held,
            kin: HashSet::new(),
            seen: Vec::new(),
            seen_groups: Vec::new(),
            killed: BTreeMap::new(),
            warning,
        }
    }

    /// The same fence for somebody else who looks over it.
    pub(super) fn twin(&self) -> Option<Self> {
        (self.group != 0).then(|| Fence {
            marker: self.marker.clone(),
            group: self.group,
            leader: Leader::Held,
            kin: HashSet::new(),
            seen: Vec::new(),
            seen_groups: Vec::new(),
            killed: BTreeMap::new(),
            warning: None,
        })
    }

    /// The server was killed: its number may be given away.
    pub(super) fn let_go(&mut self) {
        if self.leader == Leader::Held {
            self.leader = Leader::Reaped { at: census::now() };
        }
    }

    /// Takes note of the process that was started.
    pub(super) fn close_behind(&mut self, child: &Child) {
        self.group = child.id().unwrap_or(0);
        if self.group == 0 {
            return;
        }
        guard::add(self.group);
        #[cfg(target_os = "linux")]
        super::procfs::prefer_for_out_of_memory(self.group);
    }

    /// The server was waited for.
    pub(super) fn leader_reaped(&mut self) {
        if self.leader == Leader::Held && self.group != 0 {
            guard::remove(self.group);
        }
        self.leader = Leader::Reaped { at: census::now() };
    }

    /// Asks the whole group to end. `false` where a system has no way to ask.
    pub(super) fn ask_to_end(&self) -> bool {
        self.signal_group(Signal::TERM);
        true
    }

    /// Kills the whole group, in one stroke.
    pub(super) fn kill(&mut self) {
        self.signal_group(Signal::KILL);
    }

    fn signal_group(&self, signal: Signal) {
        let number = i32::try_from(self.group).ok().and_then(Pid::from_raw);
        if let (Leader::Held, Some(group)) = (self.leader, number) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Looks for the server's processes, remembers them and says how many there are.
    pub(super) fn look(&mut self, since: Ticket) -> usize {
        let rows = census::look_since(since);
        let ours = self.ours_among(&rows);
        self.seen_groups = census::whole_groups(&rows, &ours);
        self.seen = rows.iter().filter(|row| ours.contains(&row.pid)).cloned().collect();
        self.kin.extend(self.seen.iter().map(identity));
        self.seen.len()
    }

    /// Kills what the last look saw.
    pub(super) fn kill_seen(&mut self) {
        for row in &self.seen {
            if self.killed.len() < STRAYS_REPORTED {
                self.killed.entry(identity(row)).or_insert_with(|| stray(row));
            }
        }
        self.seen_groups.iter().for_each(census::kill_group);
        self.seen.iter().for_each(census::kill);
    }

    /// What had to be killed one by one.
    pub(super) fn killed(&mut self) -> Vec<Stray> {
        std::mem::take(&mut self.killed).into_values().collect()
    }

    /// What the last look saw, for those that no signal ends.
    pub(super) fn survivors(&self) -> Vec<Stray> {
        self.seen.iter().take(STRAYS_REPORTED).map(stray).collect()
    }

    /// What weakens the fence.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The server's processes: marked, in its group, known from before, or children of such.
    fn ours_among(&self, rows: &[Row]) -> HashSet<u32> {
        let known = |row: &&Row| {
            self.marker.is_in(&row.markers)
                || self.has_in_group(row)
                || self.kin.contains(&identity(row))
        };
        let mut ours: HashSet<u32> = rows.iter().filter(known).map(|row| row.pid).collect();
        loop {
            let is_child = |row: &&Row| ours.contains(&row.parent) && !ours.contains(&row.pid);
            let children: Vec<u32> = rows.iter().filter(is_child).map(|row| row.pid).collect();
            if children.is_empty() {
                break;
            }
            ours.extend(children);
        }
        // Neither can be, but a mistake here would be the worst one of all.
        ours.remove(&std::process::id());
        ours.remove(&1);
        ours
    }

    /// Whether a process is in the server's group. A group's number means no other group as long as
    /// the leader was not waited for; whoever was in it by then is the server's.
    fn has_in_group(&self, row: &Row) -> bool {
        let in_time = match self.leader {
            Leader::Held => true,
            Leader::Reaped { at } => row.born <= at,
        };
        self.group != 0 && row.group == self.group && in_time
    }
}

fn identity(row: &Row) -> Identity {
    (row.pid, row.born)
}

fn stray(row: &Row) -> Stray {
    Stray { pid: row.pid, command_line: census::command_line(row, COMMAND_LINE_LIMIT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: u32 = 4_000_100;

    fn fence(leader: Leader) -> Fence {
        Fence {
            marker: Marker::unique(),
            group: SERVER,
            leader,
            kin: HashSet::new(),
            seen: Vec::new(),
            seen_groups: Vec::new(),
            killed: BTreeMap::new(),
            warning: None,
        }
    }

    fn row(pid: u32, parent: u32, group: u32, markers: &str) -> Row {
        Row { pid, parent, group, born: u64::from(pid), markers: markers.into() }
    }

    fn found(fence: &Fence, rows: &[Row]) -> Vec<u32> {
        let mut pids: Vec<u32> = fence.ours_among(rows).into_iter().collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn known_by_marker_group_memory_or_descent() {
        let mut fence = fence(Leader::Reaped { at: 25 });
        let marker = fence.marker.value_within(None).into_string().unwrap();
        fence.kin.insert((30, 30));
        let rows = [
            row(10, 1, 10, &marker),
            row(11, 10, 11, ""),
            row(12, 11, 11, "another.1"),
            row(20, 1, SERVER, ""),
            row(30, 1, 30, ""),
            row(40, 1, 40, "another.1"),
            row(50, 40, 40, ""),
        ];
        assert_eq!(found(&fence, &rows), [10, 11, 12, 20, 30]);
    }

    #[test]
    fn a_number_that_was_given_away_is_let_alone() {
        let rows = [row(SERVER, 1, SERVER, ""), row(20, 1, SERVER, "")];
        assert_eq!(found(&fence(Leader::Held), &rows), [20, SERVER]);
        assert!(found(&fence(Leader::Reaped { at: 19 }), &rows).is_empty());
    }

    #[test]
    fn a_younger_process_with_a_known_number_is_let_alone() {
        let mut fence = fence(Leader::Reaped { at: 0 });
        fence.kin.insert((30, 29));
        assert!(found(&fence, &[row(30, 1, 30, "")]).is_empty());
    }

    #[test]
    fn neither_we_nor_the_first_process_are_ever_ours() {
        let fence = fence(Leader::Held);
        let marker = fence.marker.value_within(None).into_string().unwrap();
        let rows = [row(1, 0, 1, &marker), row(std::process::id(), 1, 9, &marker)];
        assert!(found(&fence, &rows).is_empty());
    }
}
