//! Whether identical calls get identical answers.
//!
//! Answers are compared leaf by leaf, so that a time of day or an id in each of them does not hide
//! that three of a hundred hold somebody else's data. Text that is itself JSON, as most tools give it,
//! is looked into.

mod answers;
mod leaves;
mod place;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::answers::Answers;

/// What the answers show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DivergenceVerdict {
    /// All are the same.
    Same,
    /// They differ only where they differ each time, or by the time of day: by design, it seems.
    Volatile,
    /// Some differ from the others.
    Divergent,
}

/// What sort of value differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolatileKind {
    /// Times of day that are near each other, or UUIDs that all differ, and nothing besides.
    Stamp,
    /// Consecutive whole numbers: the tool keeps count of its calls.
    Counter,
    /// Another value in each answer.
    Unique,
}

/// A place where answers differ by design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolatilePath {
    /// Where, as a JSON pointer; it goes on into text that is JSON.
    pub path: String,
    /// What sort of value.
    pub kind: VolatileKind,
    /// The value in the first answer.
    pub example: String,
}

/// Answers that are the same apart from what is volatile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// How many.
    pub count: usize,
    /// Which one came first.
    pub first: usize,
    /// That one in [`canonical`] form.
    pub canonical: String,
}

/// How the answers to identical calls differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Divergence {
    /// The distinct answers, the most frequent first.
    pub groups: Vec<Group>,
    /// Where they differ by design.
    pub volatile_paths: Vec<VolatilePath>,
    /// Where they differ otherwise; the empty one, if that is at more places than are listed.
    pub divergent_paths: Vec<String>,
    /// What that shows.
    pub verdict: DivergenceVerdict,
    /// How many were compared and are in no group, because too many differ.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_shown: usize,
    /// How many were not compared, because too many differ.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
    /// Calls that failed although others of the same instant did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Calls that failed although others of the same instant did not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// How many failed.
    pub failed: usize,
    /// How many there were of those instants, good ones included.
    pub calls: usize,
    /// The first few that were said.
    pub messages: Vec<String>,
}

/// With fewer answers, values that all differ may differ by chance.
pub const ENOUGH: usize = 3;
/// How many places of an answer are looked at on their own; what is beyond is compared as a whole, so
/// that a large answer does not cost many times its size.
pub const MOST_LEAVES: usize = 2_000;

/// A JSON value with its keys in order and nothing between tokens. Numbers stay as they are: `1` and
/// `1.0` differ.
///
/// ```
/// # use mcp_loadtest_core::stats::race::canonical;
/// assert_eq!(canonical(&serde_json::json!({"b": [1, 1.0], "a": null})), r#"{"a":null,"b":[1,1.0]}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            // Sorted here: whether a map keeps its keys in order is a feature of a crate.
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            let members = members
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        leaf => leaf.to_string(),
    }
}

/// Compares the answers to identical calls.
///
/// A place is volatile if every answer has it and either all values there differ, or they differ only
/// in times of day: many calls are answered within one tick of a clock. A counter that gives one
/// number twice has lost a call, and an id that some answers share is somebody's: both diverge.
pub fn compare_results(results: &[Value]) -> Divergence {
    let mut answers = Answers::default();
    answers.add_burst(results, &[]);
    answers.compare()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn text(text: impl Into<String>) -> Value {
        json!({"content": [{"type": "text", "text": text.into()}]})
    }

    fn compared(count: u64, answer: impl Fn(u64) -> Value) -> Divergence {
        compare_results(&(0..count).map(answer).collect::<Vec<_>>())
    }

    #[test]
    fn three_of_a_hundred_with_other_content_diverge() {
        let found = compared(100, |n| text(if n % 40 == 7 { "somebody else's" } else { "mine" }));
        assert_eq!(found.verdict, DivergenceVerdict::Divergent);
        let counts: Vec<_> = found.groups.iter().map(|group| (group.count, group.first)).collect();
        assert_eq!(counts, [(97, 0), (3, 7)]);
        assert_eq!(found.divergent_paths, ["/content/0/text"]);
    }

    #[test]
    fn a_clock_is_volatile_also_when_many_answers_share_a_tick() {
        let clocks: [fn(u64) -> Value; 5] = [
            |n| text(format!("2026-05-10T12:00:0{}Z", n / 30)),
            |n| text(format!("It is 12:00:0{} on 2026-05-10.", n / 30)),
            |n| json!({"now": 1_778_000_000 + n / 30}),
            |n| text(format!("{{\"now\": {}.5}}", 1_778_000_000 + n / 30)),
            |n| text(format!("2026-05-10 12:00:00.{n:03}+02:00")),
        ];
        for clock in clocks {
            let found = compared(100, clock);
            assert_eq!(found.verdict, DivergenceVerdict::Volatile, "{found:?}");
            assert_eq!(found.volatile_paths[0].kind, VolatileKind::Stamp);
            assert_eq!(found.groups.len(), 1);
        }
    }

    #[test]
    fn a_counter_is_volatile_and_named_and_one_that_loses_a_call_diverges() {
        let found = compared(50, |n| json!({"count": (n * 7) % 50 + 1}));
        assert_eq!(found.verdict, DivergenceVerdict::Volatile);
        assert_eq!(found.volatile_paths[0].kind, VolatileKind::Counter);
        let lost = compared(50, |n| json!({"count": n.max(1)}));
        assert_eq!(lost.verdict, DivergenceVerdict::Divergent);
        let random = compared(50, |n| text(format!("token {}", n * n + 3)));
        assert_eq!(random.volatile_paths[0].kind, VolatileKind::Unique);
    }

    #[test]
    fn an_id_in_each_answer_does_not_hide_other_content() {
        let answer = |n: u64| {
            let user = if n == 3 { "bob" } else { "alice" };
            text(format!("{{\"id\": \"00000000-0000-4000-8000-{n:012}\", \"user\": \"{user}\"}}"))
        };
        let found = compared(20, answer);
        assert_eq!(found.verdict, DivergenceVerdict::Divergent);
        assert_eq!(found.divergent_paths, ["/content/0/text/user"]);
        assert_eq!(found.volatile_paths[0].path, "/content/0/text/id");
        assert_eq!((found.groups[0].count, found.groups[1].count), (19, 1));
    }

    #[test]
    fn order_of_keys_is_no_difference_and_a_missing_member_is_one() {
        let same = [json!({"a": 1, "b": {"c": 2, "d": 3}}), text("x")];
        assert_eq!(
            compare_results(&[
                same[0].clone(),
                serde_json::from_str(r#"{"b":{"d":3,"c":2},"a":1}"#).unwrap()
            ])
            .verdict,
            DivergenceVerdict::Same
        );
        assert_eq!(compare_results(&same).verdict, DivergenceVerdict::Divergent);
        let missing =
            compared(10, |n| if n == 4 { json!({"a": 1}) } else { json!({"a": 1, "b": 2}) });
        assert_eq!(
            (missing.verdict, missing.divergent_paths),
            (DivergenceVerdict::Divergent, vec!["/b".to_owned()])
        );
        assert_eq!(
            compared(10, |n| if n == 0 { json!({}) } else { json!([]) }).verdict,
            DivergenceVerdict::Divergent
        );
    }

    #[test]
    fn one_answer_or_none_is_the_same_and_two_that_differ_diverge() {
        assert_eq!(compare_results(&[]).verdict, DivergenceVerdict::Same);
        assert_eq!(compared(1, |n| json!(n)).verdict, DivergenceVerdict::Same);
        assert_eq!(compared(2, |n| json!(n)).verdict, DivergenceVerdict::Divergent);
    }

    #[test]
    fn ids_and_times_of_other_data_diverge() {
        let others: [fn(u64) -> Value; 5] = [
            |n| json!({"user": format!("00000000-0000-4000-8000-{:012}", n / 97)}),
            |n| json!({"created": if n < 97 { "2026-05-10T12:00:00Z" } else { "2026-04-01T12:00:00Z" }}),
            |n| json!({"order": if n < 97 { 1_900_000_000 } else { 1_700_000_000 }}),
            |n| text(if n < 97 { "due 2026-05-10" } else { "due 2026-05-31" }),
            |n| {
                text(format!(
                    "{} 00000000-0000-4000-8000-{n:012}",
                    if n < 97 { "alice" } else { "bob" }
                ))
            },
        ];
        for other in others {
            assert_eq!(compared(100, other).verdict, DivergenceVerdict::Divergent, "{}", other(99));
        }
    }

    #[test]
    fn values_of_another_type_are_no_times() {
        for (one, other) in [
            (json!("true"), json!(true)),
            (json!("123"), json!(123)),
            (json!({ "a": "{}" }), json!({ "a": {} })),
        ] {
            let compared = compare_results(&[one.clone(), other]);
            assert_eq!(compared.verdict, DivergenceVerdict::Divergent, "{one}");
        }
    }

    #[test]
    fn a_large_answer_is_compared_as_a_whole() {
        let large = |n: u64| {
            json!((0..3_000).map(|at| u64::from(at == 2_999 && n == 4)).collect::<Vec<_>>())
        };
        let found = compared(10, large);
        assert_eq!(found.divergent_paths, [""]);
        assert_eq!((found.groups[0].count, found.groups[1].first), (9, 4));
        let deep = json!({"a": vec![json!({"b": vec![1; 30]}); 1_500], "now": "12:00:01"});
        let leaves = leaves::Leaves::of(&deep).values.len();
        assert!((1_900..=MOST_LEAVES).contains(&leaves), "{leaves}");
    }

    proptest! {
        #[test]
        fn the_same_answer_many_times_is_the_same(text in "\\PC{0,40}", number: f64, count in 0_u64..5) {
            let answer = json!({"text": text, "list": [number, null, {}], "~/": true});
            prop_assert_eq!(compared(count, |_| answer.clone()).verdict, DivergenceVerdict::Same);
            prop_assert_eq!(serde_json::from_str::<Value>(&canonical(&answer)).unwrap(), answer);
        }

        #[test]
        fn no_text_does_harm(texts in prop::collection::vec("[0-9T:.+Z -]{0,24}|\\PC{0,12}", 0..6)) {
            let answers: Vec<Value> = texts.into_iter().map(text).collect();
            let found = compare_results(&answers);
            prop_assert_eq!(found.groups.iter().map(|group| group.count).sum::<usize>(), answers.len());
        }
    }
}
