//! Settings of `capacity`: a search for the highest rate that still keeps the thresholds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
    stages::{MOST_IN_FLIGHT, check_rate},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::Rate,
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `capacity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// The rate of the first trial.
    pub rate_from: Rate,
    /// The highest rate that is tried.
    pub rate_to: Rate,
    /// How long each trial lasts.
    #[serde(with = "as_text")]
    pub hold: Duration,
    /// How closely the answer is narrowed down: 0.05 is 5 %.
    pub precision: f64,
    /// Calls in flight at most.
    pub max_in_flight: u32,
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            rate_from: Rate::per_second(10.0),
            rate_to: Rate::per_second(100_000.0),
            hold: Duration::from_secs(5),
            precision: 0.05,
            max_in_flight: MOST_IN_FLIGHT,
        }
    }
}

impl Settings for Capacity {
    fn check(&self) -> Result<(), ConfigError> {
        check_rate(self.rate_from, "rate_from")?;
        check_rate(self.rate_to, "rate_to")?;
        refuse(self.rate_to <= self.rate_from, "rate_to", "must be above `rate_from`")?;
        refuse(self.hold.is_zero(), "hold", LONGER_THAN_NOTHING)?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        let usable = (0.005..=0.5).contains(&self.precision);
        refuse(!usable, "precision", "must lie between 0.005 and 0.5")
    }

    fn concurrent(&self) -> u32 {
        self.max_in_flight
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        format!(
            "{} to {}, {} each trial, within {}%",
            self.rate_from,
            self.rate_to,
            format_span(self.hold),
            self.precision * 100.0
        )
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.rate_from = Some(self.rate_from);
        config.rate_to = Some(self.rate_to);
        config.hold = Some(self.hold);
        config.precision = Some(self.precision);
        config.max_in_flight = Some(self.max_in_flight);
    }
}

impl Configured for Capacity {
    const KEYS: &'static [&'static str] =
        &["sessions", "rate_from", "rate_to", "hold", "precision", "max_in_flight"];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            rate_from: config.rate_from.unwrap_or(default.rate_from),
            rate_to: config.rate_to.unwrap_or(default.rate_to),
            hold: config.hold.unwrap_or(default.hold),
            precision: config.precision.unwrap_or(default.precision),
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
        })
    }
}

impl Scenario {
    /// A search from ten calls a second up, each trial held for five seconds.
    pub fn capacity() -> ScenarioBuilder<Capacity> {
        ScenarioBuilder::new(Capacity::default())
    }
}

impl ScenarioBuilder<Capacity> {
    /// The rate of the first trial, and the highest that is tried.
    pub fn rates(mut self, from: f64, to: f64) -> Self {
        self.kind.rate_from = Rate::per_second(from);
        self.kind.rate_to = Rate::per_second(to);
        self
    }

    /// How long each trial lasts.
    pub fn hold(mut self, hold: Duration) -> Self {
        self.kind.hold = hold;
        self
    }

    /// How closely the answer is narrowed down: 0.05 is 5 %.
    pub fn precision(mut self, precision: f64) -> Self {
        self.kind.precision = precision;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
