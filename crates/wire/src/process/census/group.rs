//! Process groups that can be killed in one stroke, so that no member forks ahead of us.

use std::collections::{BTreeMap, HashSet};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{Row, system};

/// A process group, and when its leader started if the leader is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Group {
    number: u32,
    leader_born: Option<u64>,
}

/// The groups of which every member is in `members`. A process may join a group of its session that
/// it does not own, our own included, so a group with a single stranger in it is left out.
pub(in super::super) fn whole_groups(rows: &[Row], members: &HashSet<u32>) -> Vec<Group> {
    let mut groups = BTreeMap::new();
    for row in rows {
        let (whole, leader_born) = groups.entry(row.group).or_insert((true, None));
        *whole &= members.contains(&row.pid);
        if row.pid == row.group {
            *leader_born = Some(row.born);
        }
    }
    let whole = groups.into_iter().filter(|(number, (whole, _))| *whole && *number > 1);
    let group = |(number, (_, leader_born))| Group { number, leader_born };
    whole.map(group).collect()
}

/// Kills all members of a group. Should its number have gone to another group in the meantime, that
/// one has another leader, and is left alone.
pub(in super::super) fn kill_group(group: &Group) {
    let number = i32::try_from(group.number).ok().and_then(Pid::from_raw);
    if let Some(number) = number
        && system::born(group.number) == group.leader_born
    {
        let _ = kill_process_group(number, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pid: u32, group: u32) -> Row {
        Row { pid, parent: 1, group, born: u64::from(pid) * 10, markers: Vec::new() }
    }

    #[test]
    fn a_group_with_a_stranger_in_it_is_not_killed_as_one() {
        let rows = [row(5, 5), row(6, 5), row(7, 7), row(8, 7), row(9, 90)];
        let groups = whole_groups(&rows, &HashSet::from([5, 6, 7, 9]));
        let group = |number, leader_born| Group { number, leader_born };
        assert_eq!(groups, [group(5, Some(50)), group(90, None)]);
    }

    #[test]
    fn a_number_that_was_given_away_is_let_alone() {
        // Were it not, this would be the end of the test: the number is that of our own group.
        let own = rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs();
        kill_group(&Group { number: own, leader_born: Some(u64::MAX) });
    }
}
