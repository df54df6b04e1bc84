//! The server process ended on its own, or its connections broke.

use super::{finding, plural};
use crate::{
    event::note,
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// The server process ended while it was needed.
const SERVER_CRASH: &str = "server_crash";
/// The transport closed during calls although the process lives or is not ours.
const DISCONNECTED: &str = "disconnected";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    crash(tally).into_iter().chain(disconnected(tally)).collect()
}

fn crash(tally: &Tally) -> Option<Finding> {
    let lost = tally.counts().of(ErrorCategory::Crash);
    let exits = tally.notes.get(note::SERVER_EXIT);
    if lost == 0 && exits.is_none() {
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
    fn a_healthy_run_is_silent() {
        assert!(judge(&Run::default().oks(9).tally, &info(Scenario::sustained())).is_empty());
    }
}
