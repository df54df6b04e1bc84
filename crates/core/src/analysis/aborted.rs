//! The run could not be carried out as it was asked for.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
    units::{format_latency, format_span},
};

/// Part of the run did not happen.
const ABORTED: &str = "aborted";
/// The rest of the run was left out, because a limit was not kept. The calls that were on their way then
/// may have kept it after all; what was left out would have to tell.
pub(crate) const ENDED_ON_FAIL: &str = "ended_on_fail";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    aborted(tally).into_iter().chain(ended_on_fail(tally, info)).collect()
}

fn aborted(tally: &Tally) -> Option<Finding> {
    let note = tally.notes.get(note::ABORTED)?;
    let message = "the server kept the run from being carried out as it was asked for";
    let mut found = finding(ABORTED, Severity::Critical, message.into());
    found.evidence.clone_from(&note.examples);
    Some(found)
}

fn ended_on_fail(tally: &Tally, info: &RunInfo) -> Option<Finding> {
    let note = tally.notes.get(note::ENDED_ON_FAIL)?;
    let asked = info.scenario.kind.settings().length();
    let of = asked.map(|length| format!(" of {}", format_span(length))).unwrap_or_default();
    let lasted = format_latency(tally.total().load_time());
    let message = format!("the run ended after {lasted}{of}, because a limit was not kept");
    let mut found = finding(ENDED_ON_FAIL, Severity::Info, message);
    found.evidence.clone_from(&note.examples);
    Some(found)
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

    #[test]
    fn a_run_that_ends_on_a_limit_says_so() {
        let run = Run::default().oks(3).noted(note::ENDED_ON_FAIL, "p99_latency: 9 of 100");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].id.as_str(), found[0].severity), (ENDED_ON_FAIL, Severity::Info));
        assert!(found[0].message.contains(" of 30s"), "{}", found[0].message);
    }
}
