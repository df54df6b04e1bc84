//! What the figures are about, and how far they can be trusted: the server, the tools that were
//! called, the generator itself, the trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LatencyStats;
use crate::{
    config::Trace,
    mcp::{Era, Revision},
};

/// Who was tested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// The command line or URL, as a person would write it.
    pub target: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The name that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The era that was spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// The revision that was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// How many tools it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u32>,
    /// Their names; those beyond the first thousand are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_names: Vec<String>,
    /// What the arguments of the planned calls reach of its schemas; nothing where none are planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<KeywordCoverage>,
}

/// How much of the input schemas of a server's tools is put to the test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeywordCoverage {
    /// How many keywords there are that demand something of an argument.
    pub listed: usize,
    /// How many of them the arguments reach.
    pub reached: usize,
    /// Others, as `tool: place keyword`; those beyond the first hundred are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

/// Whether the figures are the server's, or the generator's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Whether the generator was the limit.
    pub client_bound: bool,
    /// Why, in sentences; also what else speaks against the figures.
    pub reasons: Vec<String>,
    /// Calls a second that were asked for, where they start on a schedule.
    pub asked_per_sec: Option<f64>,
    /// Calls a second that were sent.
    pub offered_per_sec: Option<f64>,
    /// How much later than due calls were sent; empty where they start as they come.
    pub lag: LatencyStats,
    /// The share of its time that the busiest load thread was on a CPU.
    pub busiest_thread: Option<f64>,
    /// The share of its time that a load thread was ready but got no CPU, at worst.
    pub starved_thread: Option<f64>,
    /// CPU time of the load threads by call, in microseconds.
    pub cpu_us_per_call: Option<f64>,
}

/// Which of the server's tools were called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// How many tools the server lists.
    pub registered: usize,
    /// How many of them were called.
    pub exercised: usize,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// How many of those that were called answered with an error at least once.
    #[serde(default)]
    pub error_paths: usize,
    /// What the arguments reach of the schemas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<KeywordCoverage>,
}

/// How much of the run its trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStats {
    /// Which calls were to be kept; `off` where no trace was.
    pub mode: Trace,
    /// Load calls that were made.
    pub calls: u64,
    /// Load calls that were not left out.
    pub kept_calls: u64,
    /// Lines that were not written because the disk was too slow.
    pub lost_lines: u64,
    /// How large its file is, where there is one.
    #[serde(default)]
    pub bytes: u64,
}

impl Default for TraceStats {
    fn default() -> Self {
        Self { mode: Trace::Off, calls: 0, kept_calls: 0, lost_lines: 0, bytes: 0 }
    }
}

impl TraceStats {
    /// What a file of before there were modes means: a trace of everything.
    pub(in crate::report) fn of_older_file() -> Self {
        Self { mode: Trace::Full, ..Self::default() }
    }

    /// Whether everything that happened is in the trace.
    pub fn is_whole(&self) -> bool {
        self.mode != Trace::Off && self.kept_calls == self.calls && self.lost_lines == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_whole_if_nothing_was_left_out_or_lost() {
        for (mode, calls, kept_calls, lost_lines, expected) in [
            (Trace::Full, 9, 9, 0, true),
            (Trace::Sampled, 9, 9, 0, true),
            (Trace::Off, 9, 9, 0, false),
            (Trace::Full, 9, 8, 0, false),
            (Trace::Full, 9, 9, 1, false),
        ] {
            let trace = TraceStats { mode, calls, kept_calls, lost_lines, bytes: 0 };
            assert_eq!(trace.is_whole(), expected, "{trace:?}");
        }
        assert!(TraceStats::of_older_file().is_whole());
        assert!(!TraceStats::default().is_whole());
    }
}
