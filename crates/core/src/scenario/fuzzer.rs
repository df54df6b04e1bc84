//! Settings of `fuzzer`: bad input on purpose.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    fuzz::Payload,
    thresholds::Thresholds,
    units::{as_text, format_duration},
};

/// Settings of `fuzzer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuzzer {
    /// How many cases are sent.
    pub iterations: u32,
    /// Which kinds of bad input.
    pub payloads: Vec<Payload>,
    /// After this long no further case is begun.
    #[serde(with = "as_text")]
    pub duration: Duration,
}

impl Default for Fuzzer {
    fn default() -> Self {
        Self {
            iterations: 1_000,
            payloads: Payload::ALL.to_vec(),
            duration: Duration::from_secs(120),
        }
    }
}

impl Settings for Fuzzer {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.iterations == 0, "iterations", AT_LEAST_ONE)?;
        refuse(self.payloads.is_empty(), "payloads", "needs at least one kind of bad input")?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)
    }

    fn concurrent(&self) -> u32 {
        1
    }

    fn length(&self) -> Option<Duration> {
        None
    }

    fn phrase(&self) -> String {
        let kinds = match self.payloads.len() {
            count if count == Payload::ALL.len() => "all payloads".to_owned(),
            1 => self.payloads[0].as_str().to_owned(),
            count => format!("{count} payloads"),
        };
        format!("{} cases, {kinds}, at most {}", self.iterations, format_duration(self.duration))
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.iterations = Some(self.iterations);
        config.payloads = Some(self.payloads.clone());
        config.duration = Some(self.duration);
    }
}

impl Configured for Fuzzer {
    const KEYS: &'static [&'static str] = &["iterations", "payloads", "duration"];
    /// It makes its own arguments, judges each case by itself and has no calls that could be late.
    const UNUSED: &'static [&'static str] = &[
        "timeout",
        "abort_on_fail",
        "strict",
        "args",
        "args_list",
        "args_file",
        "args_order",
        "generate",
        "weight",
    ];
    const ONE_THREAD: bool = true;

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        Ok(Self {
            iterations: config.iterations.unwrap_or(default.iterations),
            payloads: config.payloads.clone().unwrap_or(default.payloads),
            duration: config.duration.unwrap_or(default.duration),
        })
    }
}

impl Scenario {
    /// A thousand cases of bad input of all kinds.
    pub fn fuzzer() -> ScenarioBuilder<Fuzzer> {
        ScenarioBuilder::new(Fuzzer::default())
    }
}

impl ScenarioBuilder<Fuzzer> {
    /// How many cases are sent.
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.kind.iterations = iterations;
        self
    }

    /// Which kinds of bad input.
    pub fn payloads(mut self, payloads: impl Into<Vec<Payload>>) -> Self {
        self.kind.payloads = payloads.into();
        self
    }

    /// After this long no further case is begun.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }
}
