//! What can be asked of a value. To add a matcher: a variant here and its line in `judge`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pattern::{Pattern, SchemaPattern};

/// What must be so of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matcher {
    /// It is this; `null` also stands for nothing.
    Exact(Value),
    /// The text has this part, or the list this element.
    Contains(Value),
    /// The text has this part, whatever the case of its letters.
    Icontains(String),
    /// The text has all of these parts, or the list these elements.
    ContainsAll(Vec<Value>),
    /// The text has one of these parts, or the list one of these elements.
    ContainsAny(Vec<Value>),
    /// The text begins with this.
    StartsWith(String),
    /// The regular expression is found in the text.
    Regex(Pattern),
    /// Everything that is said here is so there; objects may hold more, and so may lists.
    Subset(Value),
    /// The JSON Schema allows it.
    Schema(SchemaPattern),
    /// The text is JSON.
    IsJson,
    /// The number is smaller.
    LessThan(f64),
    /// The number is larger.
    GreaterThan(f64),
    /// It is one of these.
    #[serde(alias = "oneOf")]
    OneOf(Vec<Value>),
    /// The matcher does not hold, though it can be asked of such a value: no text of a list of objects.
    Not(Box<Matcher>),
    /// Each of these holds.
    #[serde(alias = "allOf")]
    AllOf(Vec<Matcher>),
    /// At least one of these holds.
    #[serde(alias = "anyOf")]
    AnyOf(Vec<Matcher>),
    /// It is what it was when `--update` last wrote it down.
    Snapshot,
}

impl Matcher {
    /// Its word in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Exact(_) => "exact",
            Self::Contains(_) => "contains",
            Self::Icontains(_) => "icontains",
            Self::ContainsAll(_) => "contains-all",
            Self::ContainsAny(_) => "contains-any",
            Self::StartsWith(_) => "starts-with",
            Self::Regex(_) => "regex",
            Self::Subset(_) => "subset",
            Self::Schema(_) => "schema",
            Self::IsJson => "is-json",
            Self::LessThan(_) => "less-than",
            Self::GreaterThan(_) => "greater-than",
            Self::OneOf(_) => "one-of",
            Self::Not(_) => "not",
            Self::AllOf(_) => "all-of",
            Self::AnyOf(_) => "any-of",
            Self::Snapshot => "snapshot",
        }
    }

    /// What makes it hold always or never, so that nothing would be tested.
    pub fn problem(&self) -> Option<&'static str> {
        match self {
            Self::ContainsAll(list) | Self::ContainsAny(list) | Self::OneOf(list)
                if list.is_empty() =>
            {
                Some("an empty list tests nothing")
            }
            Self::AllOf(list) | Self::AnyOf(list) if list.is_empty() => {
                Some("an empty list tests nothing")
            }
            Self::AllOf(list) | Self::AnyOf(list) => list.iter().find_map(Self::problem),
            Self::Not(inner) if matches!(**inner, Self::Snapshot) => {
                Some("a snapshot cannot be turned round")
            }
            Self::Not(inner) => inner.problem(),
            Self::LessThan(limit) | Self::GreaterThan(limit) if !limit.is_finite() => {
                Some("the limit is no number")
            }
            Self::Icontains(text) | Self::StartsWith(text) if text.is_empty() => {
                Some("an empty text is in every text")
            }
            Self::Contains(Value::String(text)) if text.is_empty() => {
                Some("an empty text is in every text")
            }
            _ => None,
        }
    }
}
