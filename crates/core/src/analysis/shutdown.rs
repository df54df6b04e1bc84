//! How the server ended when it was asked to, and what it left behind.

use super::{finding, plural};
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// The server did not end by itself when its input ended.
const NEEDS_SIGNAL: &str = "shutdown_needs_signal";
/// Processes of the server outlived it.
const STRAY_PROCESS: &str = "stray_process";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let mut found = Vec::new();
    // A wedged or crashed server cannot be blamed twice for how it had to be ended.
    if let Some(note) = tally.notes.get(note::SERVER_STOP).filter(|_| tally.deadlock_count == 0) {
        let killed = note.examples.iter().any(|example| example.contains("SIGKILL"));
        let severity = if killed { Severity::Warning } else { Severity::Info };
        let mut stop =
            finding(NEEDS_SIGNAL, severity, "the server did not exit when its input ended".into());
        stop.evidence.clone_from(&note.examples);
        stop.hint = Some(
            "exit at the end of stdin: clients that end abruptly leave such servers behind".into(),
        );
        found.push(stop);
    }
    if let Some(note) = tally.notes.get(note::STRAY_PROCESS) {
        let message =
            format!("{} outlived the server and had to be killed", plural(note.count, "process"));
        let mut stray = finding(STRAY_PROCESS, Severity::Warning, message);
        stray.evidence.clone_from(&note.examples);
        found.push(stray);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_server_that_had_to_be_killed_is_told() {
        let run = Run::default().oks(3).noted(note::SERVER_STOP, "needed SIGKILL");
        assert_eq!(judge(&run.tally, &info(Scenario::sustained()))[0].severity, Severity::Warning);
        let term = Run::default().oks(3).noted(note::SERVER_STOP, "needed SIGTERM");
        assert_eq!(judge(&term.tally, &info(Scenario::sustained()))[0].severity, Severity::Info);
        assert!(judge(&Run::default().oks(3).tally, &info(Scenario::sustained())).is_empty());
    }
}
