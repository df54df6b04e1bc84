//! What all kinds of load have in common.

use std::time::Duration;

use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::{Arrival, Level, Rate, Stage},
    thresholds::Thresholds,
};

/// The settings of one kind of load.
pub trait Settings {
    /// The first setting that makes no sense.
    fn check(&self) -> Result<(), ConfigError>;
    /// How many calls may be in flight at once.
    fn concurrent(&self) -> u32;
    /// How long the load lasts, where that is known beforehand.
    fn length(&self) -> Option<Duration>;
    /// How calls arrive, where that is all there is to the scenario.
    fn arrival(&self) -> Option<Arrival> {
        None
    }
    /// The steps that the run is made of, in their order; none where it is all of one piece.
    fn steps(&self) -> Vec<Step> {
        let Some(arrival) = self.arrival() else { return Vec::new() };
        let stages = arrival.course().stages();
        if stages.len() < 2 {
            return Vec::new();
        }
        let step = |stage: &Stage| {
            let load = match arrival {
                Arrival::Open { .. } => Level::Rate(Rate::per_second(stage.to)),
                Arrival::Closed(_) => Level::Concurrent(stage.to.round() as u32),
            };
            Step { label: load.to_string(), load: Some(load), length: stage.length }
        };
        stages.iter().map(step).collect()
    }
    /// The settings in a few words: `50 concurrent, 60s`.
    fn phrase(&self) -> String;
    /// Writes the settings into the section that describes them.
    fn write_to(&self, config: &mut ScenarioConfig);
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it is called.
    pub label: String,
    /// Its load, where one number says it.
    pub load: Option<Level>,
    /// How long it lasts.
    pub length: Duration,
}

/// Settings that stand in `[scenario]`.
pub(super) trait Configured: Sized {
    /// Their keys.
    const KEYS: &'static [&'static str];
    /// Keys of all scenarios that this one has no use for.
    const UNUSED: &'static [&'static str] = &[];
    /// Whether its calls are made by one thread, however many are asked for.
    const ONE_THREAD: bool = false;
    /// Reads them; what is not set has its default.
    fn from_config(config: &ScenarioConfig, thresholds: &Thresholds) -> Result<Self, ConfigError>;
}

pub(super) const AT_LEAST_ONE: &str = "must be at least 1";
pub(super) const LONGER_THAN_NOTHING: &str = "must be longer than 0s";

/// An error about `[scenario] key`, if it is wrong.
pub(super) fn refuse(
    wrong: bool,
    key: &str,
    message: impl Into<String>,
) -> Result<(), ConfigError> {
    if wrong { Err(ConfigError::new(format!("scenario.{key}"), message)) } else { Ok(()) }
}
