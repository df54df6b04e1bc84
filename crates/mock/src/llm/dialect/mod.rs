//! The APIs, one file each: what a request of theirs says, and the form that an answer takes.
//!
//! To add one: write `x.rs` with a `pub(super) static DIALECT: Dialect` and add its line to
//! [`DIALECTS`]. It is then served, and named by `llm --explain`. One that is answered without a model
//! ([`Kind::Plain`]) also has its path in `core/src/llm/journal.rs`, so that nobody is judged by it.
//!
//! An API of somebody new is a variant of `Provider` in `core/src/llm/provider.rs` as well. The compiler
//! then names who must know its errors and headers, but for [`likely_provider`] below; to be spoken by
//! scripted agents and tried with its SDK are other rooms: `core/src/agent/dialect`, `cli/tests/it/llm`.

mod anthropic;
mod chat;
mod completions;
mod embeddings;
mod gemini;
mod models;
mod moderations;
mod openai;
mod responses;

use std::sync::Arc;

use mcp_loadtest_core::llm::{Answer, CallId, Problem, Provider, Request, StreamError};
use serde::Serialize;
use serde_json::Value;

use super::{frame::Frame, pieces::Piece};

/// Every API, in the order in which they are asked whether a path is theirs.
pub(crate) static DIALECTS: &[&Dialect] = &[
    &chat::DIALECT,
    &responses::DIALECT,
    &anthropic::DIALECT,
    &anthropic::COUNT_TOKENS,
    &gemini::DIALECT,
    &gemini::COUNT_TOKENS,
    &embeddings::DIALECT,
    &models::DIALECT,
    &models::ONE,
    &completions::DIALECT,
    &moderations::DIALECT,
];

/// One API.
pub(crate) struct Dialect {
    pub(crate) provider: Provider,
    /// Where it is, for people.
    pub(crate) path: &'static str,
    /// The verb that it takes.
    pub(crate) verb: &'static str,
    /// Whether a path is its own, and what the path says.
    pub(crate) route: fn(path: &str, query: &str) -> Option<Route>,
    /// Reads a body. What is wrong with it is told in the provider's form.
    pub(crate) read: fn(&Route, Value) -> Result<Request, Problem>,
    /// How it is answered.
    pub(crate) kind: Kind,
}

/// How an API is answered.
pub(crate) enum Kind {
    /// By a fixture, whole or piece by piece.
    Model { whole: fn(&Reply) -> Vec<u8>, voice: fn(Arc<Reply>) -> Box<dyn Voice> },
    /// By a fixture, always whole.
    Whole(fn(&Reply) -> Vec<u8>),
    /// From what was asked alone; fixtures are not looked at, but for the models that they name.
    Plain(fn(&Request, models: &[String]) -> Value),
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialect").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What a path says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// The model, where the path names it.
    pub(crate) model: Option<String>,
    /// Whether the path asks for a stream.
    pub(crate) stream: bool,
    /// How a stream is written.
    pub(crate) framing: Framing,
}

/// How a stream is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    #[default]
    Events,
    /// A JSON array, element by element.
    Array,
}

/// An answer with all that gives it its form.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) request: Request,
    pub(crate) answer: Answer,
    /// What ids are made from.
    pub(crate) number: u64,
    /// Gemini: the call of a tool came out wrong.
    pub(crate) malformed_call: bool,
    /// The answer says that it is complete although it calls tools.
    pub(crate) wrong_finish: bool,
}

/// When answers are said to have been made. It never changes, so that the same seed gives the same
/// bytes on every day.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// A prefix and sixteen digits: `req_` and its like. Every request needs one or two, and formatting
/// costs several times as much.
pub(crate) fn identity(prefix: &str, number: u64) -> String {
    let mut id = String::with_capacity(prefix.len() + 16);
    id.push_str(prefix);
    let digits = (0..16).rev().map(|at| number >> (4 * at) & 0xf);
    id.extend(digits.filter_map(|digit| char::from_digit(digit as u32, 16)));
    id
}

impl Reply {
    /// An id that looks like the provider's own.
    pub(crate) fn id(&self, prefix: &str) -> String {
        identity(prefix, self.number)
    }

    /// The id of the `call`-th call of a tool, unless it must have none.
    pub(crate) fn call_id(&self, id: &CallId, prefix: &str, call: usize) -> Option<String> {
        match id {
            CallId::MadeUp => Some(format!("{prefix}{:014x}{call:02x}", self.number >> 8)),
            CallId::Given(id) => Some(id.clone()),
            CallId::Missing => None,
        }
    }

    /// Puts the id of the `call`-th call of a tool under a key, unless it must have none.
    pub(crate) fn identify(
        &self,
        object: &mut Value,
        key: &str,
        id: &CallId,
        prefix: &str,
        call: usize,
    ) {
        if let Some(id) = self.call_id(id, prefix, call) {
            object[key] = id.into();
        }
    }
}

/// How an API speaks piece by piece.
pub(crate) trait Voice: Send {
    /// What comes before the first piece.
    fn open(&mut self, out: &mut Vec<Frame>);
    /// The next piece.
    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>);
    /// What is held back: the stream stops here, for a while or, with `is_cut`, for ever.
    fn settle(&mut self, _is_cut: bool, _out: &mut Vec<Frame>) {}
    /// What says that it was everything.
    fn close(&mut self, out: &mut Vec<Frame>);
    /// An error in the middle.
    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>);
}

/// The body of an error in the provider's form, and the headers that belong to it.
pub(crate) fn problem(
    provider: Provider,
    problem: &Problem,
    number: u64,
) -> (Vec<(String, String)>, Value) {
    match provider {
        Provider::Openai | Provider::Responses => openai::problem(provider, problem, number),
        Provider::Anthropic => anthropic::problem(problem, number),
        Provider::Gemini => gemini::problem(problem),
    }
}

/// Whose API a path most likely was meant for, for those that are nobody's.
pub(crate) fn likely_provider(path: &str) -> Provider {
    if path.contains("/messages") {
        Provider::Anthropic
    } else if path.contains("/v1beta") || path.contains("/models/") {
        Provider::Gemini
    } else if path.contains("/responses") {
        Provider::Responses
    } else {
        Provider::Openai
    }
}

/// Most answers of tests fit into this.
const USUAL_BODY: usize = 1 << 10;

/// JSON as bytes.
pub(super) fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(USUAL_BODY);
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes
}

/// A member that must be a text.
pub(super) fn text<'v>(body: &'v Value, key: &str) -> Result<&'v str, Problem> {
    body.get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| Problem::new(400, format!("`{key}` is missing or no text")))
}

/// Whether a member that must be a list has nothing in it.
pub(super) fn is_empty_list(body: &Value, key: &str) -> bool {
    body.get(key).and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// A member that must be a truth value, if it is there.
pub(super) fn truth(body: &Value, key: &str) -> Result<bool, Problem> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(Problem::new(400, format!("`{key}` is neither true nor false"))),
    }
}

/// The texts of a content that is a text or a list of parts.
pub(super) fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A request with nothing but the model.
pub(super) fn bare(provider: Provider, model: impl Into<String>, body: Value) -> Request {
    Request {
        provider,
        model: model.into(),
        user_message: String::new(),
        system_prompt: String::new(),
        temperature: body.get("temperature").and_then(Value::as_f64),
        metadata: body.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
        tools: Vec::new(),
        stream: false,
        include_usage: false,
        choices: 1,
        headers: Vec::new(),
        body,
        length: 0,
        hash: 0,
    }
}

/// The messages of a conversation: what the user said last, and what the system or developer said.
pub(super) fn conversation(messages: &Value, request: &mut Request) {
    for message in messages.as_array().into_iter().flatten() {
        let said = || texts(message.get("content").unwrap_or(&Value::Null));
        match message.get("role").and_then(Value::as_str) {
            Some("user") => {
                let said = said();
                // A turn that only brings results of tools has no text, and leaves the last one standing.
                if !said.trim().is_empty() {
                    request.user_message = said;
                }
            }
            Some("system" | "developer") => {
                if !request.system_prompt.is_empty() {
                    request.system_prompt.push('\n');
                }
                request.system_prompt.push_str(&said());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::llm::asks_a_model;

    use super::*;

    #[test]
    fn journals_know_which_apis_ask_a_model() {
        for dialect in DIALECTS {
            let path = dialect.path.split([',', ' ']).next().unwrap_or_default();
            let is_plain = matches!(dialect.kind, Kind::Plain(_));
            let told = "is told wrongly by `asks_a_model` of core/src/llm/journal.rs";
            assert_eq!(asks_a_model(path), !is_plain, "{path} {told}");
        }
    }

    #[test]
    fn every_path_is_its_own() {
        for dialect in DIALECTS {
            let path = dialect.path.split([',', ' ']).next().unwrap_or_default();
            let takes =
                |other: &&&Dialect| other.verb == dialect.verb && (other.route)(path, "").is_some();
            let first = DIALECTS.iter().find(takes).map(|other| other.path);
            assert_eq!(first, Some(dialect.path), "somebody before it in DIALECTS takes {path}");
        }
    }
}
