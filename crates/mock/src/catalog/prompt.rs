//! What can be filled in: messages for a model, with the places of their arguments.

use serde::Serialize;
use serde_json::{Map, Value};

/// A prompt.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) arguments: Vec<Argument>,
    /// The messages; `${args.x}` stands for the argument `x`.
    #[serde(skip)]
    pub(crate) messages: Value,
    /// Modern: what the client is asked before the prompt is filled in.
    #[serde(skip)]
    pub(crate) asks: Option<Value>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) required: bool,
}

impl Prompt {
    /// The required argument that is missing, if one is.
    pub(crate) fn missing(&self, arguments: &Map<String, Value>) -> Option<&str> {
        let is_missing = |argument: &&Argument| {
            argument.required && !arguments.get(&argument.name).is_some_and(Value::is_string)
        };
        self.arguments.iter().find(is_missing).map(|argument| argument.name.as_str())
    }
}
