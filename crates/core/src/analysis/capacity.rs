//! What the search for the capacity found.

use super::{errors::ERRORS, finding, silence::DEADLOCK, silence::SLOW_CALLS};
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    stats::search::{Capacity, Confidence},
    tally::Tally,
    thresholds::NO_LIMIT,
};

/// The highest rate that keeps the thresholds.
pub(crate) const CAPACITY: &str = "capacity";
/// The search did not come to an answer that can be trusted.
pub(crate) const CAPACITY_UNCERTAIN: &str = "capacity_uncertain";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(found) = answer(tally) else { return Vec::new() };
    let (id, severity) = if found.confirmed {
        (CAPACITY, Severity::Info)
    } else {
        (CAPACITY_UNCERTAIN, Severity::Warning)
    };
    let confidence = match found.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    };
    let message = format!(
        "within its thresholds the server {}; confidence {confidence}, {} trials",
        found.explain(),
        found.trials
    );
    let told = finding(id, severity, message)
        .figure("rate_per_sec", found.rate)
        .figure("failing_per_sec", found.bracket.1)
        .figure("trials", f64::from(found.trials));
    vec![told]
}

fn answer(tally: &Tally) -> Option<Capacity> {
    let told = tally.notes.get(note::CAPACITY)?.examples.first()?;
    serde_json::from_str(told).ok()
}

/// A search goes beyond the capacity on purpose, and what that brings about is no fault of a server
/// that holds a lower rate each time: such findings are told, but weigh less. What no load excuses, such as a
/// crash or a reply of another call, keeps its weight.
pub(super) fn excuse(findings: &mut [Finding], tally: &Tally, info: &RunInfo) {
    if answer(tally).is_none_or(|found| !found.confirmed) {
        return;
    }
    for finding in findings {
        if let Some(most) = most(&finding.id, info) {
            finding.severity = finding.severity.min(most);
            finding.meaning.get_or_insert_with(|| BEYOND.to_owned());
        }
    }
}

const BEYOND: &str =
    "The search goes beyond the capacity on purpose. The rates that passed kept the limits.";

/// How grave a finding may be at most that overload can bring about.
fn most(id: &str, info: &RunInfo) -> Option<Severity> {
    match id {
        // The rates that passed kept the limit on errors only where there is one.
        ERRORS if info.thresholds.error_rate != NO_LIMIT => Some(Severity::Info),
        SLOW_CALLS => Some(Severity::Info),
        ERRORS | DEADLOCK => Some(Severity::Warning),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Diagnosis, Event},
        outcome::ErrorCategory,
        report::{self, Verdict},
        scenario::Scenario,
        stats::search::{Search, TrialOutcome},
        thresholds::Thresholds,
    };
    use std::time::Duration;

    fn search(holds: fn(f64) -> TrialOutcome) -> Vec<Finding> {
        judge(&searched(Run::default().oks(10), holds).tally, &info(Scenario::capacity()))
    }

    fn searched(mut run: Run, holds: fn(f64) -> TrialOutcome) -> Run {
        let mut search = Search::new(10.0, 10_000.0, 0.05);
        while let Some(trial) = search.next() {
            search.observe(trial, holds(trial.rate));
        }
        let detail = serde_json::to_string(&search.finish()).unwrap();
        run.tally.observe(&Event::note(Duration::ZERO, note::CAPACITY, detail));
        run
    }

    fn held(rate: f64) -> TrialOutcome {
        if rate <= 400.0 { TrialOutcome::Passed } else { TrialOutcome::Failed }
    }

    #[test]
    fn an_answer_is_told_with_its_confidence() {
        let found = search(held);
        assert_eq!((found[0].id.as_str(), found[0].severity), (CAPACITY, Severity::Info));
        assert!(found[0].message.contains("confidence high"), "{}", found[0].message);
        let ours = |rate| if rate < 50.0 { TrialOutcome::Passed } else { TrialOutcome::Invalid };
        assert_eq!(search(ours)[0].id, CAPACITY_UNCERTAIN);
    }

    /// All findings and the verdict of a search with a limit on errors.
    fn told(run: Run) -> (Vec<(String, Severity)>, Verdict) {
        let thresholds = Thresholds { error_rate: 0.01, ..Thresholds::default() };
        let info = RunInfo { thresholds, ..info(Scenario::capacity()) };
        let report = report::build(info, &run.tally);
        let found = report.findings.into_iter().map(|found| (found.id, found.severity));
        (found.collect(), report.verdict)
    }

    fn overloaded() -> Run {
        let at = Duration::from_secs(1);
        let mut run = Run::default().oks(100);
        run = (0..200).fold(run, |run, _| run.failed(ErrorCategory::Timeout, 5));
        run.tally.observe(&Event::Dropped { at, worker: 0, segment: 0, count: 50 });
        run
    }

    #[test]
    fn what_a_search_does_beyond_the_capacity_is_held_against_nobody() {
        let (found, verdict) = told(searched(overloaded(), held));
        let info = |id: &str| (id.to_owned(), Severity::Info);
        assert_eq!(found, [info(CAPACITY), info(ERRORS), info("dropped_calls")]);
        assert_eq!(verdict, Verdict::Pass);
        let (found, _) = told(searched(overloaded().slow(6_000), held));
        assert!(found.contains(&info(SLOW_CALLS)), "{found:?}");
        let (found, verdict) = told(searched(overloaded().silent(Diagnosis::Wedged), held));
        assert_eq!(found[0], (DEADLOCK.to_owned(), Severity::Warning));
        assert_eq!(verdict, Verdict::Warning);
    }

    #[test]
    fn a_search_in_which_no_rate_passed_and_what_no_load_excuses_keep_their_weight() {
        let critical = |id: &str| (id.to_owned(), Severity::Critical);
        let (found, verdict) = told(searched(overloaded(), |_| TrialOutcome::Failed));
        assert_eq!((&found[0], verdict), (&critical(ERRORS), Verdict::Critical));
        let crossed = format!("{}: nonce b", crate::arguments::CROSSED);
        let crossed = overloaded().failed_with(ErrorCategory::Malformed, &crossed);
        for (run, id) in [
            (overloaded().failed(ErrorCategory::Crash, 5), "server_crash"),
            (overloaded().failed(ErrorCategory::Malformed, 5), "malformed_reply"),
            (crossed, "crossed_replies"),
        ] {
            let (found, verdict) = told(searched(run, held));
            assert_eq!((&found[0], verdict), (&critical(id), Verdict::Critical));
        }
        let run = searched(overloaded(), held);
        let unlimited = super::super::judge(&run.tally, &info(Scenario::capacity()));
        let errors = unlimited.iter().find(|found| found.id == ERRORS).unwrap();
        assert_eq!(errors.severity, Severity::Warning, "no limit that the rates could keep");
    }
}
