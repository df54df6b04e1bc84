//! Identical calls that are answered differently.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    stats::race::{Divergence, DivergenceVerdict},
    tally::Tally,
};

/// Identical calls got different answers.
pub(crate) const DIVERGENT: &str = "divergent_replies";
/// Answers differ each time, by design it seems.
pub(crate) const VOLATILE: &str = "volatile_replies";

/// How much of an answer is shown.
const EXCERPT: usize = 160;

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let told = tally.notes.get(note::DIVERGENCE).map(|note| note.examples.as_slice());
    let found = told.unwrap_or_default().iter().filter_map(|text| serde_json::from_str(text).ok());
    found.filter_map(|divergence| judge_one(&divergence)).collect()
}

fn judge_one(divergence: &Divergence) -> Option<Finding> {
    match divergence.verdict {
        DivergenceVerdict::Same => None,
        DivergenceVerdict::Volatile => {
            let paths: Vec<_> =
                divergence.volatile_paths.iter().map(|path| path.path.as_str()).collect();
            let message = format!("replies to identical calls differ only at {}", paths.join(", "));
            Some(finding(VOLATILE, Severity::Info, message))
        }
        DivergenceVerdict::Divergent => {
            let replies: usize = divergence.groups.iter().map(|group| group.count).sum();
            let message = format!(
                "{replies} identical calls got {} different answers; they differ at {}",
                divergence.groups.len(),
                divergence.divergent_paths.join(", ")
            );
            let mut found = finding(DIVERGENT, Severity::Critical, message);
            let groups = divergence.groups.iter().take(3);
            found.evidence = groups
                .map(|group| {
                    let text: String = group.canonical.chars().take(EXCERPT).collect();
                    format!("{} times {text}", group.count)
                })
                .collect();
            found.hint =
                Some("look for state that calls share; call it alone to see what is right".into());
            Some(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{event::Event, scenario::Scenario, stats::race::compare_results};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn check(reply: fn(u64) -> Value) -> Vec<Finding> {
        let replies: Vec<_> = (0..100).map(reply).collect();
        let detail = serde_json::to_string(&compare_results(&replies)).unwrap();
        let mut run = Run::default().oks(100);
        run.tally.observe(&Event::note(Duration::ZERO, note::DIVERGENCE, detail));
        judge(&run.tally, &info(Scenario::race_check()))
    }

    #[test]
    fn a_few_odd_answers_are_told_and_clocks_are_not_blamed() {
        let odd = check(|n| json!({"user": if n % 33 == 5 { "bob" } else { "ann" }}));
        assert_eq!(odd[0].id, DIVERGENT);
        assert_eq!(check(|n| json!({"id": format!("{n}-{n}")}))[0].id, VOLATILE);
        assert_eq!(check(|_| json!({"user": "ann"})), []);
    }
}
