//! How much worse is a regression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{exit::Exit, stats::bootstrap::Figure};

/// How much worse each figure may get. What has no limit is told and not judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The share by which the median may grow: 0.1 is 10 %.
    pub p50: Option<f64>,
    /// The share by which the 95th percentile may grow.
    pub p95: Option<f64>,
    /// The share by which the 99th percentile may grow.
    pub p99: Option<f64>,
    /// How much larger the share of failed calls may be, in absolute terms: 0.005 is half a
    /// percentage point.
    pub error_rate: Option<f64>,
    /// The share by which successful calls a second may fall.
    pub throughput: Option<f64>,
    /// Whether there may be more deadlocks than before.
    pub new_deadlocks: NewDeadlocks,
    /// What a difference means that the data cannot decide.
    pub undecided: Undecided,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            p50: None,
            p95: None,
            p99: Some(0.1),
            error_rate: Some(0.005),
            throughput: Some(0.1),
            new_deadlocks: NewDeadlocks::Fail,
            undecided: Undecided::Pass,
        }
    }
}

impl Policy {
    /// How much worse a figure may get, if it is judged.
    pub const fn allowed(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::P50 => self.p50,
            Figure::P95 => self.p95,
            Figure::P99 => self.p99,
            Figure::ErrorRate => self.error_rate,
            Figure::Throughput => self.throughput,
        }
    }
}

/// What more deadlocks than before mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewDeadlocks {
    /// A regression.
    Fail,
    /// Nothing.
    Allow,
}

/// What a difference means that the data cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// It passes, with a warning.
    Pass,
    /// It fails.
    Fail,
}

impl Undecided {
    /// How a gate ends that could not decide.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Pass => Exit::Pass,
            Self::Fail => Exit::Fail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_own_limit() {
        let policy = Policy {
            p50: Some(0.2),
            p95: Some(0.3),
            p99: Some(0.4),
            error_rate: Some(0.5),
            throughput: None,
            ..Policy::default()
        };
        let allowed = Figure::ALL.map(|figure| policy.allowed(figure));
        assert_eq!(allowed, [Some(0.2), Some(0.3), Some(0.4), Some(0.5), None]);
    }
}
