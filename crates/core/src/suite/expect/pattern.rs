//! Patterns that are checked when they are read, so that a bad one is told before anything starts.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A regular expression.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Pattern(Regex);

impl Pattern {
    /// Whether it is found anywhere in the text.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let why = |error: regex::Error| {
            // The last line says what is wrong; those before it draw the place.
            let text = error.to_string();
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        };
        Regex::new(&text)
            .map(Self)
            .map_err(|error| format!("no regular expression: {}", why(error)))
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

/// A JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Value", into = "Value")]
#[schemars(with = "Value")]
pub struct SchemaPattern(Value);

impl SchemaPattern {
    /// What is wrong with a value.
    pub fn problem(&self, value: &Value) -> Option<String> {
        let validator = jsonschema::validator_for(&self.0).ok()?;
        let problem = validator.iter_errors(value).next()?;
        let place = problem.instance_path().to_string();
        let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
        Some(format!("{problem}{place}"))
    }
}

impl TryFrom<Value> for SchemaPattern {
    type Error = String;

    fn try_from(schema: Value) -> Result<Self, String> {
        match jsonschema::validator_for(&schema) {
            Ok(_) => Ok(Self(schema)),
            Err(error) => Err(format!("no JSON Schema: {error}")),
        }
    }
}

impl From<SchemaPattern> for Value {
    fn from(pattern: SchemaPattern) -> Self {
        pattern.0
    }
}
