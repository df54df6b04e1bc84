//! Settings of `pattern`: sequences of calls with pauses between them, as clients make them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Scenario, ScenarioBuilder,
    settings::{AT_LEAST_ONE, Configured, LONGER_THAN_NOTHING, Settings, refuse},
    stages::{MOST_IN_FLIGHT, check_level, steps},
};
use crate::{
    config::{Arguments, ConfigError, ScenarioConfig},
    mcp::method,
    pace::{Arrival, Level, ThinkTime},
    thresholds::Thresholds,
    units::{as_text, format_span},
};

/// A sequence that comes with the tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternName {
    /// List the tools, call one that only reads, then another one.
    #[default]
    ExploreThenAct,
    /// Call a tool that only reads, then one that changes something.
    ReadThenWrite,
}

impl PatternName {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ExploreThenAct, Self::ReadThenWrite];

    /// The word used in configurations and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExploreThenAct => "explore_then_act",
            Self::ReadThenWrite => "read_then_write",
        }
    }
}

/// What a caller does when a step of its sequence fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorBehavior {
    /// Goes on with the next step.
    #[default]
    Continue,
    /// Leaves the rest of this sequence out.
    Abort,
    /// Makes the same call once more, then goes on.
    Retry,
    /// Ends the run.
    Stop,
}

/// One step of a sequence: a tool call, or a request without parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequenceStep {
    /// The tool to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Instead of a tool: `tools/list`, `resources/list`, `prompts/list` or `ping`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The arguments of the tool: a table, or the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
}

/// Calls that follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// What it is called in the report.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How often it is chosen, compared with the others. Default: 1.
    #[serde(default = "even")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// The pause between a reply and the next step: `200ms`, or `100ms..500ms`. Default: none.
    #[serde(default, skip_serializing_if = "ThinkTime::is_none")]
    pub think_time: ThinkTime,
    /// What happens when a step fails: `continue`, `abort`, `retry` or `stop`. Default: `continue`.
    #[serde(default)]
    pub error_behavior: ErrorBehavior,
    /// The calls, in their order.
    #[schemars(length(min = 1))]
    pub steps: Vec<SequenceStep>,
}

fn even() -> f64 {
    1.0
}

/// Requests that a step may make besides tool calls.
const METHODS: &[&str] = &[method::TOOLS_LIST, "resources/list", "prompts/list", method::PING];

/// Settings of `pattern`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The load: callers at once, or sequences begun a second.
    pub load: Level,
    /// How long it lasts.
    #[serde(with = "as_text")]
    pub duration: Duration,
    /// Sequences in flight at most, in the open model.
    pub max_in_flight: u32,
    /// The sequence that comes with the tool; used when there are none of one's own.
    pub pattern: PatternName,
    /// One's own sequences; each turn chooses one at random, by weight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<Sequence>,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            load: Level::Concurrent(10),
            duration: Duration::from_secs(30),
            max_in_flight: MOST_IN_FLIGHT,
            pattern: PatternName::default(),
            sequences: Vec::new(),
        }
    }
}

impl Settings for Pattern {
    fn check(&self) -> Result<(), ConfigError> {
        let key = if self.load.is_rate() { "rate" } else { "concurrent" };
        check_level(self.load, key)?;
        refuse(self.load.get() <= 0.0, key, "must be above 0")?;
        refuse(self.duration.is_zero(), "duration", LONGER_THAN_NOTHING)?;
        refuse(self.max_in_flight == 0, "max_in_flight", AT_LEAST_ONE)?;
        self.sequences.iter().enumerate().try_for_each(|(index, sequence)| sequence.check(index))
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
        let what = match self.sequences.len() {
            0 => self.pattern.as_str().to_owned(),
            1 => self.sequences[0].name.clone(),
            many => format!("{many} sequences"),
        };
        format!("{what}, {}, {}", self.load, format_span(self.duration))
    }

    fn write_to(&self, config: &mut ScenarioConfig) {
        config.write_level(self.load, self.max_in_flight);
        config.duration = Some(self.duration);
        config.pattern = self.sequences.is_empty().then_some(self.pattern);
        config.sequence.clone_from(&self.sequences);
    }
}

impl Sequence {
    fn check(&self, index: usize) -> Result<(), ConfigError> {
        let key = |name: &str| format!("sequence[{index}].{name}");
        let usable = self.weight.is_finite() && self.weight > 0.0;
        refuse(!usable, &key("weight"), format!("must be a number above 0, not {}", self.weight))?;
        refuse(self.steps.is_empty(), &key("steps"), "there is nothing to do")?;
        for (place, step) in self.steps.iter().enumerate() {
            let key = |name: &str| format!("sequence[{index}].steps[{place}].{name}");
            match (&step.tool, &step.method) {
                (Some(tool), None) => refuse(tool.trim().is_empty(), &key("tool"), "is empty")?,
                (None, Some(method)) => {
                    let message = format!("must be one of {}", METHODS.join(", "));
                    refuse(!METHODS.contains(&method.as_str()), &key("method"), message)?;
                    refuse(step.args.is_some(), &key("args"), "are for tools only")?;
                }
                (None, None) => refuse(true, &key("tool"), "a step needs a `tool` or a `method`")?,
                (Some(_), Some(_)) => {
                    refuse(true, &key("method"), "a step has a `tool` or a `method`, not both")?;
                }
            }
        }
        Ok(())
    }
}

impl Configured for Pattern {
    const KEYS: &'static [&'static str] =
        &["duration", "concurrent", "sessions", "rate", "max_in_flight", "pattern", "sequence"];

    fn from_config(config: &ScenarioConfig, _: &Thresholds) -> Result<Self, ConfigError> {
        let default = Self::default();
        let both = config.pattern.is_some() && !config.sequence.is_empty();
        refuse(both, "pattern", "there are sequences of your own already")?;
        let tools = config.tool.is_some() || !config.tool_call.is_empty();
        let message = "the tools stand in the steps of each `[[scenario.sequence]]`";
        let key = if config.tool.is_some() { "tool" } else { "tool_call" };
        refuse(tools && !config.sequence.is_empty(), key, message)?;
        Ok(Self {
            load: config.level(default.load)?,
            duration: config.duration.unwrap_or(default.duration),
            max_in_flight: config.max_in_flight.unwrap_or(default.max_in_flight),
            pattern: config.pattern.unwrap_or_default(),
            sequences: config.sequence.clone(),
        })
    }
}

impl Scenario {
    /// Ten callers that explore, then act, for thirty seconds.
    pub fn pattern() -> ScenarioBuilder<Pattern> {
        ScenarioBuilder::new(Pattern::default())
    }
}

impl ScenarioBuilder<Pattern> {
    /// How many callers there are.
    pub fn concurrent(self, concurrent: u32) -> Self {
        self.load(Level::Concurrent(concurrent))
    }

    /// The load: callers at once, or sequences begun a second.
    pub fn load(mut self, load: Level) -> Self {
        self.kind.load = load;
        self
    }

    /// How long it lasts.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// The sequence that comes with the tool.
    pub fn pattern(mut self, pattern: PatternName) -> Self {
        self.kind.pattern = pattern;
        self
    }

    /// Adds a sequence of one's own.
    pub fn sequence(mut self, sequence: Sequence) -> Self {
        self.kind.sequences.push(sequence);
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}
