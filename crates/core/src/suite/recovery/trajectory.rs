//! What an agent did, call by call, with marks in milliseconds of virtual time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What an agent did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trajectory {
    /// Its calls, in their order.
    pub calls: Vec<TracedCall>,
    /// What it answered in the end; empty if it did not.
    pub final_response: String,
    /// Why it ended.
    pub stop: StopReason,
    /// How often the model was asked.
    pub turns: u32,
    /// The tokens that the model says it used.
    pub usage: Usage,
    /// When it ended.
    pub ended_ms: u64,
    /// When it first got anywhere after the fault, where that was seen on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_ms: Option<u64>,
}

/// Why an agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It answered.
    #[default]
    Completed,
    /// It was asked as often as it may be.
    MaxTurns,
    /// It called as many tools as it may.
    MaxToolCalls,
    /// It used as many tokens as it may.
    TokenBudget,
    /// It took as long as it may.
    TimeBudget,
}

impl StopReason {
    /// Its word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxTurns => "max_turns",
            Self::MaxToolCalls => "max_tool_calls",
            Self::TokenBudget => "token_budget",
            Self::TimeBudget => "time_budget",
        }
    }
}

/// Tokens that were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// What the model read.
    pub input: u64,
    /// What the model wrote.
    pub output: u64,
}

impl Usage {
    /// Both together.
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracedCall {
    /// The server that has the tool.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Map<String, Value>,
    /// What the model was shown.
    pub text: String,
    /// Whether that was an error.
    pub is_error: bool,
    /// Whether nobody but the agent has seen what it said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unread: bool,
    /// When it was issued.
    pub started_ms: u64,
    /// When its end was known.
    pub ended_ms: u64,
    /// Whether a fault was aimed at it, whatever became of that.
    pub aimed_at: bool,
    /// What went wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<CallFault>,
}

/// What went wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallFault {
    /// The fault's name, or what really happened.
    pub name: String,
    /// Whether the call never came back, so that nobody knows whether it was carried out.
    pub is_silent: bool,
}

impl Trajectory {
    /// The document that expectations look at, without `recovery`.
    pub fn document(&self) -> Value {
        let calls: Vec<_> = self
            .calls
            .iter()
            .map(|call| json!({ "name": call.tool, "server": call.server, "args": call.args }))
            .collect();
        let results: Vec<_> = self
            .calls
            .iter()
            .map(|call| json!({ "name": call.tool, "text": call.text, "is_error": call.is_error }))
            .collect();
        json!({
            "tool_calls": calls,
            "tool_results": results,
            "final_response": self.final_response,
            "conversation": {
                "tokens": {
                    "input": self.usage.input,
                    "output": self.usage.output,
                    "total": self.usage.total(),
                },
                "message_count": u64::from(self.turns) * 2,
                "turns": self.turns,
                "duration_ms": self.ended_ms,
                "stop_reason": self.stop.name(),
            },
            "orchestration": { "error_recovery": self.error_recovery() },
        })
    }

    /// The share of calls that failed and whose tool worked later; 1 when none failed.
    pub fn error_recovery(&self) -> f64 {
        let failed = self.calls.iter().enumerate().filter(|(_, call)| call.is_error);
        let (mut all, mut made_good) = (0_u32, 0_u32);
        for (at, call) in failed {
            all += 1;
            let later = &self.calls[at + 1..];
            let works = |later: &&TracedCall| later.tool == call.tool && !later.is_error;
            made_good += u32::from(later.iter().find(works).is_some());
        }
        if all == 0 { 1.0 } else { f64::from(made_good) / f64::from(all) }
    }

    /// The first call that a fault hit.
    pub(super) fn first_hit(&self) -> Option<&TracedCall> {
        self.calls.iter().find(|call| call.fault.is_some())
    }
}
