//! Answers to identical calls as they come. All are looked at; some of the distinct ones are kept, to be shown.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Divergence, DivergenceVerdict, Failures, Group, canonical,
    leaves::Leaves,
    place::{Places, print, print_all},
};
use crate::display::visible;

/// Distinct answers that are kept at most, and how much of their text; the memory of a run has its limits.
const MOST_KEPT: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;
/// How many numbers are kept for values that differ. Beyond, no answer that is new is looked at.
const MOST_PRINTS: usize = 2_000_000;
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
    places: Places,
    failures: Option<Failures>,
}

impl Answers {
    /// Takes the answers to calls of one instant: the good ones, and what those said that failed. Where
    /// all of them failed nobody was answered differently.
    pub fn add_burst(&mut self, good: &[Value], failures: &[String]) {
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
        let text = canonical(answer);
        if let Some((count, _)) = self.kept.get_mut(&text) {
            *count += 1;
        } else if self.places.prints < MOST_PRINTS {
            self.places.add(answer);
            if self.kept.len() < MOST_KEPT && self.bytes < MOST_BYTES {
                self.bytes += text.len();
                self.kept.insert(text, (1, self.seen));
            }
        } else {
            self.left_out += 1;
        }
        self.seen += 1;
    }

    /// What they show.
    pub fn compare(&self) -> Divergence {
        let (volatile_paths, divergent_paths) = self.places.differing(self.seen - self.left_out);
        let verdict = match (divergent_paths.is_empty(), volatile_paths.is_empty()) {
            (false, _) => DivergenceVerdict::Divergent,
            (true, false) => DivergenceVerdict::Volatile,
            (true, true) => DivergenceVerdict::Same,
        };
        let groups = self.grouped(&divergent_paths);
        let shown: usize = groups.iter().map(|group| group.count).sum();
        Divergence {
            groups,
            volatile_paths,
            divergent_paths,
            verdict,
            not_shown: self.seen - self.left_out - shown,
            left_out: self.left_out,
            failures: self.failures.clone(),
        }
    }

    /// Those that are kept by what they hold at the divergent places.
    fn grouped(&self, divergent: &[String]) -> Vec<Group> {
        let mut kept: Vec<_> = self.kept.iter().collect();
        kept.sort_by_key(|(_, (_, first))| *first);
        let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
        // The empty place stands for more places than are listed: then the whole text counts.
        let is_whole = divergent.first().is_some_and(String::is_empty);
        for (text, &(count, first)) in kept {
            let leaves = Leaves::of(&serde_json::from_str(text).unwrap_or_default()).values;
            let held = |path| leaves.get(path).map(|value| print(&canonical(value)));
            let new = || Group { count: 0, first, canonical: text.clone() };
            let print = if is_whole { print(text) } else { print_all(divergent.iter().map(held)) };
            groups.entry(print).or_insert_with(new).count += count;
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.first));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MOST_LEAVES, VolatileKind, compare_results};
    use super::*;
    use serde_json::json;

    fn compared(answers: Vec<Value>) -> Divergence {
        let mut kept = Answers::default();
        kept.add_burst(&answers, &[]);
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
    fn answers_that_are_not_kept_are_compared_as_well() {
        let ids = |odd: u64| {
            let answer = |n| json!({"id": n * n, "user": if n == odd { "bob" } else { "ann" }});
            compared((0..MOST_KEPT as u64 + 7).map(answer).collect())
        };
        let found = ids(u64::MAX);
        assert_eq!((found.verdict, found.not_shown), (DivergenceVerdict::Volatile, 7));
        assert_eq!(found.volatile_paths[0].kind, VolatileKind::Unique);
        let found = ids(MOST_KEPT as u64 + 3);
        assert_eq!((found.verdict, found.left_out), (DivergenceVerdict::Divergent, 0));
        assert_eq!(found.divergent_paths, ["/user"]);
    }

    #[test]
    fn without_room_for_what_differs_the_rest_is_counted() {
        let mut answers = Answers::default();
        answers.places.prints = MOST_PRINTS - 3;
        answers.add_burst(&(0..9).map(|n| json!({"id": n * n})).collect::<Vec<_>>(), &[]);
        let found = answers.compare();
        assert_eq!((found.verdict, found.left_out), (DivergenceVerdict::Volatile, 6));
    }

    /// One long name above a list stands in the names of all places in it.
    #[test]
    fn long_names_and_names_of_their_own_take_no_more_than_they_are() {
        let long = "k".repeat(100_000);
        let found =
            compared(vec![json!({ &long: vec![1; 2_000] }), json!({ &long: vec![2; 2_000] })]);
        assert_eq!(found.divergent_paths, [format!("/{long}")]);
        let own = |n| (0..90).map(|at| (format!("{n}-{at}"), json!(1))).collect();
        let found = compared((0..100).map(own).collect());
        assert_eq!(found.divergent_paths[0], "", "there are more than are listed");
        assert!(found.divergent_paths.len() <= 2 * MOST_LEAVES, "{}", found.divergent_paths.len());
        assert_eq!(found.groups.len(), 100, "none is like another");
        let named = |n| json!({ format!("{n}{long}"): 1 });
        let found = compared((0..100).map(named).collect());
        let room: usize = found.divergent_paths.iter().map(String::len).sum();
        assert!(room <= 4 * long.len() && found.divergent_paths[0].is_empty(), "{room}");
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
        answers.add_burst(&[], &["all fail".into()]);
        answers.add_burst(&[json!(1)], &[]);
        assert_eq!(answers.compare().failures, None);
        answers.add_burst(&[json!(1), json!(1), json!(1)], &["lost".into(), "lost".into()]);
        let failures = Failures { failed: 2, calls: 5, messages: vec!["lost".into()] };
        assert_eq!(answers.compare().failures, Some(failures));
    }
}
