//! What a probe gives.

use std::collections::BTreeMap;

use mcp_loadtest_core::{
    check::{CaseResult, Depth, Gate},
    mcp::{Era, Revision},
    report::Finding,
};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerdict {
    /// It answered.
    Ok,
    /// It answered with `isError`: with made-up arguments that is no fault.
    ToolError,
    /// It answered with a JSON-RPC error.
    Refused,
    /// It answered, but only after the hang threshold: some tools are meant to take their time.
    Slow,
    /// It did not answer at all.
    Hung,
    /// The server died of it.
    Crashed,
    /// Its reply was not valid.
    Malformed,
    /// It was not called.
    Skipped,
}

/// One tool and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProbe {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub verdict: ToolVerdict,
    /// What it was called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// Why it was skipped, or what it said.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeReport {
    /// The version of this document.
    pub schema: String,
    /// Who was probed.
    pub target: String,
    /// The name that the server gives itself.
    pub server_name: Option<String>,
    /// The version that the server gives itself.
    pub server_version: Option<String>,
    /// The era that was spoken.
    pub era: Era,
    /// The revision that was spoken.
    pub revision: Revision,
    /// How far the probe went.
    pub depth: Depth,
    /// What the arguments and cases were made from.
    pub seed: u64,
    /// How long the handshake took.
    pub handshake_ms: f64,
    /// How long the whole probe took.
    pub took_ms: f64,
    /// How long each check took.
    pub check_ms: BTreeMap<String, f64>,
    /// Every tool that the server lists.
    pub tools: Vec<ToolProbe>,
    /// Everything that was tried besides.
    pub checks: Vec<CaseResult>,
    /// The sums of the negative path.
    pub negative_path: Gate,
    /// What was concluded, the gravest last.
    pub findings: Vec<Finding>,
    /// Whether no bug was found.
    pub passed: bool,
    /// Whether it was stopped before everything was tried.
    #[serde(default)]
    pub interrupted: bool,
}

impl ProbeReport {
    /// `schemas/probe.v1.json`.
    pub fn json_schema() -> Value {
        schema_for!(Self).to_value()
    }
}
