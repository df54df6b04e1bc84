//! `agents:`: a model is given a task and tools, and things go wrong.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{expect::Expect, recovery::Recovery, result::Family};
use crate::{config::DurationText, units::as_text_option};

/// How often a model is asked at most, unless something else is said.
pub const MAX_TURNS: u32 = 10;
/// How many tokens one answer may have, unless something else is said.
pub const MAX_TOKENS: u32 = 1024;

/// A task for an agent. Without `expect` and `recovery` it must come to an answer; with `expect`, only what that
/// says counts, also where a budget was the end. A `command` that claims success must end with exit code 0,
/// unless `live.exit_code` is looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentTest {
    /// What the test is called.
    pub name: String,
    /// The model: one of `models`, one of a provider (`claude-…`, `gpt-…`, `o…`, `gemini-…`), or
    /// `scripted:careful` and its relatives. `--model` goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// An agent of your own, in place of ours: the program and its arguments. It is given the task on
    /// stdin and in `MCP_LOADTEST_PROMPT`, the servers in `MCP_LOADTEST_SERVER_URL` and in the file
    /// that `MCP_LOADTEST_MCP_CONFIG` names, and its answer is what it prints. Faults and times are
    /// then real. With `model`, our mock of a provider speaks from its fixtures, and the usual
    /// variables for base URLs and keys lead there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Environment variables of `command`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The servers whose tools the agent has.
    pub servers: Vec<String>,
    /// What goes wrong, by the names of `faults`. The first that touches a call decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<String>,
    /// The task.
    pub prompt: String,
    /// What the model is told beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// How often the model is asked at most. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_turns: Option<u32>,
    /// How many tokens one answer of the model may have. Default: 1024.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// How many tokens all turns together may use. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub token_budget: Option<u64>,
    /// How many tools may be called. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tool_calls: Option<u32>,
    /// How long the whole run may take by the wall clock, such as `30s`. Default: `5m`.
    #[serde(default, with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub time_budget: Option<Duration>,
    /// How often the task is given; each time must pass. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub runs: Option<u32>,
    /// How the agent must recover from what was injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// What must be so of the run: `tool_calls`, `tool_results`, `final_response`, `conversation`,
    /// `orchestration`, `recovery`.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
    /// Words by which tests are chosen. With `recovery` or `inject` it has the tag `EDGE` by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Why the test is not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
}

impl AgentTest {
    /// How long the run may take by the wall clock.
    pub fn time_budget(&self) -> Duration {
        self.time_budget.unwrap_or(Duration::from_secs(300))
    }

    /// Whether the agent is a program of its own, so that faults and times are real.
    pub fn is_live(&self) -> bool {
        !self.command.is_empty()
    }

    /// How the agent must recover, where something can go wrong.
    pub fn recovery(&self) -> Option<Recovery> {
        let injected = (!self.inject.is_empty()).then(Recovery::default);
        self.recovery.clone().or(injected)
    }

    /// The family that it belongs to.
    pub fn family(&self) -> Option<Family> {
        self.recovery().map(|_| Family::Edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_of_an_agent_has_its_default() {
        let plain = AgentTest::default();
        assert_eq!(plain.time_budget(), Duration::from_secs(300));
        assert_eq!((plain.is_live(), plain.recovery(), plain.family()), (false, None, None));
        let hit = AgentTest { inject: vec!["hang".into()], ..AgentTest::default() };
        assert_eq!(hit.recovery(), Some(Recovery::default()));
        assert_eq!(hit.family(), Some(Family::Edge));
        let own = Recovery { max_detection_ms: 7, ..Recovery::default() };
        let told = AgentTest {
            recovery: Some(own.clone()),
            time_budget: Some(Duration::from_secs(7)),
            command: vec!["agent".into()],
            ..hit
        };
        assert_eq!((told.recovery(), told.time_budget()), (Some(own), Duration::from_secs(7)));
        assert!(told.is_live());
    }
}
