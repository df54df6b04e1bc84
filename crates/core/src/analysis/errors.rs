//! How many calls failed, and whether any succeeded at all.

use super::{finding, plural};
use crate::{
    event::note,
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    tally::{Counts, Tally},
};

/// Not one call succeeded.
const NO_SUCCESS: &str = "no_success";
/// Not one call succeeded, and the arguments were ours.
pub(super) const ARGUMENTS_REFUSED: &str = "arguments_refused";
/// Some calls failed.
pub(super) const ERRORS: &str = "errors";

/// What the server said itself.
const REFUSED: [ErrorCategory; 3] =
    [ErrorCategory::ServerError, ErrorCategory::ProtocolError, ErrorCategory::ToolError];
/// What is told here; silence, crashes and broken frames have analyses of their own.
const TOLD: [ErrorCategory; 4] = [
    ErrorCategory::Timeout,
    ErrorCategory::ServerError,
    ErrorCategory::ProtocolError,
    ErrorCategory::ToolError,
];

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let found = match tally.counts().ok {
        0 => none_succeeded(tally, info),
        _ => some_failed(tally),
    };
    found.into_iter().collect()
}

fn sum(counts: &Counts, categories: &[ErrorCategory]) -> u64 {
    categories.iter().map(|category| counts.of(*category)).sum()
}

fn none_succeeded(tally: &Tally, info: &RunInfo) -> Option<Finding> {
    let counts = tally.counts();
    if untold(tally, &counts, info) == 0 {
        return None;
    }
    let mut found = if only_made_up_was_refused(tally, &counts) {
        let message = "every call was refused, but the arguments were made up from the schema: nothing can be said of the server";
        let mut refused = finding(ARGUMENTS_REFUSED, Severity::Warning, message.into());
        refused.hint = Some("name a tool and real arguments with `--tool` and `--args`".into());
        refused
    } else {
        let message = format!("not one of {} succeeded", plural(counts.issued, "call"));
        finding(NO_SUCCESS, Severity::Critical, message)
    };
    found.evidence = examples(tally, |category| category != ErrorCategory::Cancelled);
    Some(found)
}

/// Failures of which no other analysis makes a critical finding, however many they are.
fn untold(tally: &Tally, counts: &Counts, info: &RunInfo) -> u64 {
    // A burst that is answered late has shown what it was to show, and that is a warning.
    let is_burst = matches!(info.scenario.kind, ScenarioKind::DeadlockProbe(_));
    let late = if is_burst { 0 } else { counts.of(ErrorCategory::Hang) };
    sum(counts, &TOLD) + tally.not_echoed.count + tally.oversized + late
}

/// Whether each failure is a refusal of arguments that the server never asked for. Silence is none.
fn only_made_up_was_refused(tally: &Tally, counts: &Counts) -> bool {
    let made_up = tally.noted(note::MADE_UP_CALL) > 0 && tally.noted(note::PLANNED_CALL) == 0;
    let failed = counts.errors() - counts.of(ErrorCategory::Cancelled);
    made_up && sum(counts, &REFUSED) == failed
}

fn some_failed(tally: &Tally) -> Option<Finding> {
    let counts = tally.counts();
    let told = sum(&counts, &TOLD);
    if told == 0 {
        return None;
    }
    let message = format!("{told} of {} failed", plural(counts.issued, "call"));
    let mostly = told * 2 > counts.issued;
    let severity = if mostly { Severity::Critical } else { Severity::Warning };
    let mut found = finding(ERRORS, severity, message);
    found.evidence = examples(tally, |category| TOLD.contains(&category));
    Some(found)
}

fn examples(tally: &Tally, is_told: impl Fn(ErrorCategory) -> bool) -> Vec<String> {
    let told = tally.failures.iter().filter(|(category, _)| is_told(**category));
    let examples = told.filter_map(|(category, note)| {
        let example = note.examples.first()?;
        Some(format!("{} x {}: {example}", note.count, category.name()))
    });
    examples.collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{arguments::NOT_ECHOED, scenario::Scenario};

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

    #[test]
    fn a_run_without_a_success_is_critical_whatever_its_failures_are() {
        let missing = format!("{NOT_ECHOED}: nonce b is missing");
        let silent = Run::default().slow(6_000).slow(7_000);
        let unechoed = Run::default().failed_with(ErrorCategory::Malformed, &missing);
        let too_long = Run::default().failed_with(ErrorCategory::Malformed, "frame_too_large");
        let scenarios = [Scenario::soak().build(), Scenario::spike().build()];
        for scenario in scenarios.map(info) {
            for run in [&silent, &unechoed, &too_long] {
                let found = judge(&run.tally, &scenario);
                let is = (found[0].id.as_str(), found[0].severity);
                assert_eq!(is, (NO_SUCCESS, Severity::Critical));
            }
            let late = judge(&silent.tally, &scenario).remove(0);
            assert_eq!(late.evidence, ["2 x Hang: late"]);
        }
        assert_eq!(judge(&silent.tally, &info(Scenario::deadlock_probe())), []);
        let told_elsewhere = Run::default().failed(ErrorCategory::Crash, 5);
        assert_eq!(judge(&told_elsewhere.tally, &info(Scenario::soak())), []);
        let cut_off = Run::default().failed(ErrorCategory::Cancelled, 5);
        assert_eq!(judge(&cut_off.tally, &info(Scenario::soak())), []);
        let one_well = silent.ok(0, 5);
        assert_eq!(judge(&one_well.tally, &info(Scenario::soak())), []);
    }

    #[test]
    fn made_up_arguments_excuse_no_silence_and_no_call_of_the_users_own() {
        let id = |run: Run| judge(&run.tally, &info(Scenario::sustained())).remove(0).id;
        let made_up = || Run::default().noted(note::MADE_UP_CALL, "git_status {}");
        let refused = |run: Run| run.failed(ErrorCategory::ToolError, 1);
        assert_eq!(id(refused(made_up())), ARGUMENTS_REFUSED);
        let cut_off = refused(made_up()).failed(ErrorCategory::Cancelled, 1);
        assert_eq!(id(cut_off), ARGUMENTS_REFUSED);
        assert_eq!(id(made_up().failed(ErrorCategory::Timeout, 1_000)), NO_SUCCESS);
        assert_eq!(id(refused(made_up()).failed(ErrorCategory::Timeout, 1_000)), NO_SUCCESS);
        assert_eq!(id(refused(made_up().noted(note::PLANNED_CALL, "echo {}"))), NO_SUCCESS);
    }
}
