//! Calls of ours that the server withdrew with `notifications/cancelled`.
//!
//! Either side may withdraw its own requests only. Clients differ in what they do when the server does
//! so: some drop the call for ever, some wait for a reply that the server takes for unwanted.

use super::{finding, plural};
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(note) = tally.notes.get(note::CALL_WITHDRAWN) else { return Vec::new() };
    let message = format!(
        "the server sent `notifications/cancelled` for {} of ours while it was open",
        plural(note.count, "call")
    );
    let mut withdrawn = finding(note::CALL_WITHDRAWN, Severity::Warning, message);
    withdrawn.evidence.clone_from(&note.examples);
    withdrawn.hint =
        Some("answer the call with an error instead: only who asked may withdraw a request".into());
    vec![withdrawn]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_call_that_the_server_withdrew_is_told_and_a_healthy_run_is_silent() {
        let told = |run: Run| judge(&run.tally, &info(Scenario::sustained()));
        let found = told(Run::default().oks(3).noted(note::CALL_WITHDRAWN, "id 7, `echo`"));
        assert_eq!(
            (found[0].id.as_str(), found[0].severity),
            ("call_withdrawn", Severity::Warning)
        );
        assert_eq!(found[0].evidence, ["id 7, `echo`"]);
        assert!(found[0].message.contains("1 call of ours"), "{}", found[0].message);
        assert_eq!(told(Run::default().oks(3)), []);
    }
}
