//! Settings of `deadlock_probe`: calls released at the same instant, each under a watchdog.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `deadlock_probe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadlockProbe {
    /// How many calls are released at once.
    pub concurrent: u32,
    /// A call without an answer for this long hangs.
    #[serde(with = "as_text")]
    pub hang_threshold: Duration,
    /// How much longer a hanging call may take before it counts as deadlocked.
    #[serde(with = "as_text")]
    pub grace_period: Duration,
    /// Whether the first deadlock ends the probe. When false, every call is classified.
    pub bail_early: bool,
    /// How many calls follow one after another once the burst is over. They tell a slow first
    /// call (lazy initialisation) from a slow tool.
    pub steady_calls: u32,
}

impl Default for DeadlockProbe {
    fn default() -> Self {
        Self {
            concurrent: 20,
            hang_threshold: Duration::from_secs(5),
            grace_period: Duration::from_secs(10),
            bail_early: false,
            steady_calls: 5,
        }
    }
}

impl Settings for DeadlockProbe {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.concurrent == 0, "concurrent", AT_LEAST_ONE)?;
        refuse(self.hang_threshold.is_zero(), "hang_threshold", LONGER_THAN_NOTHING)
    }

    fn concurrent(&self) -> u32 {
        self.concurrent
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        format!(
            "{} concurrent, hang {}, grace {}",
            self.concurrent,
            format_span(self.hang_threshold),
            format_span(self.grace_period)
        )
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.concurrent = Some(self.concurrent);
        config.hang_threshold = Some(self.hang_threshold);
        config.grace_period = Some(self.grace_period);
        config.bail_early = Some(self.bail_early);
        config.steady_calls = Some(self.steady_calls);
    }
}

impl Configured for DeadlockProbe {
    const KEYS: &'static [&'static str] =
        &["concurrent", "sessions", "hang_threshold", "grace_period", "bail_early", "steady_calls"];
    const ONE_THREAD: bool = true;

    /// Times that the probe leaves open are those of the thresholds.
    fn from_config(config: &ScenarioConfig, thresholds: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            concurrent: config.concurrent.unwrap_or(default.concurrent),
            hang_threshold: config.hang_threshold.unwrap_or(thresholds.hang_timeout),
            grace_period: config.grace_period.unwrap_or(thresholds.grace_period),
            bail_early: config.bail_early.unwrap_or(default.bail_early),
            steady_calls: config.steady_calls.unwrap_or(default.steady_calls),
        })
    }
}

impl Scenario {
    /// Twenty calls at the same instant, hanging after 5 seconds, deadlocked after 10 more.
    pub fn deadlock_probe() -> ScenarioBuilder<DeadlockProbe> {
        ScenarioBuilder::new(DeadlockProbe::default())
    }
}

impl ScenarioBuilder<DeadlockProbe> {
    /// How many calls are released at once.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// A call without an answer for this long hangs.
    pub fn hang_threshold(mut self, threshold: Duration) -> Self {
        self.kind.hang_threshold = threshold;
        self
    }

    /// How much longer a hanging call may take before it counts as deadlocked.
    pub fn grace_period(mut self, period: Duration) -> Self {
        self.kind.grace_period = period;
        self
    }

    /// Whether the first deadlock ends the probe; otherwise every call is classified.
    pub fn bail_early(mut self, bail: bool) -> Self {
        self.kind.bail_early = bail;
        self
    }

    /// How many calls follow one after another once the burst is over.
    pub fn steady_calls(mut self, calls: u32) -> Self {
        self.kind.steady_calls = calls;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
