//! How many calls failed, and whether any succeeded at all.

use super::{finding, plural};
use crate::{
    event::note,
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Not one call succeeded.
const NO_SUCCESS: &str = "no_success";
/// Not one call succeeded, and the arguments were ours.
pub(super) const ARGUMENTS_REFUSED: &str = "arguments_refused";
/// Some calls failed.
const ERRORS: &str = "errors";

/// What is told here; silence, crashes and broken frames have analyses of their own.
const TOLD: [ErrorCategory; 4] = [
    ErrorCategory::Timeout,
    ErrorCategory::ServerError,
    ErrorCategory::ProtocolError,
    ErrorCategory::ToolError,
];

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let counts = &tally.counts();
    let told: u64 = TOLD.into_iter().map(|category| counts.of(category)).sum();
    if told == 0 {
        return Vec::new();
    }
    let made_up = tally.noted(note::MADE_UP_CALL) > 0;
    let mut found = if counts.ok == 0 && made_up {
        let message = "every call was refused, but the arguments were made up from the schema: nothing can be said of the server";
        let mut refused = finding(ARGUMENTS_REFUSED, Severity::Warning, message.into());
        refused.hint = Some("name a tool and real arguments with `--tool` and `--args`".into());
        refused
    } else if counts.ok == 0 {
        let message = format!("not one of {} succeeded", plural(counts.issued, "call"));
        finding(NO_SUCCESS, Severity::Critical, message)
    } else {
        let message = format!("{told} of {} failed", plural(counts.issued, "call"));
        let mostly = told * 2 > counts.issued;
        finding(ERRORS, if mostly { Severity::Critical } else { Severity::Warning }, message)
    };
    let told = tally.failures.iter().filter(|(category, _)| TOLD.contains(category));
    let examples = told.filter_map(|(category, note)| {
        let example = note.examples.first()?;
        Some(format!("{} x {}: {example}", note.count, category.name()))
    });
    found.evidence = examples.collect();
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_run_without_a_success_is_critical() {
        let run =
            Run::default().failed(ErrorCategory::ToolError, 1).failed(ErrorCategory::ToolError, 1);
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].id.as_str(), found[0].severity), (NO_SUCCESS, Severity::Critical));
        assert_eq!(found[0].evidence, ["2 x ToolError: it broke"]);
    }

    #[test]
    fn made_up_arguments_that_are_refused_say_nothing_of_the_server() {
        let run = Run::default()
            .failed(ErrorCategory::ToolError, 1)
            .noted(note::MADE_UP_CALL, "git_status {}");
        let report = crate::report::build(info(Scenario::sustained()), &run.tally);
        assert_eq!(report.verdict, crate::report::Verdict::Invalid);
        assert!(!report.passed());
    }

    #[test]
    fn a_run_that_mostly_fails_is_critical() {
        let run = Run::default()
            .oks(1)
            .failed(ErrorCategory::ToolError, 1)
            .failed(ErrorCategory::ToolError, 1);
        assert_eq!(judge(&run.tally, &info(Scenario::sustained()))[0].severity, Severity::Critical);
    }

    #[test]
    fn some_failures_are_a_warning_and_none_is_silence() {
        let some = Run::default().oks(9).failed(ErrorCategory::ServerError, 1);
        assert_eq!(judge(&some.tally, &info(Scenario::sustained()))[0].severity, Severity::Warning);
        let cut_off = Run::default().oks(9).failed(ErrorCategory::Cancelled, 1);
        assert!(judge(&cut_off.tally, &info(Scenario::sustained())).is_empty());
    }

    #[test]
    fn half_of_the_calls_are_not_most_of_them() {
        let half = Run::default().oks(1).failed(ErrorCategory::ToolError, 1);
        let found = judge(&half.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].id.as_str(), found[0].severity), (ERRORS, Severity::Warning));
        assert_eq!(found[0].message, "1 of 2 calls failed");
    }

    #[test]
    fn made_up_arguments_that_work_now_and_then_excuse_nothing() {
        let run = Run::default()
            .oks(9)
            .failed(ErrorCategory::ToolError, 1)
            .noted(note::MADE_UP_CALL, "git_status {}");
        assert_eq!(judge(&run.tally, &info(Scenario::sustained()))[0].id, ERRORS);
    }
}
