//! Settings of `ramp`: more load step by step, until something gives.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
    stages::{MOST_IN_FLIGHT, check_level, steps},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::{Arrival, Level},
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `ramp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// The load of the first step.
    pub from: Level,
    /// The load of the last step.
    pub to: Level,
    /// How long all steps last together.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// How much each step adds; a tenth of the way when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_increment: Option<f64>,
    /// Calls in flight at most, in the open model.
    pub max_in_flight: u32,
}

/// Steps of a ramp, unless its increment is set.
const STEPS: f64 = 10.0;
/// Steps of a ramp at most.
const MOST_STEPS: usize = 200;

impl Default for Ramp {
    fn default() -> Self {
        Self {
            from: Level::Concurrent(1),
            to: Level::Concurrent(100),
            duration: Duration::from_secs(60),
            step_increment: None,
            max_in_flight: MOST_IN_FLIGHT,
        }
    }
}

impl Ramp {
    fn increment(&self) -> f64 {
        let usual = (self.to.get() - self.from.get()) / (STEPS - 1.0);
        let whole = if self.from.is_rate() { usual } else { usual.ceil() };
        self.step_increment.unwrap_or(whole)
    }

    /// The load of each step.
    pub fn levels(&self) -> Vec<Level> {
        let increment = self.increment();
        let mut levels: Vec<_> = (0..MOST_STEPS)
            .map(|step| self.from.get() + increment * step as f64)
            .take_while(|level| *level < self.to.get() && increment > 0.0)
            .map(|level| self.from.with(if self.from.is_rate() { neat(level) } else { level }))
            .collect();
        levels.push(self.to);
        levels.dedup();
        levels
    }

    fn course(&self) -> Arrival {
        let levels = self.levels();
        let each = self.duration / u32::try_from(levels.len()).unwrap_or(u32::MAX).max(1);
        steps(levels.into_iter().map(|level| (level, each)), self.max_in_flight)
    }
}

/// Four figures: nobody wants to read `188.88888888888889/s`.
fn neat(rate: f64) -> f64 {
    let digits = 3_i32.saturating_sub(rate.abs().log10().floor() as i32);
    // By whole powers alone: a tenth is no exact number, and would come back as `23.330000000000002`.
    let power = 10_f64.powi(digits.saturating_abs());
    let neat =
        if digits < 0 { (rate / power).round() * power } else { (rate * power).round() / power };
    if neat.is_finite() { neat } else { rate }
}

impl Settings for Ramp {
    fn check(&self) -> Result<(), ConfigError> {
        check_level(self.from, "ramp_from")?;
        check_level(self.to, "ramp_to")?;
        let mixed = self.from.is_rate() != self.to.is_rate();
        refuse(mixed, "ramp_to", "counts something else than `ramp_from`")?;
        refuse(self.from.get() <= 0.0, "ramp_from", "must be above 0")?;
        refuse(self.to.get() <= self.from.get(), "ramp_to", "must be above `ramp_from`")?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        let step = self.increment();
        refuse(!(step.is_finite() && step > 0.0), "ramp_step", "must be above 0")?;
        let many = (self.to.get() - self.from.get()) / step > MOST_STEPS as f64 - 1.0;
        refuse(many, "ramp_step", format!("makes more than {MOST_STEPS} steps"))
    }

    fn concurrent(&self) -> u32 {
        self.course().most_in_flight().max(1)
    }

    fn length(&self) -> Option<Duration> {
        Some(self.duration)
    }

    fn arrival(&self) -> Option<Arrival> {
        Some(self.course())
    }

    fn phrase(&self) -> String {
        format!(
            "{} to {} in {} steps, {}",
            self.from,
            self.to,
            self.levels().len(),
            format_span(self.duration)
        )
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.ramp_from = Some(self.from);
        config.ramp_to = Some(self.to);
        config.ramp_step = self.step_increment;
        config.duration = Some(self.duration);
        config.max_in_flight = self.from.is_rate().then_some(self.max_in_flight);
    }
}

impl Configured for Ramp {
    const KEYS: &'static [&'static str] =
        &["duration", "sessions", "max_in_flight", "ramp_from", "ramp_to", "ramp_step"];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        let from = config.ramp_from.unwrap_or_else(|| match config.ramp_to {
            Some(to @ Level::Rate(_)) => to.with(to.get() / STEPS),
            _ => default.from,
        });
        let settings = Self {
            from,
            to: config.ramp_to.unwrap_or_else(|| from.with(from.get() * 100.0)),
            duration: config.duration.unwrap_or(default.duration),
            step_increment: config.ramp_step,
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
        };
        config.one_model(settings.from.is_rate())?;
        Ok(settings)
    }
}

impl Scenario {
    /// One call in flight, then more, up to a hundred within a minute.
    pub fn ramp() -> ScenarioBuilder<Ramp> {
        ScenarioBuilder::new(Ramp::default())
    }
}

impl ScenarioBuilder<Ramp> {
    /// The load of the first and of the last step, in calls in flight.
    pub fn concurrent(self, from: u32, to: u32) -> Self {
        self.levels(Level::Concurrent(from), Level::Concurrent(to))
    }

    /// The load of the first and of the last step; both of the same kind.
    pub fn levels(mut self, from: Level, to: Level) -> Self {
        self.kind.from = from;
        self.kind.to = to;
        self
    }

    /// How much each step adds.
    pub fn step_increment(mut self, increment: f64) -> Self {
        self.kind.step_increment = Some(increment);
        self
    }

    /// How long all steps last together.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_from_the_first_level_to_the_last() {
        let ramp = Ramp { step_increment: Some(25.0), ..Ramp::default() };
        assert_eq!(ramp.levels(), [1, 26, 51, 76, 100].map(Level::Concurrent));
        let ramp = Ramp { to: Level::Concurrent(3), ..Ramp::default() };
        assert_eq!(ramp.levels(), [1, 2, 3].map(Level::Concurrent));
        assert_eq!(Ramp::default().levels().len(), 10);
        let rate = |rate: &str| Level::Rate(rate.parse().unwrap());
        let ramp = Ramp { from: rate("20/s"), to: rate("400/s"), ..Ramp::default() };
        assert_eq!(ramp.levels()[1].to_string(), "62.22/s");
        assert_eq!(ramp.levels()[4].to_string(), "188.9/s");
        assert_eq!(Ramp::default().arrival().unwrap().length(), Duration::from_secs(60));
    }

    #[test]
    fn a_level_that_is_the_last_one_is_no_step_of_its_own() {
        let rate = |per_second: f64| Level::Rate(crate::pace::Rate::per_second(per_second));
        let exact = Ramp {
            from: rate(1.0),
            to: rate(1.15625),
            step_increment: Some(0.15625),
            ..Ramp::default()
        };
        assert_eq!(exact.levels(), [rate(1.0), rate(1.15625)]);
        let flat = Ramp { step_increment: Some(0.0), ..Ramp::default() };
        assert_eq!(flat.levels(), [Level::Concurrent(100)]);
    }

    #[test]
    fn a_rate_has_four_figures() {
        for (rate, expected) in [
            (0.0, 0.0),
            (0.0123456, 0.01235),
            (1.23456, 1.235),
            (188.88888, 188.9),
            (2_345.6, 2_346.0),
            (12_345.6, 12_350.0),
            (123_456.0, 123_500.0),
            (9_876_543.0, 9_877_000.0),
        ] {
            assert_eq!(neat(rate), expected, "{rate}");
        }
    }

    #[test]
    fn two_hundred_steps_are_the_most() {
        let many = |to, step| Ramp {
            to: Level::Concurrent(to),
            step_increment: Some(step),
            ..Ramp::default()
        };
        for (to, step, message) in [
            (399, 2.0, None),
            (401, 2.0, Some("makes more than 200 steps")),
            (100, 0.5, None),
            (101, 0.5, Some("makes more than 200 steps")),
            (100, 0.0, Some("must be above 0")),
            (100, -1.0, Some("must be above 0")),
            (100, f64::INFINITY, Some("must be above 0")),
            (100, f64::NAN, Some("must be above 0")),
        ] {
            let told = many(to, step).check().err().map(|error| error.message);
            assert_eq!(told.as_deref(), message, "1 to {to} by {step}");
        }
    }

    #[test]
    fn one_end_of_a_ramp_tells_the_other() {
        let level = |text: &str| text.parse::<Level>().unwrap();
        for (from, to, expected) in [
            (None, None, ("1", "100")),
            (Some("3"), None, ("3", "300")),
            (Some("4/s"), None, ("4/s", "400/s")),
            (None, Some("50"), ("1", "50")),
            (None, Some("400/s"), ("40/s", "400/s")),
        ] {
            let config = ScenarioConfig {
                ramp_from: from.map(level),
                ramp_to: to.map(level),
                ..Default::default()
            };
            let ramp = Ramp::from_config(&config, &Thresholds::default()).unwrap();
            let (first, last) = expected;
            assert_eq!((ramp.from, ramp.to), (level(first), level(last)), "{from:?} to {to:?}");
        }
    }
}
