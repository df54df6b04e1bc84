//! Whether the run can be judged at all: every call has ended in one way, and there was one.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Issued calls and ended calls do not add up.
pub(super) const OPEN: &str = "accounting_open";
/// Not one call was made.
pub(super) const NOTHING_MEASURED: &str = "nothing_measured";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let counts = &tally.counts();
    if counts.issued == 0 {
        return vec![finding(
            NOTHING_MEASURED,
            Severity::Warning,
            "not one call was made, so there is nothing to judge".into(),
        )];
    }
    if counts.closes() {
        return Vec::new();
    }
    let message = format!(
        "{} calls were issued, but {} succeeded, {} failed and {} were dropped: the figures cannot be trusted",
        counts.issued,
        counts.ok,
        counts.errors(),
        counts.dropped,
    );
    vec![finding(OPEN, Severity::Warning, message)]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{report, report::Verdict, scenario::Scenario};

    #[test]
    fn a_run_without_a_call_is_invalid_and_never_a_pass() {
        let report = report::build(info(Scenario::sustained()), &Tally::default());
        assert_eq!(report.verdict, Verdict::Invalid);
        assert!(!report.passed());
    }

    #[test]
    fn a_call_that_is_unaccounted_for_makes_the_run_invalid() {
        let mut run = Run::default().oks(3);
        run.tally.segments[0].counts.issued += 1;
        assert_eq!(
            report::build(info(Scenario::sustained()), &run.tally).verdict,
            Verdict::Invalid
        );
        assert_eq!(
            report::build(info(Scenario::sustained()), &Run::default().oks(3).tally).verdict,
            Verdict::Pass
        );
    }
}
