//! `loads:`: a load test with thresholds, so that one file can gate everything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{config::ScenarioConfig, thresholds::Thresholds};

/// A load test. It fails when a threshold is violated or a bug is found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadTest {
    /// What the test is called.
    pub name: String,
    /// The server; may be left out where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What is done to it, with the keys of `[scenario]` in a configuration file.
    pub scenario: ScenarioConfig,
    /// What it must keep to, with the keys of `[thresholds]`.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// Words by which tests are chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why the test is not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}
