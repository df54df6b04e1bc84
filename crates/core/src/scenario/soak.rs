//! Settings of `soak`: steady load for long, while memory and latency are watched.

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
    stats::{envelope::default_warmup, leak::ENOUGH},
    thresholds::Thresholds,
    units::{as_text, format_duration, format_span},
};

/// Settings of `soak`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// The load: calls in flight, or calls a second.
    pub load: Level,
    /// How long it lasts.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// How often the server's processes are looked at.
    #[serde(with = "as_text")]
    pub sample_interval: Duration,
    /// The run fails when the mean latency grows by more than this.
    pub latency_drift_ms_per_sec: f64,
    /// Calls in flight at most, in the open model.
    pub max_in_flight: u32,
}

impl Default for Soak {
    fn default() -> Self {
        Self {
            load: Level::Concurrent(4),
            duration: Duration::from_secs(3600),
            sample_interval: Duration::from_secs(10),
            latency_drift_ms_per_sec: 0.1,
            max_in_flight: MOST_IN_FLIGHT,
        }
    }
}

impl Settings for Soak {
    fn check(&self) -> Result<(), ConfigError> {
        let key = if self.load.is_rate() { "rate" } else { "concurrent" };
        check_level(self.load, key)?;
        refuse(self.load.get() <= 0.0, key, "must be above 0")?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        refuse(self.sample_interval.is_zero(), "leak_check_interval", LONGER_THAN_NOTHING)?;
        let few = self.duration.as_secs_f64() / self.sample_interval.as_secs_f64() < FEWEST_SAMPLES;
        let message = format!("leaves fewer than {FEWEST_SAMPLES} samples to judge by");
        refuse(few, "leak_check_interval", message)?;
        let drift = self.latency_drift_ms_per_sec;
        refuse(drift.is_nan() || drift < 0.0, "latency_drift_ms_per_sec", "must be 0 or more")
    }

    fn concurrent(&self) -> u32 {
        steps([(self.load, self.duration)], self.max_in_flight).most_in_flight().max(1)
    }

    fn length(&self) -> Option<Duration> {
        Some(self.duration)
    }

    fn arrival(&self) -> Option<Arrival> {
        Some(steps([(self.load, self.duration)], self.max_in_flight))
    }

    fn phrase(&self) -> String {
        format!("{}, {}", self.load, format_span(self.duration))
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.write_level(self.load, self.max_in_flight);
        config.duration = Some(self.duration);
        config.leak_check_interval = Some(self.sample_interval);
        config.latency_drift_ms_per_sec = Some(self.latency_drift_ms_per_sec);
    }
}

/// A line through fewer points says nothing, whatever the line is for.
const FEWEST_SAMPLES: f64 = 3.0;
/// Samples that a short soak is given, unless its interval is set.
const SAMPLES: u32 = 40;

/// How often a soak of this length looks, unless it is told.
fn usual_interval(duration: Duration) -> Duration {
    Soak::default().sample_interval.min(duration / SAMPLES)
}

impl Soak {
    /// What is known before the run to stay open: whether memory leaks, where too few samples are taken.
    /// It is no error, because the latency of such a run can be judged.
    pub fn caution(&self) -> Option<String> {
        let judged = self.duration.saturating_sub(default_warmup(self.duration));
        let longest = judged / ENOUGH as u32;
        (self.sample_interval > longest).then(|| {
            let whole = Duration::from_secs(longest.as_secs());
            let longest = if whole.is_zero() { longest } else { whole };
            format!(
                "whether memory leaks will not be told: with `leak_check_interval` {} a soak of {} has \
                 fewer than {ENOUGH} samples after its warm-up; use {} or less",
                format_duration(self.sample_interval),
                format_duration(self.duration),
                format_duration(longest)
            )
        })
    }
}

impl Configured for Soak {
    const KEYS: &'static [&'static str] = &[
        "duration",
        "concurrent",
        "sessions",
        "rate",
        "max_in_flight",
        "leak_check_interval",
        "latency_drift_ms_per_sec",
    ];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        let duration = config.duration.unwrap_or(default.duration);
        let drift = config.latency_drift_ms_per_sec;
        Ok(Self {
            load: config.level(default.load)?,
            duration,
            sample_interval: config.leak_check_interval.unwrap_or(usual_interval(duration)),
            latency_drift_ms_per_sec: drift.unwrap_or(default.latency_drift_ms_per_sec),
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
        })
    }
}

impl Scenario {
    /// Four calls in flight for an hour.
    pub fn soak() -> ScenarioBuilder<Soak> {
        ScenarioBuilder::new(Soak::default())
    }
}

impl ScenarioBuilder<Soak> {
    /// How many calls are in flight at once.
    pub fn concurrent(self, concurrent: u32) -> Self {
        self.load(Level::Concurrent(concurrent))
    }

    /// The load: calls in flight, or calls a second.
    pub fn load(mut self, load: Level) -> Self {
        self.kind.load = load;
        self
    }

    /// How long it lasts. A short one looks more often than a long one, unless it is said how often.
    pub fn duration(mut self, duration: Duration) -> Self {
        if self.kind.sample_interval == usual_interval(self.kind.duration) {
            self.kind.sample_interval = usual_interval(duration);
        }
        self.kind.duration = duration;
        self
    }

    /// How often the server's processes are looked at.
    pub fn sample_interval(mut self, interval: Duration) -> Self {
        self.kind.sample_interval = interval;
        self
    }

    /// The run fails when the mean latency grows by more than this.
    pub fn latency_drift_ms_per_sec(mut self, drift: f64) -> Self {
        self.kind.latency_drift_ms_per_sec = drift;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
