//! What came of it all. Serialized it is what `gateway --json` prints, version 1: members may be
//! added, but none may be renamed, removed or given another meaning.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the member `schema` of every report says.
pub const SCHEMA: &str = "mcp-loadtest/gateway/v1";

/// What a gateway keeps and what it breaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest gateway report, version 1")]
pub struct Report {
    /// Names this format and its version.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Whether nothing is broken and every check could be carried out.
    pub passed: bool,
    /// Whether it was interrupted, so that checks are missing.
    pub interrupted: bool,
    /// How the gateway was reached: its command or its address.
    pub gateway: String,
    /// The name that it gives itself.
    pub name: Option<String>,
    /// The version that it gives itself.
    pub version: Option<String>,
    /// The revision of MCP that client and gateway spoke.
    pub revision: String,
    /// The revision of MCP that gateway and server spoke, where it was seen.
    pub upstream_revision: Option<String>,
    /// Tools that the gateway offers under another name: ours, and its own.
    pub renamed: BTreeMap<String, String>,
    /// The checks in the order in which they were made.
    pub checks: Vec<Checked>,
}

impl Report {
    /// Nothing is known of this gateway yet.
    pub(super) fn nothing(gateway: String) -> Self {
        Self {
            schema: SCHEMA.into(),
            passed: false,
            interrupted: true,
            gateway,
            name: None,
            version: None,
            revision: String::new(),
            upstream_revision: None,
            renamed: BTreeMap::new(),
            checks: Vec::new(),
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// Which one.
    pub id: String,
    /// What came of it.
    pub verdict: Verdict,
    /// What was seen, a sentence each. It may hold text of the gateway.
    pub evidence: Vec<String>,
    /// What was counted or measured; names end in their unit.
    pub figures: BTreeMap<String, f64>,
    /// What to do, if something is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// How long the check took.
    pub took_ms: f64,
}

/// What can come of a check, from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What went in came out.
    Kept,
    /// A figure or a policy that is neither right nor wrong.
    Measured,
    /// There is no such thing between this client, this gateway and this server.
    NotApplicable,
    /// The check could not be carried out; the evidence says why.
    CouldNotTell,
    /// Something was lost, changed or done twice.
    Broken,
}

impl Verdict {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Measured => "measured",
            Self::NotApplicable => "not_applicable",
            Self::CouldNotTell => "could_not_tell",
            Self::Broken => "broken",
        }
    }

    /// Whether nobody has to do anything about it. A check that could not be carried out is none
    /// that passed.
    pub const fn passes(self) -> bool {
        !matches!(self, Self::CouldNotTell | Self::Broken)
    }
}

/// `schemas/gateway.v1.json`.
pub fn schema() -> Value {
    schema_for!(Report).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_json() {
        for verdict in [
            Verdict::Kept,
            Verdict::Measured,
            Verdict::NotApplicable,
            Verdict::CouldNotTell,
            Verdict::Broken,
        ] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
        assert!(Verdict::Kept < Verdict::Broken, "the worst comes last");
    }
}
