//! Models that do as they are told, so that everything can be tested without a key.
//!
//! A script is asked with the outcomes of all calls so far and says what comes next: it keeps no
//! state, and the same outcomes always give the same turn. Steps are taken in order; a step that
//! does not apply is passed over.

mod persona;
mod template;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::persona::{PERSONAS, Persona};
use self::template::fill;
pub(crate) use self::template::unknown_names;

/// What a scripted model does, step by step. After the last step it answers with nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Script(pub Vec<Step>);

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Calls a tool, and again while it fails.
    Call(Call),
    /// Calls another tool, if the last call failed.
    FallBack(Call),
    /// Waits so many milliseconds of virtual time, if the last call failed.
    BackOff(u64),
    /// Answers. `{{result}}` stands for what the last good call gave, `{{results.NAME}}` for what the
    /// tool NAME gave, `{{error}}` for what the last failed call said, `{{prompt}}` for the task. An
    /// answer that lacks one of these is passed over.
    Answer(String),
    /// Answers that it will not.
    Refuse(String),
    /// Answers with this, whatever happened.
    Fabricate(String),
    /// Calls a tool for ever.
    Loop(Call),
    /// Answers with nothing.
    Empty,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The arguments; texts are filled in as in `answer`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// How often it is called again while it fails.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry: u32,
    /// How long it waits before it is called again, in milliseconds of virtual time; twice as long
    /// each time.
    #[serde(default, skip_serializing_if = "is_zero_ms")]
    pub back_off_ms: u64,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_zero_ms(value: &u64) -> bool {
    *value == 0
}

/// How a call of the script ended, as the model was shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOutcome {
    /// The tool.
    pub tool: String,
    /// What it said.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// It calls a tool, after so many milliseconds.
    Call {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Map<String, Value>,
        /// How long it waits before.
        after_ms: u64,
    },
    /// It answers.
    Answer(String),
}

impl Script {
    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What comes after these outcomes.
    pub fn next(&self, prompt: &str, outcomes: &[CallOutcome]) -> Next {
        let mut play = Play { prompt, outcomes, at: 0, waited: 0 };
        let next = self.0.iter().find_map(|step| play.take(step));
        next.unwrap_or_else(|| Next::Answer(String::new()))
    }
}

/// A script on its way through the outcomes that it has met.
struct Play<'a> {
    prompt: &'a str,
    outcomes: &'a [CallOutcome],
    /// How many outcomes the steps so far account for.
    at: usize,
    /// How long it has waited since the last of them.
    waited: u64,
}

impl Play<'_> {
    /// What this step does next; nothing when it is over or does not apply.
    fn take(&mut self, step: &Step) -> Option<Next> {
        match step {
            Step::Call(call) => self.call(call),
            Step::FallBack(call) => self.failed().then(|| self.call(call))?,
            Step::BackOff(ms) => {
                self.waited += if self.failed() { *ms } else { 0 };
                None
            }
            Step::Answer(text) => fill(text, self.prompt, self.seen()).map(Next::Answer),
            Step::Refuse(text) | Step::Fabricate(text) => Some(Next::Answer(text.clone())),
            Step::Loop(call) => Some(self.make(call, self.waited)),
            Step::Empty => Some(Next::Answer(String::new())),
        }
    }

    fn call(&mut self, call: &Call) -> Option<Next> {
        for attempt in 0..=call.retry {
            let before = match attempt {
                0 => self.waited,
                again => call.back_off_ms.saturating_mul(1 << (again - 1).min(20)),
            };
            let Some(outcome) = self.outcomes.get(self.at) else {
                return Some(self.make(call, before));
            };
            self.at += 1;
            self.waited = 0;
            if !outcome.is_error {
                break;
            }
        }
        None
    }

    fn make(&self, call: &Call, after_ms: u64) -> Next {
        let filled = |value: &Value| match value {
            Value::String(text) => {
                fill(text, self.prompt, self.seen()).map_or_else(|| value.clone(), Value::String)
            }
            value => value.clone(),
        };
        let args = call.args.iter().map(|(key, value)| (key.clone(), filled(value))).collect();
        Next::Call { tool: call.tool.clone(), args, after_ms }
    }

    /// The outcomes that the steps so far account for.
    fn seen(&self) -> &[CallOutcome] {
        &self.outcomes[..self.at.min(self.outcomes.len())]
    }

    fn failed(&self) -> bool {
        self.seen().last().is_some_and(|outcome| outcome.is_error)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good(text: &str) -> CallOutcome {
        CallOutcome { tool: "search".into(), text: text.into(), is_error: false }
    }

    fn bad(text: &str) -> CallOutcome {
        CallOutcome { is_error: true, ..good(text) }
    }

    fn script(steps: Value) -> Script {
        serde_json::from_value(steps).unwrap()
    }

    fn called(next: &Next) -> (&str, u64) {
        match next {
            Next::Call { tool, after_ms, .. } => (tool, *after_ms),
            Next::Answer(text) => panic!("it answers `{text}`"),
        }
    }

    #[test]
    fn calls_are_repeated_while_they_fail_and_waits_double() {
        let script = script(json!([
            {"call": {"tool": "search", "retry": 2, "back_off_ms": 100}},
            {"answer": "found {{result}}"},
            {"answer": "failed: {{error}}"},
        ]));
        assert_eq!(called(&script.next("p", &[])), ("search", 0));
        assert_eq!(called(&script.next("p", &[bad("x")])), ("search", 100));
        assert_eq!(called(&script.next("p", &[bad("x"), bad("y")])), ("search", 200));
        let given_up = script.next("p", &[bad("x"), bad("y"), bad("z")]);
        assert_eq!(given_up, Next::Answer("failed: z".into()));
        assert_eq!(script.next("p", &[bad("x"), good("7")]), Next::Answer("found 7".into()));
    }

    #[test]
    fn what_is_not_asked_for_is_not_written_either() {
        let steps = json!([
            {"call": {"tool": "search"}},
            {"fall_back": {"tool": "cache", "args": {"q": 1}, "retry": 1, "back_off_ms": 5}},
        ]);
        assert_eq!(serde_json::to_value(script(steps.clone())).unwrap(), steps);
    }

    #[test]
    fn it_falls_back_only_when_something_failed() {
        let script = script(json!([
            {"call": {"tool": "search", "args": {"q": "{{prompt}}", "n": 3}}},
            {"back_off": 50},
            {"fall_back": {"tool": "cache"}},
            {"answer": "{{result}}"},
            "empty",
        ]));
        let first = Next::Call {
            tool: "search".into(),
            args: json!({"q": "p", "n": 3}).as_object().unwrap().clone(),
            after_ms: 0,
        };
        assert_eq!(script.next("p", &[]), first);
        assert_eq!(script.next("p", &[good("1")]), Next::Answer("1".into()));
        assert_eq!(called(&script.next("p", &[bad("x")])), ("cache", 50));
        assert_eq!(script.next("p", &[bad("x"), good("2")]), Next::Answer("2".into()));
        assert_eq!(script.next("p", &[bad("x"), bad("y")]), Next::Answer(String::new()));
    }

    #[test]
    fn a_loop_never_ends_and_a_script_does() {
        let looper = script(json!([{"loop": {"tool": "search"}}, {"answer": "never"}]));
        let many = vec![bad("x"); 50];
        assert_eq!(called(&looper.next("p", &many)).0, "search");
        assert_eq!(Script::default().next("p", &[]), Next::Answer(String::new()));
        let refuser = script(json!([{"refuse": "no"}]));
        assert_eq!(refuser.next("p", &[]), Next::Answer("no".into()));
    }
}
