//! `deadlock_probe`: many calls at the same instant; which of them are never answered?

use mcp_loadtest_core::{
    config::{Arguments, Config},
    scenario::ScenarioName,
};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;

use super::{Answer, Call, Does, Tool, load};
use crate::error::CliError;

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// The tool to call; without it, the first one that only reads.
    tool: Option<String>,
    /// The tool's arguments; without them, made up from its schema where it needs any.
    args: Option<JsonObject>,
    /// Calls that are released at the same instant.
    #[schemars(range(min = 1))]
    concurrent: u32,
    /// No reply for this many seconds is a hang.
    #[schemars(extend("exclusiveMinimum" = 0))]
    hang_threshold_secs: f64,
    /// How many more seconds a hanging call is waited for before it is a deadlock.
    #[schemars(extend("exclusiveMinimum" = 0))]
    grace_period_secs: f64,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            tool: None,
            args: None,
            concurrent: 20,
            hang_threshold_secs: 5.0,
            grace_period_secs: 10.0,
        }
    }
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    let caps = call.office.policy.caps;
    let mut config = Config::default();
    let scenario = &mut config.scenario;
    scenario.name = Some(ScenarioName::DeadlockProbe);
    scenario.tool = asked.tool;
    scenario.args = asked.args.map(|args| Arguments(args.into()));
    scenario.concurrent = Some(caps.concurrent(asked.concurrent)?);
    scenario.hang_threshold = Some(caps.seconds("hang_threshold_secs", asked.hang_threshold_secs)?);
    scenario.grace_period = Some(caps.seconds("grace_period_secs", asked.grace_period_secs)?);
    load::carry_out(call, &config).await
}

pub(super) const ENTRY: Tool = Tool {
    name: "deadlock_probe",
    title: "Find deadlocks",
    about: "Start an MCP server, release many tool calls at the same instant and find out whether \
            any is never answered. Tells a deadlock from a slow tool and from lazy initialisation. \
            Takes seconds, up to the hang threshold and the grace period when calls hang.",
    does: Does::Tests,
    input: || schema_for!(Asked),
    output: || schema_for!(load::LoadResult),
    call: |call| Box::pin(run(call)),
};
