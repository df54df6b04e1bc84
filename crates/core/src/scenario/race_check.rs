//! Settings of `race_check`: identical calls at the same instant, their replies compared.

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

/// Settings of `race_check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaceCheck {
    /// How many identical calls are released at once.
    pub concurrent: u32,
    /// How often that is done.
    pub rounds: u32,
}

impl Default for RaceCheck {
    fn default() -> Self {
        Self { concurrent: 20, rounds: 5 }
    }
}

impl Settings for RaceCheck {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(
            self.concurrent < 2,
            "concurrent",
            "needs at least 2: one reply has nothing to differ from",
        )?;
        refuse(self.rounds == 0, "rounds", AT_LEAST_ONE)
    }

    fn concurrent(&self) -> u32 {
        self.concurrent
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        format!("{} concurrent, {} rounds", self.concurrent, self.rounds)
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.concurrent = Some(self.concurrent);
        config.rounds = Some(self.rounds);
    }
}

impl Configured for RaceCheck {
    const KEYS: &'static [&'static str] = &["concurrent", "sessions", "rounds"];
    const ONE_THREAD: bool = true;

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            concurrent: config.concurrent.unwrap_or(default.concurrent),
            rounds: config.rounds.unwrap_or(default.rounds),
        })
    }
}

impl Scenario {
    /// Twenty identical calls at the same instant, five times.
    pub fn race_check() -> ScenarioBuilder<RaceCheck> {
        ScenarioBuilder::new(RaceCheck::default())
    }
}

impl ScenarioBuilder<RaceCheck> {
    /// How many identical calls are released at once.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// How often that is done.
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.kind.rounds = rounds;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
