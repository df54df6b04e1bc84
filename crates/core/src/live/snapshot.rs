//! A run at one moment, in plain figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::glimpse::LogLine;
use crate::outcome::ErrorCategory;

/// What the run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The server is being started; no call has been made.
    Starting,
    /// Calls are made.
    Running,
    /// No call is made until somebody says so.
    Paused,
    /// Calls in flight are waited for; then the run is over.
    Stopping,
}

impl State {
    /// One word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Stopping => "STOPPING",
        }
    }
}

/// A run at one moment. Names and texts are safe to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What the run is doing.
    pub state: State,
    /// Against whom.
    pub target: String,
    /// The scenario and its settings.
    pub scenario: String,
    /// Seconds since the first call, without pauses.
    pub load_secs: f64,
    /// How many of them there will be, where that is known.
    pub expected_secs: Option<f64>,
    /// How long the load was held so far, in seconds.
    pub paused_secs: f64,
    /// The step of the scenario, from 1; 0 where it has none.
    pub step: u16,
    /// Calls that were due.
    pub issued: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were due but not sent.
    pub dropped: u64,
    /// Calls that are waited for.
    pub in_flight: u64,
    /// Calls that passed the hang threshold.
    pub hangs: u64,
    /// Calls that ended in the last second or so, a second.
    pub per_sec: f64,
    /// Calls a second that are asked for, where there is a schedule.
    pub asked_per_sec: Option<f64>,
    /// Failures by kind.
    pub errors: BTreeMap<ErrorCategory, u64>,
    /// Response times of the last seconds.
    pub recent: LatencyFigures,
    /// Response times since the start.
    pub overall: LatencyFigures,
    /// Memory of the server's processes, in megabytes.
    pub rss_mb: Option<f64>,
    /// The same when it was first looked at.
    pub first_rss_mb: Option<f64>,
    /// CPU of the server's processes, 100 = one core.
    pub cpu_pct: Option<f64>,
    /// By tool, in the order of their first calls.
    pub tools: Vec<ToolFigures>,
    /// Calls that ended in each of the last whole seconds.
    pub rates: Vec<u64>,
    /// Failed calls in each of them.
    pub failures: Vec<u64>,
    /// p99 of each of them in milliseconds, where a call ended.
    pub p99_ms: Vec<Option<f64>>,
    /// What was noted last.
    pub log: Vec<LogLine>,
}

/// Response times in milliseconds; nothing where no call ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyFigures {
    /// Half of the calls took no longer.
    pub p50_ms: Option<f64>,
    /// 9 of 10.
    pub p90_ms: Option<f64>,
    /// 99 of 100.
    pub p99_ms: Option<f64>,
    /// 999 of 1000.
    pub p999_ms: Option<f64>,
    /// All.
    pub max_ms: Option<f64>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFigures {
    /// Its name, safe to show.
    pub name: String,
    /// Calls that have ended.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Calls that are waited for.
    pub in_flight: u64,
    /// Response times since the start; nothing where there are too many tools to tell them apart.
    pub overall: LatencyFigures,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_one_word() {
        let all = [State::Starting, State::Running, State::Paused, State::Stopping];
        assert_eq!(all.map(State::as_str), ["STARTING", "RUNNING", "PAUSED", "STOPPING"]);
    }
}
