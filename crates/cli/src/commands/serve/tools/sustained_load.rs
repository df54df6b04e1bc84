//! `sustained_load`: a steady load, and how the server bears it.

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
    /// The tool's arguments; without them, made up from its schema where it needs any. A text may
    /// hold `{{uuid}}`, `{{iter}}` or `{{random.int 1 100}}`, which each call fills anew.
    args: Option<JsonObject>,
    /// Calls in flight at once.
    #[schemars(range(min = 1))]
    concurrent: u32,
    /// How many seconds the load lasts.
    #[schemars(extend("exclusiveMinimum" = 0))]
    duration_secs: f64,
    /// Calls a second at most; without it, as many as the server takes.
    #[schemars(range(min = 1))]
    rate_limit: Option<u32>,
    /// The run fails when 1 of 100 calls takes longer than this many milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    max_p99_ms: Option<f64>,
    /// The run fails when a larger share of calls fails: 0.01 is 1 %.
    #[schemars(range(min = 0.0, max = 1.0))]
    max_error_rate: Option<f64>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            tool: None,
            args: None,
            concurrent: 10,
            duration_secs: 10.0,
            rate_limit: None,
            max_p99_ms: None,
            max_error_rate: None,
        }
    }
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    let caps = call.office.policy.caps;
    let mut config = Config::default();
    let scenario = &mut config.scenario;
    scenario.name = Some(ScenarioName::Sustained);
    scenario.tool = asked.tool;
    scenario.args = asked.args.map(|args| Arguments(args.into()));
    scenario.concurrent = Some(caps.concurrent(asked.concurrent)?);
    scenario.duration = Some(caps.seconds("duration_secs", asked.duration_secs)?);
    scenario.rate_limit = asked.rate_limit;
    if let Some(limit) = asked.max_p99_ms {
        config.thresholds.p99_latency = caps.seconds("max_p99_ms / 1000", limit / 1e3)?;
    }
    config.thresholds.error_rate = asked.max_error_rate.unwrap_or(config.thresholds.error_rate);
    load::carry_out(call, &config).await
}

pub(super) const ENTRY: Tool = Tool {
    name: "sustained_load",
    title: "Put a steady load on a server",
    about: "Keep a number of tool calls in flight against an MCP server for some seconds and measure \
            latency percentiles, throughput and errors. Leaves a run directory that compare_runs and \
            report_summary read.",
    does: Does::Tests,
    input: || schema_for!(Asked),
    output: || schema_for!(load::LoadResult),
    call: |call| Box::pin(run(call)),
};
