//! Settings of `reconnect`: sessions cut in the middle of a call, opened again, the call repeated.

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

/// Settings of `reconnect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconnect {
    /// How many calls are in flight when the session is cut.
    pub concurrent: u32,
    /// How often a session is cut.
    pub drops: u32,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self { concurrent: 5, drops: 10 }
    }
}

impl Settings for Reconnect {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.concurrent == 0, "concurrent", AT_LEAST_ONE)?;
        refuse(self.drops == 0, "drops", AT_LEAST_ONE)
    }

    fn concurrent(&self) -> u32 {
        self.concurrent
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        let times = if self.drops == 1 { "once" } else { "times" };
        let count = if self.drops == 1 { String::new() } else { format!("{} ", self.drops) };
        format!("cut {count}{times} with {} in flight", self.concurrent)
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.concurrent = Some(self.concurrent);
        config.drops = Some(self.drops);
    }
}

impl Configured for Reconnect {
    const KEYS: &'static [&'static str] = &["concurrent", "drops"];
    const ONE_THREAD: bool = true;

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            concurrent: config.concurrent.unwrap_or(default.concurrent),
            drops: config.drops.unwrap_or(default.drops),
        })
    }
}

impl Scenario {
    /// A session with five calls in flight is cut, ten times.
    pub fn reconnect() -> ScenarioBuilder<Reconnect> {
        ScenarioBuilder::new(Reconnect::default())
    }
}

impl ScenarioBuilder<Reconnect> {
    /// How many calls are in flight when the session is cut.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// How often a session is cut.
    pub fn drops(mut self, drops: u32) -> Self {
        self.kind.drops = drops;
        self
    }
}
