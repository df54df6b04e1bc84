//! The server process ended on its own, or its connections broke.

use super::{finding, plural};
use crate::{
    event::note,
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    server::MOST_PROCESSES,
    tally::Tally,
};

/// The server process ended while it was needed.
const SERVER_CRASH: &str = "server_crash";
/// The server started processes without end, so we ended it.
const TOO_MANY_PROCESSES: &str = "too_many_processes";
/// The transport closed during calls although the process lives or is not ours.
const DISCONNECTED: &str = "disconnected";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    crash(tally).into_iter().chain(crowd(tally)).chain(disconnected(tally)).collect()
}

fn crash(tally: &Tally) -> Option<Finding> {
    let lost = tally.counts().of(ErrorCategory::Crash);
    let exits = tally.notes.get(note::SERVER_EXIT);
    let is_ours = tally.notes.contains_key(note::TOO_MANY_PROCESSES);
    if exits.is_none() && (lost == 0 || is_ours) {
        return None;
    }
    let times = exits.map_or(1, |note| note.count);
    let message = format!(
        "the server process ended {} and took {} with it",
        plural(times, "time"),
        plural(lost, "call")
    );
    let mut found = finding(SERVER_CRASH, Severity::Critical, message);
    found.evidence = exits.map(|note| note.examples.clone()).unwrap_or_default();
    found.hint = Some("`--tee-stderr` shows all that the server says".into());
    Some(found)
}

fn crowd(tally: &Tally) -> Option<Finding> {
    let ended = tally.notes.get(note::TOO_MANY_PROCESSES)?;
    let lost = tally.counts().of(ErrorCategory::Crash);
    let message = format!(
        "the server had more than {MOST_PROCESSES} processes and was ended {}, with {}",
        plural(ended.count, "time"),
        plural(lost, "call")
    );
    let mut found = finding(TOO_MANY_PROCESSES, Severity::Critical, message);
    found.evidence.clone_from(&ended.examples);
    found.hint =
        Some("look for what starts a process for each call, or starts itself again".into());
    Some(found)
}

fn disconnected(tally: &Tally) -> Option<Finding> {
    let lost = tally.counts().of(ErrorCategory::Disconnected);
    if lost == 0 {
        return None;
    }
    let mut found = finding(
        DISCONNECTED,
        Severity::Critical,
        format!("the server closed the connection during {}", plural(lost, "call")),
    );
    found.evidence = tally
        .failures
        .get(&ErrorCategory::Disconnected)
        .map(|note| note.examples.clone())
        .unwrap_or_default();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_dead_server_is_a_crash_once_however_many_calls_it_took() {
        let run = Run::default()
            .failed(ErrorCategory::Crash, 5)
            .failed(ErrorCategory::Crash, 6)
            .noted(note::SERVER_EXIT, "exit code 1");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "the server process ended 1 time and took 2 calls with it");
        assert_eq!(found[0].evidence, ["exit code 1"]);
    }

    #[test]
    fn a_crowd_is_told_as_such_and_not_as_a_crash() {
        let run = Run::default()
            .failed(ErrorCategory::Crash, 5)
            .noted(note::TOO_MANY_PROCESSES, "the server ended with SIGKILL from us");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        let ids: Vec<_> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, [TOO_MANY_PROCESSES]);
        assert_eq!(found[0].evidence, ["the server ended with SIGKILL from us"]);
    }

    #[test]
    fn a_healthy_run_is_silent() {
        assert!(judge(&Run::default().oks(9).tally, &info(Scenario::sustained())).is_empty());
    }

    #[test]
    fn a_crash_shows_by_its_note_or_by_the_calls_it_took() {
        let (exit, crowd) = (note::SERVER_EXIT, note::TOO_MANY_PROCESSES);
        let cases: [(&str, u64, &[&'static str], &[&str]); 5] = [
            ("calls alone", 1, &[], &[SERVER_CRASH]),
            ("a note alone", 0, &[exit], &[SERVER_CRASH]),
            ("neither", 0, &[], &[]),
            ("we ended it", 1, &[crowd], &[TOO_MANY_PROCESSES]),
            ("both", 1, &[exit, crowd], &[SERVER_CRASH, TOO_MANY_PROCESSES]),
        ];
        for (name, lost, notes, expected) in cases {
            let run =
                (0..lost).fold(Run::default().oks(3), |run, _| run.failed(ErrorCategory::Crash, 5));
            let run = notes.iter().fold(run, |run, note| run.noted(note, "told"));
            let found = judge(&run.tally, &info(Scenario::sustained()));
            let ids: Vec<_> = found.iter().map(|finding| finding.id.as_str()).collect();
            assert_eq!(ids, expected, "{name}");
        }
    }

    #[test]
    fn a_connection_that_was_closed_is_told_with_its_calls() {
        let cut = Run::default().oks(3).failed(ErrorCategory::Disconnected, 5);
        let found = judge(&cut.tally, &info(Scenario::sustained()));
        assert_eq!((found.len(), found[0].id.as_str()), (1, DISCONNECTED));
        assert_eq!(found[0].message, "the server closed the connection during 1 call");
        assert_eq!(found[0].evidence, ["it broke"]);
    }
}
