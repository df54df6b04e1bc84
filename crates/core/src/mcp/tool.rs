//! A tool as `tools/list` describes it. What we do not need stays as it came.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of a `tools/list` result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// What `tools/call` names.
    pub name: String,
    /// For people and models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the arguments must look like.
    #[serde(default)]
    pub input_schema: Value,
    /// What `structuredContent` looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints such as `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}
