//! An agent and its model: what is said between them, before any API gives it its form.
//!
//! | file      | what it holds                                                       |
//! |-----------|---------------------------------------------------------------------|
//! | `dialect` | the form of it in the API of each provider                          |
//! | `client`  | what an MCP client shows a model of a call that went wrong          |

pub mod client;
pub mod dialect;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::suite::recovery::Usage;

/// A conversation with a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// What the model is told beforehand.
    pub system: Option<String>,
    /// What was said.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// How many tokens an answer may have.
    pub max_tokens: u32,
}

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// By the user.
    User(String),
    /// By the model.
    Model(Turn),
    /// By the tools that the model called.
    Results(Vec<ToolResult>),
}

/// What a model says at once: a text, calls of tools, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The tokens that it says it used.
    #[serde(default)]
    pub usage: Usage,
    /// How long it waited before, in milliseconds of virtual time: only scripts do.
    #[serde(default)]
    pub after_ms: u64,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// What its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it said.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What the model calls it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What its arguments look like.
    pub input_schema: Value,
}
