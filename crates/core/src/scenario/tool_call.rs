//! One tool call that a scenario may make.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::Recipe;

/// One tool call that a scenario may make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments, a JSON object. Placeholders such as `{{iter}}` are filled in for every call.
    #[serde(default = "no_arguments")]
    pub args: Value,
    /// Where the arguments come from instead: a list, a file, the tool's schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Recipe>,
    /// How often it is chosen, compared with the other calls.
    #[serde(default = "even_weight")]
    pub weight: f64,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn even_weight() -> f64 {
    1.0
}

impl ToolCall {
    /// A call without arguments and of weight 1.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), args: no_arguments(), source: None, weight: even_weight() }
    }

    /// Sets the arguments, a JSON object.
    #[must_use]
    pub fn args(mut self, args: Value) -> Self {
        self.args = args;
        self
    }

    /// Takes the arguments of each call from a list, a file, or the tool's schema.
    #[must_use]
    pub fn source(mut self, source: Recipe) -> Self {
        self.source = Some(source);
        self
    }

    /// What its arguments are made from.
    pub fn recipe(&self) -> Recipe {
        self.source.clone().unwrap_or_else(|| Recipe::Given(self.args.clone()))
    }

    /// Sets how often the call is chosen, compared with the others.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}
