//! Settings of `slow_mix`: fast calls alone, then with slow ones beside them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder, ToolCall,
    settings::{Configured, LONGER_THAN_NOTHING, Settings, Step, refuse},
};
use crate::{
    config::{Arguments, ConfigError, ScenarioConfig},
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `slow_mix`. The fast tool is the one that the scenario calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowMix {
    /// How many callers there are.
    pub concurrent: u32,
    /// How long each of the two halves lasts.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// The share of the callers that make slow calls in the second half.
    pub slow_share: f64,
    /// The slow call; the slower of two tools that the scenario calls when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<ToolCall>,
}

impl Default for SlowMix {
    fn default() -> Self {
        Self { concurrent: 5, duration: Duration::from_secs(10), slow_share: 0.2, slow: None }
    }
}

impl SlowMix {
    /// How many callers make slow calls in the second half: at least one, and never all.
    pub fn slow_callers(&self) -> u32 {
        let share = f64::from(self.concurrent) * self.slow_share;
        (share.round() as u32).clamp(1, self.concurrent.saturating_sub(1).max(1))
    }
}

impl Settings for SlowMix {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.concurrent < 2, "concurrent", "needs at least 2: a fast and a slow caller")?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)?;
        let usable = self.slow_share > 0.0 && self.slow_share < 1.0;
        refuse(!usable, "slow_share", "must lie between 0 and 1")
    }

    fn concurrent(&self) -> u32 {
        self.concurrent
    }

    fn length(&self) -> Option<Duration> {
        Some(self.duration * 2)
    }

    fn steps(&self) -> Vec<Step> {
        let steps = ["fast calls alone", "fast calls beside slow ones", "the slow calls"];
        let steps =
            steps.map(|label| Step { label: label.to_owned(), load: None, length: self.duration });
        steps.to_vec()
    }

    fn phrase(&self) -> String {
        format!(
            "{} callers, {} of them slow in the second half, {} each half",
            self.concurrent,
            self.slow_callers(),
            format_span(self.duration)
        )
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.concurrent = Some(self.concurrent);
        config.duration = Some(self.duration);
        config.slow_share = Some(self.slow_share);
        config.slow_tool = self.slow.as_ref().map(|call| call.name.clone());
        config.slow_args = self.slow.as_ref().map(|call| Arguments(call.args.clone()));
    }
}

impl Configured for SlowMix {
    const KEYS: &'static [&'static str] =
        &["duration", "concurrent", "sessions", "slow_share", "slow_tool", "slow_args"];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        let orphaned = config.slow_args.is_some() && config.slow_tool.is_none();
        refuse(orphaned, "slow_args", "are for no tool")
            .map_err(|error| error.with_hint("name the tool with `slow_tool`"))?;
        let slow = config.slow_tool.as_ref().map(|name| {
            let call = ToolCall::new(name);
            match &config.slow_args {
                Some(Arguments(args)) => call.args(args.clone()),
                None => call,
            }
        });
        Ok(Self {
            concurrent: config.concurrent.unwrap_or(default.concurrent),
            duration: config.duration.unwrap_or(default.duration),
            slow_share: config.slow_share.unwrap_or(default.slow_share),
            slow,
        })
    }
}

impl Scenario {
    /// Five callers for ten seconds, then again with one of them making slow calls.
    pub fn slow_mix() -> ScenarioBuilder<SlowMix> {
        ScenarioBuilder::new(SlowMix::default())
    }
}

impl ScenarioBuilder<SlowMix> {
    /// How many callers there are.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// How long each half lasts.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// The slow call.
    pub fn slow(mut self, call: ToolCall) -> Self {
        self.kind.slow = Some(call);
        self
    }

    /// The share of the callers that make slow calls in the second half.
    pub fn slow_share(mut self, share: f64) -> Self {
        self.kind.slow_share = share;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
