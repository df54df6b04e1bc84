//! What a tool is: how it is listed, which arguments it takes, and what it does.

use std::{fmt, pin::Pin};

use jsonschema::{ValidationError, Validator};
use mcp_loadtest_core::mcp::{
    self,
    header::{MarkedParameter, marked_parameters},
};
use serde_json::{Map, Value, json};

use crate::{
    mcp::result::{BadArguments, Outcome},
    server::{exchange::Exchange, session::Session},
};

/// A call that is answered on the spot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) session: &'a Session,
    pub(crate) arguments: &'a Value,
    /// The arguments as written.
    pub(crate) raw: &'a str,
}

/// What a tool does that takes its time.
pub(crate) type Doing = Pin<Box<dyn Future<Output = Outcome> + Send>>;
/// A deed that is done on the spot.
pub(crate) type Now = Box<dyn Fn(&Call<'_>) -> Outcome + Send + Sync>;
/// A deed that takes its time.
pub(crate) type Later = Box<dyn Fn(Exchange) -> Doing + Send + Sync>;

/// When a call is answered.
pub(crate) enum Run {
    /// At once, without leaving the thread that read it.
    Now(Now),
    /// When it is done. It is dropped at its next wait when the call is cancelled.
    Later(Later),
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now",
            Self::Later(_) => "Later",
        })
    }
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) listing: mcp::Tool,
    pub(crate) run: Run,
    /// What is listed beside the members that every tool has.
    pub(crate) extra: Map<String, Value>,
    /// The arguments that modern clients repeat in headers.
    pub(crate) marked: Vec<MarkedParameter>,
    /// `None` for a schema that takes every object.
    validator: Option<Validator>,
}

/// An input schema that is none.
#[derive(Debug, thiserror::Error)]
#[error("the input schema of `{tool}` is no JSON Schema: {why}")]
pub(crate) struct BadSchema {
    tool: String,
    why: String,
}

impl Tool {
    pub(crate) fn new(listing: mcp::Tool, run: Run) -> Result<Self, BadSchema> {
        let validator = match takes_everything(&listing.input_schema) {
            true => None,
            false => Some(jsonschema::validator_for(&listing.input_schema).map_err(|error| {
                BadSchema { tool: listing.name.clone(), why: error.to_string() }
            })?),
        };
        // Marks that are wrong are for clients to find; then no header is asked for.
        let marked = marked_parameters(&listing.input_schema).unwrap_or_default();
        Ok(Self { listing, run, extra: Map::new(), marked, validator })
    }

    /// A tool of our own, answered on the spot.
    pub(crate) fn now(
        listing: mcp::Tool,
        run: impl Fn(&Call<'_>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Self::new(listing, Run::Now(Box::new(run))).expect("our own schemas are good")
    }

    /// A tool of our own that takes its time.
    pub(crate) fn later<F>(
        listing: mcp::Tool,
        run: impl Fn(Exchange) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let run: Later = Box::new(move |exchange| Box::pin(run(exchange)));
        Self::new(listing, Run::Later(run)).expect("our own schemas are good")
    }

    /// Lists more than every tool has.
    pub(crate) fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = extra;
        self
    }

    /// What is wrong with the arguments, if anything.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), BadArguments> {
        let Some(validator) = &self.validator else { return Ok(()) };
        // The first few say enough; a hostile schema could name thousands.
        let errors: Vec<_> = validator.iter_errors(arguments).take(5).collect();
        if errors.is_empty() {
            return Ok(());
        }
        let list = |words: &dyn Fn(&ValidationError<'_>) -> String| {
            let all: Vec<_> = errors.iter().map(|error| placed(error, words(error))).collect();
            format!("invalid arguments for `{}`: {}", self.listing.name, all.join("; "))
        };
        let told = list(&|error| error.to_string());
        Err(BadArguments { told, logged: list(&|error| error.masked().to_string()) })
    }
}

fn placed(error: &ValidationError<'_>, words: String) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() { words } else { format!("`{place}`: {words}") }
}

/// Whether a schema says nothing but that the arguments are an object, which they always are.
fn takes_everything(schema: &Value) -> bool {
    let says_nothing = |(key, value): (&String, &Value)| match key.as_str() {
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(Map::is_empty),
        "additionalProperties" => value == true,
        "$schema" | "title" | "description" => true,
        _ => false,
    };
    schema.as_object().is_some_and(|members| members.iter().all(says_nothing))
}

/// How a tool of our own is listed.
pub(crate) fn listing(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> mcp::Tool {
    let mut input_schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        input_schema["required"] = json!(required);
    }
    input_schema["additionalProperties"] = false.into();
    mcp::Tool {
        name: name.into(),
        description: Some(description.into()),
        input_schema,
        output_schema: None,
        annotations: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::result::CallResult;

    fn tool(schema: Value) -> Tool {
        let listing = mcp::Tool { input_schema: schema, ..listing("t", "", json!({}), &[]) };
        Tool::now(listing, |_| CallResult::text("done").into())
    }

    #[test]
    fn arguments_are_held_against_the_schema() {
        let tool = tool(json!({
            "type": "object",
            "properties": { "n": { "type": "integer", "minimum": 1 } },
            "required": ["n"],
            "additionalProperties": false,
        }));
        assert_eq!(tool.check(&json!({"n": 1})), Ok(()));
        for (bad, word) in [
            (json!({}), "required"),
            (json!({"n": "1"}), "/n"),
            (json!({"n": 0}), "minimum"),
            (json!({"n": 1, "x": 2}), "'x'"),
        ] {
            let why = tool.check(&bad).unwrap_err();
            assert!(why.told.contains(word), "{bad}: {why:?}");
            assert!(why.logged.contains(word), "{bad}: {why:?}");
        }
    }

    #[test]
    fn the_log_does_not_repeat_what_was_wrong() {
        let tool = tool(json!({
            "type": "object",
            "properties": {
                "token": { "type": "integer" },
                "deep": { "type": "object", "properties": { "key": { "enum": ["a", "b"] } } },
            },
        }));
        for bad in [json!({"token": "sesame"}), json!({"deep": {"key": "sesame"}})] {
            let why = tool.check(&bad).unwrap_err();
            assert!(why.told.contains("sesame"), "{why:?}");
            assert!(!why.logged.contains("sesame"), "{why:?}");
        }
    }

    #[test]
    fn an_open_schema_costs_nothing() {
        assert!(tool(json!({"type": "object"})).validator.is_none());
        assert!(tool(json!({"type": "object", "properties": {}})).validator.is_none());
        assert!(tool(json!({"type": "object", "additionalProperties": false})).validator.is_some());
    }
}
