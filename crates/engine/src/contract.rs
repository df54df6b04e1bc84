//! Strict runs: what the calls of a tool must keep to is what the server lists.

use std::sync::Arc;

use jsonschema::Validator;
use mcp_loadtest_core::{
    check::shape,
    display::visible,
    mcp::{Revision, Tool, method},
};
use mcp_loadtest_wire::session::Contract;
use serde_json::Value;

use crate::error::RunError;

/// So much of what is wrong is told.
const SHOWN: usize = 200;

/// The schemas of a tool, ready to be held against values.
#[derive(Debug)]
pub(crate) struct Schemas {
    tool: String,
    input: Validator,
    output: Option<Validator>,
}

impl Schemas {
    /// Reads both schemas. References to other places are never followed.
    pub(crate) fn of(tool: &Tool) -> Result<Self, RunError> {
        let read = |schema: &Value| {
            jsonschema::validator_for(schema).map_err(|error| RunError::Schema {
                tool: tool.name.clone(),
                why: error.to_string(),
            })
        };
        Ok(Self {
            tool: tool.name.clone(),
            input: read(&tool.input_schema)?,
            output: tool.output_schema.as_ref().map(read).transpose()?,
        })
    }

    fn told(&self, what: &str, why: &str) -> Option<String> {
        Some(format!("{}: {what}: {}", self.tool, visible(why, SHOWN)))
    }

    fn mismatch(&self, what: &str, validator: &Validator, value: &Value) -> Option<String> {
        let error = validator.validate(value).err()?;
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { String::new() } else { format!("at {place}: ") };
        self.told(what, &format!("{place}{error}"))
    }
}

/// What the calls of a tool must keep to in a session: its schemas, and the form of its revision.
#[derive(Debug)]
pub(crate) struct Agreement {
    pub(crate) schemas: Arc<Schemas>,
    pub(crate) revision: Revision,
}

impl Contract for Agreement {
    fn refuses_arguments(&self, arguments: &[u8]) -> Option<String> {
        self.schemas.refuses_arguments(arguments)
    }

    fn refuses_result(&self, result: &[u8]) -> Option<String> {
        let result: Value = serde_json::from_slice(result).ok()?;
        // A result that asks for something first has another form.
        let is_complete = result.get("resultType").is_none_or(|kind| kind == "complete");
        let wrong = match is_complete {
            true => shape::result(method::TOOLS_CALL, self.revision, &result),
            false => Vec::new(),
        };
        match wrong.first() {
            Some(why) => self.schemas.told("result", &format!("{why} ({})", shape::REFERENCE)),
            None => self.schemas.refuses_result(&result),
        }
    }
}

impl Schemas {
    fn refuses_arguments(&self, arguments: &[u8]) -> Option<String> {
        match serde_json::from_slice(arguments) {
            Ok(arguments) => self.mismatch("arguments", &self.input, &arguments),
            Err(error) => self.told("arguments", &error.to_string()),
        }
    }

    fn refuses_result(&self, result: &Value) -> Option<String> {
        let output = self.output.as_ref()?;
        match result.get("structuredContent") {
            Some(content) => self.mismatch("result", output, content),
            None => {
                self.told("result", "no `structuredContent`, though the tool has an output schema")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schemas(output: Option<Value>) -> Schemas {
        Schemas::of(&Tool {
            name: "add".into(),
            description: None,
            input_schema: json!({
                "type": "object",
                "properties": { "n": { "type": "integer" } },
                "required": ["n"],
            }),
            output_schema: output,
            annotations: None,
        })
        .unwrap()
    }

    #[test]
    fn arguments_are_held_against_the_input_schema() {
        let schemas = schemas(None);
        assert_eq!(schemas.refuses_arguments(br#"{"n":1}"#), None);
        let why = schemas.refuses_arguments(br#"{"n":"1"}"#).unwrap();
        assert!(why.starts_with("add: arguments: at /n: "), "{why}");
        assert!(schemas.refuses_arguments(b"{}").unwrap().contains("required"));
        assert_eq!(schemas.refuses_result(&json!({})), None, "nothing is promised of results");
    }

    #[test]
    fn results_are_held_against_the_output_schema_and_the_revision() {
        let schemas = schemas(Some(json!({ "properties": { "sum": { "type": "integer" } } })));
        let agreement = Agreement { schemas: Arc::new(schemas), revision: Revision::V2025_11_25 };
        let refuses = |text: &str| agreement.refuses_result(text.as_bytes());
        assert_eq!(refuses(r#"{"content":[],"structuredContent":{"sum":3}}"#), None);
        let wrong = refuses(r#"{"content":[],"structuredContent":{"sum":"3"}}"#);
        assert!(wrong.unwrap().starts_with("add: result: at /sum: "));
        assert!(refuses(r#"{"content":[]}"#).unwrap().contains("structuredContent"));
        let wrong = refuses(r#"{"content":[{"type":"text"}],"structuredContent":{"sum":3}}"#);
        assert!(wrong.unwrap().starts_with("add: result: content[0].text is missing"));
    }
}
