//! Settings of `spike`: a steady load, a burst, and the steady load again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, Step, refuse},
    stages::{MOST_IN_FLIGHT, check_level, steps},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::{Arrival, Level},
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `spike`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spike {
    /// The steady load.
    pub baseline: Level,
    /// The load of the burst.
    pub spike: Level,
    /// How long all of it lasts.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// When the burst begins.
    #[serde(with = "as_text")]
    pub spike_at: Duration,
    /// How long the burst lasts.
    #[serde(with = "as_text")]
    pub spike_duration: Duration,
    /// Calls in flight at most, in the open model.
    pub max_in_flight: u32,
}

/// How much higher the burst is, unless set.
const MULTIPLIER: f64 = 10.0;

impl Default for Spike {
    fn default() -> Self {
        Self {
            baseline: Level::Concurrent(5),
            spike: Level::Concurrent(50),
            duration: Duration::from_secs(60),
            spike_at: Duration::from_secs(20),
            spike_duration: Duration::from_secs(10),
            max_in_flight: MOST_IN_FLIGHT,
        }
    }
}

impl Settings for Spike {
    fn check(&self) -> Result<(), ConfigError> {
        let (base, burst) = if self.baseline.is_rate() {
            ("rate", "spike_multiplier")
        } else {
            ("concurrent", "spike_multiplier")
        };
        check_level(self.baseline, base)?;
        check_level(self.spike, burst)?;
        refuse(self.baseline.get() <= 0.0, base, "must be above 0")?;
        refuse(
            self.spike.get() <= self.baseline.get(),
            burst,
            "makes the burst no higher than the rest",
        )?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        refuse(self.spike_at.is_zero(), "spike_at", "leaves no steady load to compare with")?;
        refuse(self.spike_duration.is_zero(), "spike_duration", LONGER_THAN_NOTHING)?;
        let end = self.spike_at.saturating_add(self.spike_duration);
        let message = format!(
            "is over before the burst has ended at {}, so recovery could not be seen",
            format_span(end)
        );
        refuse(end >= self.duration, "duration", message)
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

    fn steps(&self) -> Vec<Step> {
        let stages = self.course().course().stages().to_vec();
        let labels = [("before", self.baseline), ("burst", self.spike), ("after", self.baseline)];
        let steps = labels.into_iter().zip(stages).map(|((label, load), stage)| Step {
            label: format!("{label} ({load})"),
            load: Some(load),
            length: stage.length,
        });
        steps.collect()
    }

    fn phrase(&self) -> String {
        format!(
            "{}, {} from {} for {}, {}",
            self.baseline,
            self.spike,
            format_span(self.spike_at),
            format_span(self.spike_duration),
            format_span(self.duration)
        )
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.write_level(self.baseline, self.max_in_flight);
        config.duration = Some(self.duration);
        config.spike_at = Some(self.spike_at);
        config.spike_duration = Some(self.spike_duration);
        config.spike_multiplier = Some(self.spike.get() / self.baseline.get());
    }
}

impl Spike {
    fn course(&self) -> Arrival {
        let after = self.duration.saturating_sub(self.spike_at.saturating_add(self.spike_duration));
        let stages = [
            (self.baseline, self.spike_at),
            (self.spike, self.spike_duration),
            (self.baseline, after),
        ];
        steps(stages, self.max_in_flight)
    }
}

impl Configured for Spike {
    const KEYS: &'static [&'static str] = &[
        "duration",
        "concurrent",
        "sessions",
        "rate",
        "max_in_flight",
        "spike_at",
        "spike_duration",
        "spike_multiplier",
    ];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        let baseline = config.level(default.baseline)?;
        let multiplier = config.spike_multiplier.unwrap_or(MULTIPLIER);
        let usable = multiplier.is_finite() && multiplier > 0.0;
        refuse(!usable, "spike_multiplier", "must be a number above 1")?;
        let duration = config.duration.unwrap_or(default.duration);
        Ok(Self {
            baseline,
            spike: baseline.with(baseline.get() * multiplier),
            duration,
            spike_at: config.spike_at.unwrap_or(duration / 3),
            spike_duration: config.spike_duration.unwrap_or(duration / 6),
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
        })
    }
}

impl Scenario {
    /// Five calls in flight for a minute, and fifty for ten seconds of it.
    pub fn spike() -> ScenarioBuilder<Spike> {
        ScenarioBuilder::new(Spike::default())
    }
}

impl ScenarioBuilder<Spike> {
    /// The steady load and the load of the burst, in calls in flight.
    pub fn concurrent(mut self, baseline: u32, spike: u32) -> Self {
        self.kind.baseline = Level::Concurrent(baseline);
        self.kind.spike = Level::Concurrent(spike);
        self
    }

    /// The steady load and the load of the burst; both of the same kind.
    pub fn levels(mut self, baseline: Level, spike: Level) -> Self {
        self.kind.baseline = baseline;
        self.kind.spike = spike;
        self
    }

    /// How long all of it lasts.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// When the burst begins, and how long it lasts.
    pub fn burst(mut self, at: Duration, duration: Duration) -> Self {
        self.kind.spike_at = at;
        self.kind.spike_duration = duration;
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
    fn a_burst_is_a_multiple_of_the_steady_load() {
        let spike = |multiplier| {
            let config = ScenarioConfig { spike_multiplier: multiplier, ..Default::default() };
            Spike::from_config(&config, &Thresholds::default()).map(|settings| settings.spike)
        };
        assert_eq!(spike(None), Ok(Level::Concurrent(50)));
        assert_eq!(spike(Some(3.0)), Ok(Level::Concurrent(15)));
        for multiplier in [0.0, -2.0, f64::INFINITY, f64::NAN] {
            let told = spike(Some(multiplier)).map_err(|error| error.message);
            assert_eq!(told, Err("must be a number above 1".to_owned()), "{multiplier}");
        }
    }

    #[test]
    fn a_burst_begins_after_a_third_and_lasts_a_sixth() {
        let config =
            ScenarioConfig { duration: Some(Duration::from_secs(12)), ..Default::default() };
        let spike = Spike::from_config(&config, &Thresholds::default()).unwrap();
        assert_eq!(spike.spike_at, Duration::from_secs(4));
        assert_eq!(spike.spike_duration, Duration::from_secs(2));
    }

    #[test]
    fn a_burst_without_end_leaves_nothing_after_it() {
        let spike = Spike { spike_duration: Duration::MAX, ..Spike::default() };
        assert!(spike.check().is_err());
        let Arrival::Closed(course) = spike.course() else { panic!("callers are counted") };
        assert_eq!(course.stages()[2].length, Duration::ZERO, "{course:?}");
    }
}
