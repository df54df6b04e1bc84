//! What the search for the capacity found.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    stats::search::{Capacity, Confidence, Ending},
    tally::Tally,
};

/// The highest rate that keeps the thresholds.
pub(crate) const CAPACITY: &str = "capacity";
/// The search did not come to an answer that can be trusted.
pub(crate) const CAPACITY_UNCERTAIN: &str = "capacity_uncertain";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let told = tally.notes.get(note::CAPACITY).and_then(|note| note.examples.first());
    let Some(found) = told.and_then(|text| serde_json::from_str::<Capacity>(text).ok()) else {
        return Vec::new();
    };
    let sure = matches!(found.ending, Ending::Confirmed | Ending::AtTop);
    let (id, severity) =
        if sure { (CAPACITY, Severity::Info) } else { (CAPACITY_UNCERTAIN, Severity::Warning) };
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

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::Event,
        scenario::Scenario,
        stats::search::{Search, TrialOutcome},
    };
    use std::time::Duration;

    fn search(holds: fn(f64) -> TrialOutcome) -> Vec<Finding> {
        let mut search = Search::new(10.0, 10_000.0, 0.05);
        while let Some(trial) = search.next() {
            search.observe(trial, holds(trial.rate));
        }
        let detail = serde_json::to_string(&search.finish()).unwrap();
        let mut run = Run::default().oks(10);
        run.tally.observe(&Event::note(Duration::ZERO, note::CAPACITY, detail));
        judge(&run.tally, &info(Scenario::capacity()))
    }

    #[test]
    fn an_answer_is_told_with_its_confidence() {
        let held = |rate| if rate <= 400.0 { TrialOutcome::Passed } else { TrialOutcome::Failed };
        let found = search(held);
        assert_eq!((found[0].id.as_str(), found[0].severity), (CAPACITY, Severity::Info));
        assert!(found[0].message.contains("confidence high"), "{}", found[0].message);
        let ours = |rate| if rate < 50.0 { TrialOutcome::Passed } else { TrialOutcome::Invalid };
        assert_eq!(search(ours)[0].id, CAPACITY_UNCERTAIN);
    }
}
