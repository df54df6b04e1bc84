//! `negative_path`: does a server refuse what it must refuse?

use mcp_loadtest::Probe;
use mcp_loadtest_core::check::Depth;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;

use super::{Answer, Call, Does, Tool, probing};
use crate::{
    commands::negative_path::{chosen, passed},
    error::CliError,
};

/// What is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// Only these checks, such as missing_required or wrong_type; without them, all.
    checks: Vec<String>,
    /// Only this tool.
    tool: Option<String>,
    /// Arguments that the tool must take; without them, made up from its schema.
    args: Option<JsonObject>,
    /// Whether unexpected arguments that are taken count as a failure, also where the schema leaves
    /// it open.
    strict: bool,
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    let checks = chosen(&asked.checks)?;
    let tool = asked.tool.clone();
    let make = |server| {
        let probe = Probe::new(server).depth(Depth::Deep).only(checks).strict(asked.strict);
        match asked.tool {
            Some(tool) => probe.tool(tool, asked.args.map(Into::into)),
            None => probe,
        }
    };
    probing::carry_out(call, tool, make, passed).await
}

pub(super) const ENTRY: Tool = Tool {
    name: "negative_path",
    title: "Send what must be refused",
    about: "Call the tools of an MCP server with arguments that its own schemas forbid: required ones \
            left out, wrong types, limits passed, values that are not listed. Finds out whether the \
            server refuses them and lives on.",
    does: Does::Tests,
    input: || schema_for!(Asked),
    output: || schema_for!(probing::ProbeResult),
    call: |call| Box::pin(run(call)),
};
