//! `[scenario]`: what to do to the server.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, arguments::Arguments, error::ConfigError};
use crate::{
    scenario::{
        ColdStart, DeadlockProbe, Scenario, ScenarioKind, ScenarioName, Sustained, ToolCall,
    },
    seed::Seed,
    thresholds::Thresholds,
    units::as_text_option,
};

/// What to do to the server. Settings of another scenario are refused, not ignored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["type"]))]
pub struct ScenarioConfig {
    /// Which scenario to run.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub name: Option<ScenarioName>,
    /// `sustained`: how long the load lasts. Default: `30s`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub duration: Option<Duration>,
    /// `sustained`: how many calls are in flight at once. Default: 10. `deadlock_probe`: how many
    /// calls are released at the same instant. Default: 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub concurrent: Option<u32>,
    /// `sustained`, `deadlock_probe`: how many sessions share the calls. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub sessions: Option<u32>,
    /// `cold_start`: how many starts are made. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub iterations: Option<u32>,
    /// `cold_start`: whether the first start is thrown away. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<bool>,
    /// `deadlock_probe`: a call without an answer for this long hangs. Default: `hang_timeout` of
    /// `[thresholds]`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub hang_threshold: Option<Duration>,
    /// `deadlock_probe`: how much longer a hanging call may take before it counts as deadlocked.
    /// Default: `grace_period` of `[thresholds]`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub grace_period: Option<Duration>,
    /// `deadlock_probe`: whether the first deadlock ends the probe. When false, every call is
    /// classified. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bail_early: Option<bool>,
    /// `deadlock_probe`: how many calls follow one after another once the burst is over; they tell a
    /// slow first call from a slow tool. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_calls: Option<u32>,
    /// Our own deadline for each call, apart from the hang threshold. Default: none.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub timeout: Option<Duration>,
    /// The number that all random choices are made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// The one tool to call; short for a single `[[scenario.tool_call]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments of `tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
    /// The tools to call; of several, each call chooses one at random, by weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_call: Vec<ToolCallConfig>,
}

/// One tool call that the scenario may make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallConfig {
    /// The tool's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How often it is chosen, compared with the others. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: Option<f64>,
    /// Its arguments: a table, or the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
}

impl ScenarioConfig {
    /// The scenario. Times that the probe leaves open are those of the thresholds.
    pub fn to_scenario(&self, thresholds: &Thresholds) -> Result<Scenario, ConfigError> {
        let name = self.name.ok_or_else(|| {
            ConfigError::new("scenario.type", "no scenario to run").with_hint(format!(
                "set it to one of {}",
                ScenarioName::ALL.map(ScenarioName::as_str).join(", ")
            ))
        })?;
        self.refuse_foreign_keys(name)?;
        Ok(Scenario {
            kind: self.kind(name, thresholds),
            tool_calls: self.tool_calls()?,
            sessions: self.sessions,
            timeout: self.timeout,
            seed: self.seed.unwrap_or_default(),
        })
    }

    fn kind(&self, name: ScenarioName, thresholds: &Thresholds) -> ScenarioKind {
        match name {
            ScenarioName::ColdStart => {
                let ColdStart { iterations, warmup } = ColdStart::default();
                ScenarioKind::ColdStart {
                    iterations: self.iterations.unwrap_or(iterations),
                    warmup: self.warmup.unwrap_or(warmup),
                }
            }
            ScenarioName::Sustained => {
                let Sustained { concurrent, duration, rate_limit } = Sustained::default();
                ScenarioKind::Sustained {
                    concurrent: self.concurrent.unwrap_or(concurrent),
                    duration: self.duration.unwrap_or(duration),
                    rate_limit,
                }
            }
            ScenarioName::DeadlockProbe => self.probe(thresholds),
        }
    }

    fn probe(&self, thresholds: &Thresholds) -> ScenarioKind {
        let defaults = DeadlockProbe::default();
        ScenarioKind::DeadlockProbe {
            concurrent: self.concurrent.unwrap_or(defaults.concurrent),
            hang_threshold: self.hang_threshold.unwrap_or(thresholds.hang_timeout),
            grace_period: self.grace_period.unwrap_or(thresholds.grace_period),
            bail_early: self.bail_early.unwrap_or(defaults.bail_early),
            steady_calls: self.steady_calls.unwrap_or(defaults.steady_calls),
        }
    }

    fn tool_calls(&self) -> Result<Vec<ToolCall>, ConfigError> {
        let Some(tool) = &self.tool else {
            if self.args.is_some() {
                let error = ConfigError::new("scenario.args", "are for no tool");
                return Err(error.with_hint("name the tool with `tool`"));
            }
            return Ok(self.tool_call.iter().map(ToolCall::from).collect());
        };
        if !self.tool_call.is_empty() {
            let twice = "the calls are listed in `[[scenario.tool_call]]` already";
            return Err(ConfigError::new("scenario.tool", twice));
        }
        let only = ToolCallConfig { name: tool.clone(), weight: None, args: self.args.clone() };
        Ok(vec![ToolCall::from(&only)])
    }

    fn refuse_foreign_keys(&self, name: ScenarioName) -> Result<(), ConfigError> {
        use ScenarioName::{ColdStart, DeadlockProbe, Sustained};
        let settings: [(&str, bool, &[ScenarioName]); 9] = [
            ("duration", self.duration.is_some(), &[Sustained]),
            ("concurrent", self.concurrent.is_some(), &[Sustained, DeadlockProbe]),
            ("sessions", self.sessions.is_some(), &[Sustained, DeadlockProbe]),
            ("iterations", self.iterations.is_some(), &[ColdStart]),
            ("warmup", self.warmup.is_some(), &[ColdStart]),
            ("hang_threshold", self.hang_threshold.is_some(), &[DeadlockProbe]),
            ("grace_period", self.grace_period.is_some(), &[DeadlockProbe]),
            ("bail_early", self.bail_early.is_some(), &[DeadlockProbe]),
            ("steady_calls", self.steady_calls.is_some(), &[DeadlockProbe]),
        ];
        let foreign = settings.into_iter().find(|(_, set, owners)| *set && !owners.contains(&name));
        let Some((key, _, owners)) = foreign else { return Ok(()) };
        let owners: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
        let message = format!("belongs to scenario {}; this is `{name}`", owners.join(" and "));
        let error = ConfigError::new(format!("scenario.{key}"), message);
        Err(match key {
            "hang_threshold" => error.with_hint("set `hang_timeout` in `[thresholds]`"),
            "grace_period" => error.with_hint("set `grace_period` in `[thresholds]`"),
            _ => error,
        })
    }
}

impl From<&ToolCallConfig> for ToolCall {
    fn from(config: &ToolCallConfig) -> Self {
        let call = Self::new(&config.name);
        let call = match &config.args {
            Some(Arguments(args)) => call.args(args.clone()),
            None => call,
        };
        match config.weight {
            Some(weight) => call.weight(weight),
            None => call,
        }
    }
}

impl From<&ToolCall> for ToolCallConfig {
    fn from(call: &ToolCall) -> Self {
        let args = Some(Arguments(call.args.clone()));
        Self { name: call.name.clone(), weight: Some(call.weight), args }
    }
}

/// The section that describes the scenario again, so that a run made in code can be saved.
impl From<&Scenario> for ScenarioConfig {
    fn from(scenario: &Scenario) -> Self {
        let config = Self {
            name: Some(scenario.kind.name()),
            sessions: scenario.sessions,
            timeout: scenario.timeout,
            seed: Some(scenario.seed),
            tool_call: scenario.tool_calls.iter().map(ToolCallConfig::from).collect(),
            ..Self::default()
        };
        match scenario.kind {
            ScenarioKind::ColdStart { iterations, warmup } => {
                Self { iterations: Some(iterations), warmup: Some(warmup), ..config }
            }
            ScenarioKind::Sustained { concurrent, duration, rate_limit: _ } => {
                Self { concurrent: Some(concurrent), duration: Some(duration), ..config }
            }
            ScenarioKind::DeadlockProbe {
                concurrent,
                hang_threshold,
                grace_period,
                bail_early,
                steady_calls,
            } => Self {
                concurrent: Some(concurrent),
                hang_threshold: Some(hang_threshold),
                grace_period: Some(grace_period),
                bail_early: Some(bail_early),
                steady_calls: Some(steady_calls),
                ..config
            },
        }
    }
}
