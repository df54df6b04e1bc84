//! Settings of `cold_start`: start, handshake, first call; again and again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, Settings, refuse},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    thresholds::Thresholds,
};

/// Settings of `cold_start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdStart {
    /// How many starts are made.
    pub iterations: u32,
    /// Whether the first start is thrown away: it fills caches that later starts find full.
    pub warmup: bool,
}

impl Default for ColdStart {
    fn default() -> Self {
        Self { iterations: 5, warmup: true }
    }
}

impl Settings for ColdStart {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.iterations == 0, "iterations", AT_LEAST_ONE)?;
        let message = "the first start is thrown away, so 1 leaves nothing to measure";
        refuse(self.warmup && self.iterations == 1, "iterations", message)
            .map_err(|error| error.with_hint("set it to 2 or more, or `warmup = false`"))
    }

    fn concurrent(&self) -> u32 {
        1
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        let starts = if self.iterations == 1 { "start" } else { "starts" };
        let thrown_away = if self.warmup { ", the first not counted" } else { "" };
        format!("{} {starts}{thrown_away}", self.iterations)
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.iterations = Some(self.iterations);
        config.warmup = Some(self.warmup);
    }
}

impl Configured for ColdStart {
    const KEYS: &'static [&'static str] = &["iterations", "warmup"];
    const ONE_THREAD: bool = true;

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            iterations: config.iterations.unwrap_or(default.iterations),
            warmup: config.warmup.unwrap_or(default.warmup),
        })
    }
}

impl Scenario {
    /// Start → handshake → first call, five times, the first of them thrown away.
    pub fn cold_start() -> ScenarioBuilder<ColdStart> {
        ScenarioBuilder::new(ColdStart::default())
    }
}

impl ScenarioBuilder<ColdStart> {
    /// How many starts are made.
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.kind.iterations = iterations;
        self
    }

    /// Whether the first start is thrown away.
    pub fn warmup(mut self, warmup: bool) -> Self {
        self.kind.warmup = warmup;
        self
    }
}
