//! Whether a value is as it should be, and if not, why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Expect, Matcher, snapshot::Store, unfit::unfit};
use crate::{display::visible, secrets::Secrets};

/// So much of a value is shown.
const SHOWN: usize = 200;

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// Where it is, or which gate it broke.
    pub target: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl Mismatch {
    /// Something that is wrong there.
    pub fn new(target: impl Into<String>, message: impl Into<String>) -> Self {
        Self { target: target.into(), message: message.into() }
    }
}

/// Judges documents of one test.
#[derive(Debug)]
pub struct Judge<'a> {
    /// What the test is called where snapshots are kept.
    pub test: &'a str,
    /// The values that were seen before.
    pub snapshots: &'a mut Store,
    /// What is kept out of them.
    pub secrets: &'a Secrets,
}

impl Judge<'_> {
    /// Everything that is not as it should be.
    pub fn judge(&mut self, expect: &Expect, document: &Value) -> Vec<Mismatch> {
        let mut wrong = Vec::new();
        for assertion in &expect.assertions {
            let found = assertion.target.find(document);
            let key = format!("{} {}", self.test, assertion.target);
            let why = match (&assertion.matcher, found.as_ref()) {
                (Matcher::Snapshot, Some(value)) => match self.secrets.document(value.clone()) {
                    Ok(value) => self.snapshots.problem(&key, &value),
                    Err(error) => Some(error.to_string()),
                },
                (matcher, found) => problem(matcher, found),
            };
            if let Some(why) = why {
                let message = match &assertion.message {
                    Some(message) => format!("{message} ({why})"),
                    None => why,
                };
                wrong.push(Mismatch::new(assertion.target.to_string(), message));
            }
        }
        let took = document.get("duration_ms").and_then(Value::as_f64);
        if let (Some(most), Some(took)) = (expect.max_duration_ms, took)
            && took > most as f64
        {
            let why = format!("it took {took:.0} ms, and may take {most} ms");
            wrong.push(Mismatch::new("max_duration_ms", why));
        }
        wrong
    }
}

/// Why the matcher does not hold; nothing when it does.
fn problem(matcher: &Matcher, found: Option<&Value>) -> Option<String> {
    let nothing = Value::Null;
    let is_null = |matcher: &Matcher| matches!(matcher, Matcher::Exact(Value::Null));
    let value = match (found, matcher) {
        (Some(value), _) => value,
        (None, matcher) if is_null(matcher) => &nothing,
        (None, Matcher::Not(inner)) if is_null(inner) => &nothing,
        (None, Matcher::AllOf(_) | Matcher::AnyOf(_)) => return composed(matcher, None),
        (None, _) => return Some("there is nothing".into()),
    };
    let holds = match matcher {
        Matcher::Exact(wanted) => same(value, wanted),
        Matcher::Contains(part) => has(value, part),
        Matcher::Icontains(part) => {
            texts(value).is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
        }
        Matcher::ContainsAll(parts) => parts.iter().all(|part| has(value, part)),
        Matcher::ContainsAny(parts) => parts.iter().any(|part| has(value, part)),
        Matcher::StartsWith(head) => texts(value).is_some_and(|text| text.starts_with(head)),
        Matcher::Regex(pattern) => texts(value).is_some_and(|text| pattern.is_in(&text)),
        Matcher::Subset(wanted) => holds_all(value, wanted),
        Matcher::Schema(schema) => return schema.problem(value),
        Matcher::IsJson => {
            texts(value).is_some_and(|text| serde_json::from_str::<Value>(&text).is_ok())
        }
        Matcher::LessThan(limit) => value.as_f64().is_some_and(|number| number < *limit),
        Matcher::GreaterThan(limit) => value.as_f64().is_some_and(|number| number > *limit),
        Matcher::OneOf(list) => list.iter().any(|wanted| same(value, wanted)),
        Matcher::Not(inner) => match unfit(inner, value) {
            Some(why) => return Some(why),
            None => problem(inner, Some(value)).is_some(),
        },
        Matcher::AllOf(_) | Matcher::AnyOf(_) => return composed(matcher, found),
        Matcher::Snapshot => return Some("a snapshot stands by itself".into()),
    };
    (!holds).then(|| format!("got {}, wanted {}", shown(value), wanted(matcher)))
}

fn composed(matcher: &Matcher, found: Option<&Value>) -> Option<String> {
    match matcher {
        Matcher::AllOf(list) => list.iter().find_map(|matcher| problem(matcher, found)),
        Matcher::AnyOf(list) => {
            let why: Option<Vec<_>> = list.iter().map(|matcher| problem(matcher, found)).collect();
            Some(format!("none of {}: {}", list.len(), why?.join("; ")))
        }
        _ => None,
    }
}

/// What is wanted, as it stands in the file.
pub(super) fn wanted(matcher: &Matcher) -> String {
    let written = serde_json::to_value(matcher).unwrap_or_default();
    let argument = written.as_object().and_then(|map| map.values().next());
    match argument {
        Some(argument) => format!("{} {}", matcher.name(), visible(&argument.to_string(), SHOWN)),
        None => matcher.name().to_owned(),
    }
}

pub(super) fn shown(value: &Value) -> String {
    visible(&value.to_string(), SHOWN)
}

/// A value as text: matchers for texts take numbers and truth values as they are written.
fn texts(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Numbers are the same when they are equal, however they are written.
fn same(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => value == wanted,
    }
}

fn has(value: &Value, part: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|element| same(element, part)),
        value => texts(value).zip(texts(part)).is_some_and(|(text, part)| text.contains(&part)),
    }
}

fn holds_all(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| value.get(key).is_some_and(|value| holds_all(value, wanted))),
        (Value::Array(value), Value::Array(wanted)) => {
            wanted.iter().all(|wanted| value.iter().any(|value| holds_all(value, wanted)))
        }
        (value, wanted) => same(value, wanted),
    }
}
