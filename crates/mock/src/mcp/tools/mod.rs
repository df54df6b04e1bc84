//! The tools of the mock. To add one: a file with an `ENTRY`, and a line in [`TOOLS`].

mod echo;

use std::borrow::Cow;

use mcp_loadtest_core::mcp::Tool;
use serde::Serialize;
use serde_json::Value;

use super::{refusal::Refusal, request::Params};

/// One tool: how it is listed and what it does.
pub(super) struct MockTool {
    name: &'static str,
    description: &'static str,
    input_schema: fn() -> Value,
    annotations: fn() -> Value,
    /// Gets the arguments as written; they are an object.
    call: fn(&str) -> Outcome<'_>,
}

/// All tools, in the order in which they are listed.
const TOOLS: &[MockTool] = &[echo::ENTRY];

/// What a tool says.
#[derive(Debug, PartialEq)]
struct Outcome<'a> {
    text: Cow<'a, str>,
    is_error: bool,
}

/// The result of `tools/list`.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    tools: Vec<Tool>,
}

pub(super) fn list() -> Listed {
    let entry = |tool: &MockTool| Tool {
        name: tool.name.into(),
        description: Some(tool.description.into()),
        input_schema: (tool.input_schema)(),
        output_schema: None,
        annotations: Some((tool.annotations)()),
    };
    Listed { tools: TOOLS.iter().map(entry).collect() }
}

/// The result of `tools/call`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Called<'a> {
    content: [Text<'a>; 1],
    is_error: bool,
}

#[derive(Debug, Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

pub(super) fn call<'a>(params: &Params<'a>) -> Result<Called<'a>, Refusal> {
    let name =
        params.name.as_deref().ok_or_else(|| Refusal::invalid_params("`name` is not a string"))?;
    let tool = TOOLS
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| Refusal::invalid_params(format!("there is no tool `{name}`")))?;
    let arguments = params.arguments.unwrap_or("{}");
    if !arguments.starts_with('{') {
        return Err(Refusal::invalid_params("`arguments` is not an object"));
    }
    let Outcome { text, is_error } = (tool.call)(arguments);
    Ok(Called { content: [Text { r#type: "text", text }], is_error })
}
