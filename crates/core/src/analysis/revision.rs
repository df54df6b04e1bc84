//! The server answered with another revision than it was asked for.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Another revision, or one that nobody knows.
const REVISION_MISMATCH: &str = "revision_mismatch";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(note) = tally.notes.get(note::REVISION_MISMATCH) else { return Vec::new() };
    let message = "the server answered with another protocol revision than it was asked for";
    let mut found = finding(REVISION_MISMATCH, Severity::Warning, message.into());
    found.evidence.clone_from(&note.examples);
    found.hint = Some("name the server's revision with `--protocol`, or use `auto`".into());
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_mismatch_is_a_warning_and_agreement_is_silence() {
        let run = Run::default().oks(3).noted(note::REVISION_MISMATCH, "asked for a, got b");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].severity, found[0].evidence.len()), (Severity::Warning, 1));
        assert!(judge(&Run::default().oks(3).tally, &info(Scenario::sustained())).is_empty());
    }
}
