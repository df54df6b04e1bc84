//! One of several answers of a tool, and when it is given.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer and the arguments that it is for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Arguments by name, or by a path such as `filter.city`; all of them must match.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, Match>,
    /// `true` for the answer to everything else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    /// How long it takes, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The answer, as `response` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// A JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorAnswer>,
    /// One answer after the other, for each connection anew; the last one stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<Answer>,
}

/// One answer of a sequence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The answer, as `response` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// A JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorAnswer>,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorAnswer {
    /// Its code; -32603 unless something else is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// Its message.
    pub message: String,
    /// What it carries besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// What an argument must be: a value, or one of `{contains: …}`, `{regex: …}`, `{one_of: […]}` and
/// `{exists: true|false}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Value", into = "Value")]
#[schemars(with = "Value")]
pub enum Match {
    /// This value.
    Equals(Value),
    /// A text with this in it.
    Contains(String),
    /// A text that matches.
    Regex(String),
    /// One of these values.
    OneOf(Vec<Value>),
    /// Whether it is there at all.
    Exists(bool),
}

impl From<Value> for Match {
    fn from(value: Value) -> Self {
        let only = value.as_object().filter(|members| members.len() == 1);
        let Some((key, inner)) = only.and_then(|members| members.iter().next()) else {
            return Self::Equals(value);
        };
        match (key.as_str(), inner) {
            ("contains", Value::String(text)) => Self::Contains(text.clone()),
            ("regex", Value::String(text)) => Self::Regex(text.clone()),
            ("one_of", Value::Array(values)) => Self::OneOf(values.clone()),
            ("exists", Value::Bool(exists)) => Self::Exists(*exists),
            _ => Self::Equals(value),
        }
    }
}

impl From<Match> for Value {
    fn from(wanted: Match) -> Self {
        match wanted {
            Match::Equals(value) => value,
            Match::Contains(text) => serde_json::json!({ "contains": text }),
            Match::Regex(text) => serde_json::json!({ "regex": text }),
            Match::OneOf(values) => serde_json::json!({ "one_of": values }),
            Match::Exists(exists) => serde_json::json!({ "exists": exists }),
        }
    }
}

impl Match {
    /// Whether an argument, or its absence, is what is wanted.
    pub fn accepts(&self, argument: Option<&Value>) -> bool {
        let text = || argument.and_then(Value::as_str);
        match self {
            Self::Equals(value) => argument == Some(value),
            Self::Contains(part) => text().is_some_and(|text| text.contains(part)),
            // It was compiled when the file was read; the engine knows no endless matching.
            Self::Regex(pattern) => {
                let pattern = Regex::new(pattern).ok();
                pattern.zip(text()).is_some_and(|(pattern, text)| pattern.is_match(text))
            }
            Self::OneOf(values) => argument.is_some_and(|value| values.contains(value)),
            Self::Exists(wanted) => argument.is_some() == *wanted,
        }
    }
}

impl Arm {
    /// Whether these arguments get this answer.
    pub fn matches(&self, arguments: &Value) -> bool {
        self.default || self.when.iter().all(|(path, wanted)| wanted.accepts(find(arguments, path)))
    }

    /// The key that is wrong, why, and what to do.
    pub(super) fn check(&self) -> Result<(), (String, String, String)> {
        let wrong = |key: &str, why: String, hint: &str| Err((key.into(), why, hint.into()));
        if self.default != self.when.is_empty() {
            let why = "an answer needs either `when` or `default: true`".into();
            return wrong("when", why, "write `default: true` for the answer to everything else");
        }
        let answers = [self.result.is_some(), self.error.is_some(), !self.sequence.is_empty()];
        if answers.iter().filter(|given| **given).count() != 1 {
            let why = "exactly one of `result`, `error` and `sequence` is needed".into();
            return wrong("result", why, "leave the others out");
        }
        for (index, answer) in self.sequence.iter().enumerate() {
            if answer.result.is_some() == answer.error.is_some() {
                let why = "`result` or `error` is needed, and only one".into();
                return wrong(&format!("sequence[{index}]"), why, "leave the other out");
            }
        }
        for (path, wanted) in &self.when {
            if let Match::Regex(pattern) = wanted
                && let Err(error) = Regex::new(pattern)
            {
                let why = format!("`{pattern}` is no regular expression: {error}");
                return wrong(&format!("when.{path}"), why, "look syntax up at docs.rs/regex");
            }
        }
        Ok(())
    }
}

fn find<'a>(arguments: &'a Value, path: &str) -> Option<&'a Value> {
    arguments.get(path).or_else(|| {
        path.split('.').try_fold(arguments, |value, step| match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            other => other.get(step),
        })
    })
}
