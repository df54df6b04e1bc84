//! The run could not be carried out as it was asked for.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Part of the run did not happen.
const ABORTED: &str = "aborted";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(note) = tally.notes.get(note::ABORTED) else { return Vec::new() };
    let message = "the server kept the run from being carried out as it was asked for";
    let mut found = finding(ABORTED, Severity::Critical, message.into());
    found.evidence.clone_from(&note.examples);
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_run_that_did_not_happen_is_never_a_pass() {
        let run = Run::default().oks(3).noted(note::ABORTED, "it does not start again");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!(found[0].severity, Severity::Critical);
        assert!(judge(&Run::default().oks(3).tally, &info(Scenario::sustained())).is_empty());
    }
}
