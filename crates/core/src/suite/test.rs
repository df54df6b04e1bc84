//! `tools:`, `resources:` and `prompts:`: one request each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{expect::Expect, result::Family};
use crate::seed::Seed;

/// A call of a tool. Without `expect` it must not fail; with it, only what it says counts, also of a result
/// that says `isError`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolTest {
    /// What the test is called.
    pub name: String,
    /// The server; may be left out where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// What must be so of the reply.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// How long the reply may take; then the call is cancelled. Default: 30000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Words by which tests are chosen. With `negative_path` or `fuzz` it has the tag `EDGE` by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why the test is not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// Calls that the tool must refuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative_path: Option<NegativePath>,
    /// Bad arguments that the server must survive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<Fuzz>,
}

impl ToolTest {
    /// The family that it belongs to.
    pub fn family(&self) -> Option<Family> {
        (self.negative_path.is_some() || self.fuzz.is_some()).then_some(Family::Edge)
    }
}

/// Calls that the tool must refuse; `args` are those that it must take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NegativePath {
    /// Which of them; one that is named and cannot be tried fails the test. Default: all that there is
    /// something for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// What must be so of `negative_path.checks_run`, how many checks there were,
    /// `negative_path.failures`, how many of them were not refused cleanly: by a JSON-RPC error or
    /// `isError`, and `negative_path.gate_passed`. Default: all are.
    #[serde(skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
}

/// Bad arguments that the server must survive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fuzz {
    /// What they are made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// How many. Default: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cases: Option<u32>,
    /// No reply for this long is a hang. Default: 5000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_call_ms: Option<u64>,
    /// What must be so of `fuzz.cases`, `fuzz.failures`, `fuzz.crash`, `fuzz.hang` and the other
    /// classes. Default: nothing breaks the server.
    #[serde(skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
}

/// A resource that is read. Without `expect` reading it must not fail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceTest {
    /// What the test is called.
    pub name: String,
    /// The server; may be left out where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The resource.
    pub uri: String,
    /// What must be so of the reply.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// How long the reply may take; then the request is cancelled. Default: 30000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Words by which tests are chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why the test is not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}

/// A prompt that is filled in. Without `expect` that must not fail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptTest {
    /// What the test is called.
    pub name: String,
    /// The server; may be left out where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// What it is filled in with.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// What must be so of the reply.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// How long the reply may take; then the request is cancelled. Default: 30000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// Words by which tests are chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why the test is not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}
