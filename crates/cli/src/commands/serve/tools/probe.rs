//! `probe`: is a server alive and well?

use mcp_loadtest::Probe;
use mcp_loadtest_core::check::Depth;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;

use super::{Answer, Call, Does, Tool, probing};
use crate::{
    commands::probe::{parse_check, passed},
    error::CliError,
};

/// What is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// How far it goes: quick takes a few seconds, usual up to a minute; no check is begun after the
    /// longest time that is allowed.
    depth: Depth,
    /// Only these checks, by id; `explain` with the topic `probe` lists them.
    only: Vec<String>,
    /// Only this tool.
    tool: Option<String>,
    /// Arguments that this tool is known to take, in place of made-up ones.
    args: Option<JsonObject>,
    /// Whether to report also what a tool's schema leaves open.
    strict: bool,
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    for check in &asked.only {
        parse_check(check)
            .map_err(|error| CliError::usage(format!("`{check}`: {error}"), "see `explain`"))?;
    }
    let tool = asked.tool.clone();
    let make = |server| {
        let mut probe = Probe::new(server).depth(asked.depth).strict(asked.strict);
        if !asked.only.is_empty() {
            probe = probe.only(asked.only);
        }
        match asked.tool {
            Some(tool) => probe.tool(tool, asked.args.map(Into::into)),
            None => probe,
        }
    };
    probing::carry_out(call, tool, make, passed).await
}

pub(super) const ENTRY: Tool = Tool {
    name: "probe",
    title: "Check the health of a server",
    about: "Start an MCP server and find out what is wrong with it: handshake, tool list, one call of \
            each tool that only reads, then checks of bad input, cancellation, concurrency, framing \
            and shutdown. The first thing to try with a new server.",
    does: Does::Tests,
    input: || schema_for!(Asked),
    output: || schema_for!(probing::ProbeResult),
    call: |call| Box::pin(run(call)),
};
