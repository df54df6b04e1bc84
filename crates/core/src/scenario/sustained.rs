//! Settings of `sustained`: constant load for a fixed time, or load in stages.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
    stages::{MOST_IN_FLIGHT, StageSettings, arrival_of_stages, check_rate, check_stages, steps},
};
use crate::{
    config::{ConfigError, ScenarioConfig},
    pace::{Arrival, Level, Rate, ThinkTime},
    report::figures::counted,
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// Settings of `sustained`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sustained {
    /// How many calls are in flight at once, in the closed model.
    pub concurrent: u32,
    /// How long the load lasts.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// Calls start at this rate, whatever becomes of those before: the open model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Calls per second at most, in the closed model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<u32>,
    /// The pause between a reply and the next call, in the closed model.
    #[serde(default, skip_serializing_if = "ThinkTime::is_none")]
    pub think_time: ThinkTime,
    /// Calls in flight at most, in the open model; what is due beyond that is dropped.
    pub max_in_flight: u32,
    /// Stages that follow each other, instead of one level for the whole duration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageSettings>,
}

impl Default for Sustained {
    fn default() -> Self {
        Self {
            concurrent: 10,
            duration: Duration::from_secs(30),
            rate: None,
            rate_limit: None,
            think_time: ThinkTime::default(),
            max_in_flight: MOST_IN_FLIGHT,
            stages: Vec::new(),
        }
    }
}

impl Sustained {
    fn course(&self) -> Arrival {
        if !self.stages.is_empty() {
            return arrival_of_stages(&self.stages, self.max_in_flight);
        }
        let level = self.rate.map_or(Level::Concurrent(self.concurrent), Level::Rate);
        steps([(level, self.duration)], self.max_in_flight)
    }

    fn is_open(&self) -> bool {
        self.rate.is_some() || self.stages.first().is_some_and(|stage| stage.load.is_rate())
    }
}

impl Settings for Sustained {
    fn check(&self) -> Result<(), ConfigError> {
        refuse(self.concurrent == 0, "concurrent", AT_LEAST_ONE)?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        refuse(self.rate_limit == Some(0), "rate_limit", AT_LEAST_ONE)?;
        self.rate.map_or(Ok(()), |rate| check_rate(rate, "rate"))?;
        check_stages(&self.stages)?;
        let open = self.is_open();
        let pointless = "does nothing when calls start on a schedule";
        refuse(open && self.rate_limit.is_some(), "rate_limit", pointless)?;
        refuse(open && !self.think_time.is_none(), "think_time", pointless)
    }

    fn concurrent(&self) -> u32 {
        self.course().most_in_flight().max(1)
    }

    fn length(&self) -> Option<Duration> {
        Some(self.course().length())
    }

    fn arrival(&self) -> Option<Arrival> {
        Some(self.course())
    }

    fn phrase(&self) -> String {
        let length = format_span(self.course().length());
        if !self.stages.is_empty() {
            return format!("{}, {length}", counted(self.stages.len() as u64, "stage"));
        }
        let level = self.rate.map_or(Level::Concurrent(self.concurrent), Level::Rate);
        let limit = self.rate_limit.map(|rate| format!(", at most {rate}/s")).unwrap_or_default();
        let think = self.think_time;
        let think = if think.is_none() { String::new() } else { format!(", think {think}") };
        format!("{level}, {length}{limit}{think}")
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        let open = self.is_open();
        if self.stages.is_empty() {
            config.duration = Some(self.duration);
            config.concurrent = (!open).then_some(self.concurrent);
        }
        config.rate = self.rate;
        config.rate_limit = self.rate_limit;
        config.think_time = (!self.think_time.is_none()).then_some(self.think_time);
        config.max_in_flight = open.then_some(self.max_in_flight);
        config.stage.clone_from(&self.stages);
    }
}

impl Configured for Sustained {
    const KEYS: &'static [&'static str] = &[
        "duration",
        "concurrent",
        "sessions",
        "rate",
        "rate_limit",
        "think_time",
        "max_in_flight",
        "stage",
    ];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        if !config.stage.is_empty() {
            let twice = "is said by each `[[scenario.stage]]`";
            refuse(config.duration.is_some(), "duration", twice)?;
            refuse(config.concurrent.is_some(), "concurrent", twice)?;
            refuse(config.rate.is_some(), "rate", twice)?;
        }
        let settings = Self {
            concurrent: config.concurrent.unwrap_or(default.concurrent),
            duration: config.duration.unwrap_or(default.duration),
            rate: config.rate,
            rate_limit: config.rate_limit,
            think_time: config.think_time.unwrap_or_default(),
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
            stages: config.stage.clone(),
        };
        config.one_model(settings.is_open())?;
        Ok(settings)
    }
}

impl Scenario {
    /// Ten calls in flight for thirty seconds.
    ///
    /// ```
    /// # use mcp_loadtest_core::scenario::Scenario;
    /// # use std::time::Duration;
    /// let scenario: Scenario = Scenario::sustained()
    ///     .concurrent(20)
    ///     .duration(Duration::from_secs(30))
    ///     .tool("get_market_data")
    ///     .args(serde_json::json!({ "ticker": "AAPL" }))
    ///     .into();
    /// assert_eq!(scenario.tool_calls[0].args["ticker"], "AAPL");
    /// ```
    ///
    /// What another kind has does not compile:
    ///
    /// ```compile_fail
    /// # use mcp_loadtest_core::scenario::Scenario;
    /// let scenario = Scenario::sustained().iterations(5);
    /// ```
    pub fn sustained() -> ScenarioBuilder<Sustained> {
        ScenarioBuilder::new(Sustained::default())
    }
}

impl ScenarioBuilder<Sustained> {
    /// How many calls are in flight at once.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// How long the load lasts.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// Starts this many calls a second, whatever becomes of those before.
    pub fn rate(mut self, per_second: f64) -> Self {
        self.kind.rate = Some(Rate::per_second(per_second));
        self
    }

    /// Calls per second at most.
    pub fn rate_limit(mut self, per_second: u32) -> Self {
        self.kind.rate_limit = Some(per_second);
        self
    }

    /// The pause between a reply and the next call.
    pub fn think_time(mut self, think_time: ThinkTime) -> Self {
        self.kind.think_time = think_time;
        self
    }

    /// Calls in flight at most when they start at a rate.
    pub fn max_in_flight(mut self, limit: u32) -> Self {
        self.kind.max_in_flight = limit;
        self
    }

    /// Adds a stage; said again, it adds another one after it.
    pub fn stage(mut self, stage: StageSettings) -> Self {
        self.kind.stages.push(stage);
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
