//! Answers to identical calls as they come, each distinct one kept once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Counted, Divergence, Failures, canonical, compare};
use crate::display::visible;

/// Distinct answers that are kept at most, and how much of their text; the memory of a run has its limits.
const MOST_KEPT: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;
/// How many messages of failures are kept, and how much of each.
const MOST_MESSAGES: usize = 3;
const EXCERPT: usize = 160;

/// The answers to identical calls. However many there are, memory is only taken for those that differ.
#[derive(Debug, Default)]
pub struct Answers {
    /// How often each came in canonical form, and which one was the first of it.
    kept: BTreeMap<String, (usize, usize)>,
    bytes: usize,
    seen: usize,
    left_out: usize,
    failures: Option<Failures>,
}

impl Answers {
    /// Takes the answers to calls of one instant: the good ones, and what those said that failed. Where
    /// all of them failed nobody was answered differently.
    pub fn add_burst(&mut self, good: Vec<Value>, failures: &[String]) {
        if !good.is_empty() && !failures.is_empty() {
            let told = self.failures.get_or_insert_default();
            told.failed += failures.len();
            told.calls += failures.len() + good.len();
            for message in failures.iter().map(|message| visible(message, EXCERPT)) {
                if told.messages.len() < MOST_MESSAGES && !told.messages.contains(&message) {
                    told.messages.push(message);
                }
            }
        }
        good.iter().for_each(|answer| self.add(answer));
    }

    fn add(&mut self, answer: &Value) {
        let first = self.seen;
        self.seen += 1;
        let text = canonical(answer);
        if let Some((count, _)) = self.kept.get_mut(&text) {
            *count += 1;
        } else if self.kept.len() < MOST_KEPT && self.bytes < MOST_BYTES {
            self.bytes += text.len();
            self.kept.insert(text, (1, first));
        } else {
            self.left_out += 1;
        }
    }

    /// What they show.
    pub fn compare(&self) -> Divergence {
        let parse = |text: &String| serde_json::from_str(text).unwrap_or(Value::Null);
        let values: Vec<Value> = self.kept.keys().map(parse).collect();
        let mut counted: Vec<_> = values
            .iter()
            .zip(self.kept.values())
            .map(|(value, (count, first))| Counted { value, count: *count, first: *first })
            .collect();
        counted.sort_by_key(|counted| counted.first);
        let (left_out, failures) = (self.left_out, self.failures.clone());
        Divergence { left_out, failures, ..compare(&counted) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DivergenceVerdict, VolatileKind, compare_results};
    use super::*;
    use serde_json::json;

    fn compared(answers: Vec<Value>) -> Divergence {
        let mut kept = Answers::default();
        kept.add_burst(answers, &[]);
        kept.compare()
    }

    #[test]
    fn a_late_odd_answer_is_seen_behind_any_number_of_equal_ones() {
        let many = |odd: usize| {
            let user = |n| json!({"user": if n == odd { "bob" } else { "ann" }});
            compared((0..3 * MOST_KEPT).map(user).collect())
        };
        let found = many(3 * MOST_KEPT - 1);
        assert_eq!((found.verdict, found.left_out), (DivergenceVerdict::Divergent, 0));
        let counts: Vec<_> = found.groups.iter().map(|group| (group.count, group.first)).collect();
        assert_eq!(counts, [(3 * MOST_KEPT - 1, 0), (1, 3 * MOST_KEPT - 1)]);
        assert_eq!(many(usize::MAX).verdict, DivergenceVerdict::Same);
    }

    #[test]
    fn more_different_answers_than_are_kept_are_counted() {
        let found = compared((0..MOST_KEPT + 7).map(|n| json!({"id": n * n})).collect());
        assert_eq!((found.verdict, found.left_out), (DivergenceVerdict::Volatile, 7));
        assert_eq!(found.volatile_paths[0].kind, VolatileKind::Unique);
    }

    #[test]
    fn answers_that_are_kept_once_show_what_all_of_them_show() {
        let shapes: [fn(u64) -> Value; 6] = [
            |n| json!({"user": if n % 40 == 7 { "bob" } else { "ann" }}),
            |n| json!({"now": 1_778_000_000 + n / 30}),
            |n| json!({"count": n}),
            |n| json!({"count": n.max(1)}),
            |n| json!({"token": n * n, "user": n / 99}),
            |_| json!({"text": "[1, 2]", "f": 1.0}),
        ];
        for shape in shapes {
            let answers: Vec<Value> = (0..100).map(shape).collect();
            assert_eq!(compared(answers.clone()), compare_results(&answers));
        }
    }

    #[test]
    fn failures_count_where_others_of_the_same_instant_succeed() {
        let mut answers = Answers::default();
        answers.add_burst(Vec::new(), &["all fail".into()]);
        answers.add_burst(vec![json!(1)], &[]);
        assert_eq!(answers.compare().failures, None);
        answers.add_burst(vec![json!(1); 3], &["lost".into(), "lost".into()]);
        let failures = Failures { failed: 2, calls: 5, messages: vec!["lost".into()] };
        assert_eq!(answers.compare().failures, Some(failures));
    }
}
