//! What all kinds of load have in common.

use std::time::Duration;

use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::Arrival,
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
    /// The settings in a few words: `50 concurrent, 60s`.
    fn phrase(&self) -> String;
    /// Writes the settings into the section that describes them.
    fn write_to(&self, config: &mut ScenarioConfig);
}

/// Settings that stand in `[scenario]`.
pub(super) trait Configured: Sized {
    /// Their keys.
    const KEYS: &'static [&'static str];
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
