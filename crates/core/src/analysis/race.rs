//! Identical calls that are answered differently.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity, wrap::cut},
    stats::race::{Divergence, DivergenceVerdict},
    tally::Tally,
};

/// Identical calls got different answers.
pub(crate) const DIVERGENT: &str = "divergent_replies";
/// Answers differ each time, by design it seems.
pub(crate) const VOLATILE: &str = "volatile_replies";

/// What to do about answers that differ,
const HINT: &str = "look for state that calls share; call it alone to see what is right";
/// and about calls that fail beside others that do not.
const FAILURES_HINT: &str = "look for state that calls share; a tool that works once by design, such as one that \
                             creates something, cannot be judged so: choose one that may be called alike";

/// How much of an answer is shown, and how many of the places at which answers differ.
const EXCERPT: usize = 160;
const PLACES: usize = 5;

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let told = tally.notes.get(note::DIVERGENCE).map(|note| note.examples.as_slice());
    let found = told.unwrap_or_default().iter().filter_map(|text| serde_json::from_str(text).ok());
    found.flat_map(|divergence| judge_one(&divergence)).collect()
}

fn judge_one(divergence: &Divergence) -> Vec<Finding> {
    [divergent(divergence), volatile(divergence)].into_iter().flatten().collect()
}

fn volatile(divergence: &Divergence) -> Option<Finding> {
    if divergence.verdict != DivergenceVerdict::Volatile {
        return None;
    }
    let paths: Vec<_> = divergence.volatile_paths.iter().map(|path| path.path.as_str()).collect();
    let differ = format!("replies to identical calls differ only at {}", some(&paths));
    Some(match divergence.left_out {
        0 => finding(VOLATILE, Severity::Info, differ),
        more => {
            let message = format!("{differ}, as far as they were compared: {more} more were not");
            let mut found = finding(VOLATILE, Severity::Warning, message);
            found.hint = Some("compare fewer calls, or with shorter replies".into());
            found
        }
    })
}

/// Some of the places.
fn some(paths: &[&str]) -> String {
    let shown: Vec<_> = paths.iter().take(PLACES).map(|path| cut(path, EXCERPT)).collect();
    let more = paths.len() - shown.len();
    let places = shown.join(", ");
    if more > 0 { format!("{places} and {more} more places") } else { places }
}

fn divergent(divergence: &Divergence) -> Option<Finding> {
    let failures = divergence.failures.as_ref().map(|failures| {
        let message = format!(
            "{} of {} identical calls failed, the others did not",
            failures.failed, failures.calls
        );
        (message, failures.messages.clone())
    });
    let told: Vec<_> = failures.into_iter().chain(contents(divergence)).collect();
    if told.is_empty() {
        return None;
    }
    let (messages, evidence): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    let mut found = finding(DIVERGENT, Severity::Critical, messages.join("; "));
    found.evidence = evidence.concat();
    let hint = if divergence.failures.is_some() { FAILURES_HINT } else { HINT };
    found.hint = Some(hint.into());
    Some(found)
}

/// What is told of good replies that differ, and some of them.
fn contents(divergence: &Divergence) -> Option<(String, Vec<String>)> {
    if divergence.verdict != DivergenceVerdict::Divergent {
        return None;
    }
    let shown: usize = divergence.groups.iter().map(|group| group.count).sum();
    let differing = match divergence.not_shown + divergence.left_out {
        0 => divergence.groups.len().to_string(),
        _ => "many".into(),
    };
    let paths: Vec<_> = divergence.divergent_paths.iter().map(String::as_str).collect();
    let message = format!(
        "{} identical calls got {differing} different answers; they differ {}",
        shown + divergence.not_shown + divergence.left_out,
        match paths.first() {
            None | Some(&"") => "as a whole".into(),
            Some(_) => format!("at {}", some(&paths)),
        },
    );
    let groups = divergence.groups.iter().take(3).map(|group| {
        let text: String = group.canonical.chars().take(EXCERPT).collect();
        format!("{} times {text}", group.count)
    });
    Some((message, groups.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::Event,
        scenario::Scenario,
        stats::race::{Answers, compare_results},
    };
    use serde_json::{Value, json};
    use std::time::Duration;

    fn check(reply: fn(u64) -> Value) -> Vec<Finding> {
        let replies: Vec<_> = (0..100).map(reply).collect();
        judged(&compare_results(&replies))
    }

    fn judged(divergence: &Divergence) -> Vec<Finding> {
        let detail = serde_json::to_string(divergence).unwrap();
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

    #[test]
    fn calls_that_fail_beside_others_that_do_not_are_told() {
        let mut answers = Answers::default();
        answers.add_burst(&vec![json!("ann"); 6], &["ServerError: lost".into(), "x".into()]);
        let found = judged(&answers.compare());
        assert_eq!((found[0].id.as_str(), found[0].severity), (DIVERGENT, Severity::Critical));
        assert_eq!(found[0].message, "2 of 8 identical calls failed, the others did not");
        assert_eq!(found[0].evidence, ["ServerError: lost", "x"]);
        assert!(found[0].hint.as_ref().unwrap().contains("works once by design"));
        answers.add_burst(&[json!("bob")], &[]);
        let found = judged(&answers.compare());
        assert!(found[0].message.contains("; 7 identical calls got 2 different"), "{found:#?}");
        assert_eq!((found.len(), found[0].evidence.len()), (1, 4));
    }

    #[test]
    fn what_was_not_compared_is_a_warning() {
        let found = compare_results(&[1, 2, 3].map(|n| json!({ "id": n * n })));
        assert_eq!(judged(&found)[0].severity, Severity::Info);
        let found = judged(&Divergence { left_out: 3, ..found });
        assert_eq!((found[0].id.as_str(), found[0].severity), (VOLATILE, Severity::Warning));
        assert!(found[0].message.ends_with("compared: 3 more were not"), "{}", found[0].message);
    }

    #[test]
    fn very_many_places_are_not_all_listed() {
        let answer = |n| (0..90).map(|at| (format!("{at:02}"), json!(n % 3))).collect();
        let found = check(answer);
        assert!(found[0].message.ends_with("/04 and 85 more places"), "{}", found[0].message);
        let found = check(|n| (0..90).map(|at| (format!("{n}-{at}"), json!(1))).collect());
        assert!(found[0].message.ends_with("differ as a whole"), "{}", found[0].message);
    }
}
