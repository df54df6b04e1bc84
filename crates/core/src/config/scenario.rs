//! `[scenario]`: what to do to the server.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DurationText,
    arguments::Arguments,
    call_arguments::CallArguments,
    error::ConfigError,
    path::KeyPath,
    tool_call::{ToolCallConfig, call_arguments, with_recipe},
};
use crate::{
    arguments::Order,
    fuzz::Payload,
    pace::{Level, Rate, ThinkTime},
    scenario::{PatternName, Scenario, ScenarioName, Sequence, StageSettings, ToolCall},
    seed::Seed,
    thresholds::Thresholds,
    units::as_text_option,
};

/// What to do to the server. Settings of other scenarios may stand beside those of this one; a run
/// says which of them it does not use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["type"]))]
pub struct ScenarioConfig {
    /// Which scenario to run.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub name: Option<ScenarioName>,
    /// How long the load lasts; `slow_mix`: each of its two halves. Default: `30s`; `spike` and
    /// `ramp` `1m`, `soak` `1h`, `slow_mix` `10s`. `fuzzer`: after this long no further case is begun;
    /// default: `2m`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub duration: Option<Duration>,
    /// How many calls are in flight at once: the closed model, in which the next call starts when
    /// one ends. `deadlock_probe`, `race_check`: how many are released at the same instant.
    /// `reconnect`: how many are in flight when the session is cut. Default: 10; `deadlock_probe` and
    /// `race_check` 20, `spike`, `slow_mix` and `reconnect` 5, `soak` 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub concurrent: Option<u32>,
    /// Calls a second, such as `"500/s"`, instead of `concurrent`: the open model, in which calls
    /// start on a schedule whatever becomes of those before. `pattern`: sequences begun a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The most calls in flight in the open model; what is due beyond that is dropped and counted.
    /// Default: 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_in_flight: Option<u32>,
    /// `sustained` with `concurrent`: calls per second at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rate_limit: Option<u32>,
    /// `sustained` with `concurrent`: the pause between a reply and the next call, such as `200ms`
    /// or `100ms..500ms`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// How many sessions share the calls. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub sessions: Option<u32>,
    /// `ramp`: the load of the first step: calls in flight, or a rate such as `"100/s"`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_from: Option<Level>,
    /// `ramp`: the load of the last step. Default: 100 times the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_to: Option<Level>,
    /// `ramp`: how much each step adds. Default: a tenth of the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub ramp_step: Option<f64>,
    /// `spike`: when the burst begins. Default: after a third of the duration.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub spike_at: Option<Duration>,
    /// `spike`: how long the burst lasts. Default: a sixth of the duration.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub spike_duration: Option<Duration>,
    /// `spike`: how many times as high the load is in the burst. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub spike_multiplier: Option<f64>,
    /// `soak`: how often the server's processes are looked at. Default: `10s`, or a fortieth of a
    /// short duration.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub leak_check_interval: Option<Duration>,
    /// `soak`: the run fails when the mean latency grows by more than this. Default: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub latency_drift_ms_per_sec: Option<f64>,
    /// `pattern`: a sequence that comes with the tool. Default: `explore_then_act`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternName>,
    /// `race_check`: how often the identical calls are released. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rounds: Option<u32>,
    /// `slow_mix`: the slow tool. Default: the slower of two `[[scenario.tool_call]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_tool: Option<String>,
    /// `slow_mix`: the arguments of `slow_tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_args: Option<Arguments>,
    /// `slow_mix`: the share of the callers that make slow calls in the second half. Default: 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub slow_share: Option<f64>,
    /// `reconnect`: how often the session is cut. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub drops: Option<u32>,
    /// `capacity`: the rate of the first trial. Default: `10/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_from: Option<Rate>,
    /// `capacity`: the highest rate that is tried. Default: `100000/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_to: Option<Rate>,
    /// `capacity`: how long each trial lasts. Default: `5s`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub hold: Option<Duration>,
    /// `capacity`: how closely the answer is narrowed down. Default: 0.05, which is 5 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.005, max = 0.5))]
    pub precision: Option<f64>,
    /// `cold_start`: how many starts are made; default: 5. `fuzzer`: how many cases are sent;
    /// default: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub iterations: Option<u32>,
    /// `fuzzer`: which kinds of bad input. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub payloads: Option<Vec<Payload>>,
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
    /// Whether the run ends as soon as a threshold is violated for good. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abort_on_fail: Option<bool>,
    /// Whether arguments are held against each tool's input schema before they are sent, and results
    /// against its output schema; what does not match is a `ProtocolError` and fails the run. Default:
    /// false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// The number that all random choices are made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// The one tool to call; short for a single `[[scenario.tool_call]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments of `tool`: a table, or the text of a JSON object. Placeholders such as `{{iter}}`,
    /// `{{uuid}}`, `{{nonce}}`, `{{random.int 1 100}}` and `{{row.column}}` are filled in anew for
    /// every call, at any depth; a reply that does not give its `{{nonce}}` back has failed. For two
    /// plain braces write `{{{{`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
    /// Several arguments, of which each call takes one; placeholders work as in `args`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub args_list: Option<Vec<Arguments>>,
    /// A CSV file with a header, or a JSONL file, of which each call takes one row. With `args` its
    /// cells fill the placeholders `{{row.column}}`; without, the row is the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "queries.csv")]
    pub args_file: Option<PathBuf>,
    /// Which entry of `args_list` or row of `args_file` is next. Default: `sequential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_order: Option<Order>,
    /// Whether each call gets arguments of its own, made from the tool's input schema. Default:
    /// false; then they are made once, and only where they are needed and missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate: Option<bool>,
    /// `sustained`: stages that follow each other, instead of `duration` and `concurrent` or `rate`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stage: Vec<StageSettings>,
    /// The tools to call; of several, each call chooses one at random, by weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_call: Vec<ToolCallConfig>,
    /// `pattern`: sequences of calls; of several, each turn chooses one at random, by weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<Sequence>,
}

/// Keys that every scenario has.
const COMMON: &[&str] = &[
    "type",
    "timeout",
    "abort_on_fail",
    "strict",
    "seed",
    "tool",
    "args",
    "args_list",
    "args_file",
    "args_order",
    "generate",
    "tool_call",
];

impl ScenarioConfig {
    /// The scenario. Times that the probe leaves open are those of the thresholds.
    pub fn to_scenario(&self, thresholds: &Thresholds) -> Result<Scenario, ConfigError> {
        let name = self.name.ok_or_else(|| {
            ConfigError::new("scenario.type", "no scenario to run")
                .with_hint(format!("set it to one of {}", ScenarioName::list()))
        })?;
        Ok(Scenario {
            kind: name.kind(self, thresholds)?,
            tool_calls: self.tool_calls()?,
            sessions: self.sessions.filter(|_| name.has("sessions")),
            timeout: self.timeout,
            abort_on_fail: self.abort_on_fail.unwrap_or(false),
            strict: self.strict.unwrap_or(false),
            seed: self.seed.unwrap_or_default(),
        })
    }

    fn tool_calls(&self) -> Result<Vec<ToolCall>, ConfigError> {
        let arguments = call_arguments!(self);
        let Some(tool) = &self.tool else {
            if let Some(key) = arguments.first_key() {
                let error = ConfigError::new(format!("scenario.{key}"), "are for no tool");
                return Err(error.with_hint("name the tool with `tool`"));
            }
            let calls = self.tool_call.iter().enumerate();
            let at = |index| KeyPath::from("scenario.tool_call").index(index);
            return calls.map(|(index, call)| call.to_call(&at(index))).collect();
        };
        if !self.tool_call.is_empty() {
            let twice = "the calls are listed in `[[scenario.tool_call]]` already";
            return Err(ConfigError::new("scenario.tool", twice));
        }
        let recipe = arguments.recipe(&KeyPath::from("scenario"))?;
        Ok(vec![with_recipe(ToolCall::new(tool), recipe)])
    }

    /// The settings that belong to other scenarios. One file may serve several of them, chosen by a
    /// flag; so they are told and not refused.
    pub fn unused(&self) -> Vec<ConfigError> {
        let Some(name) = self.name else { return Vec::new() };
        // Whatever is set stands in the serialised section, so no list of settings can fall behind.
        let set = serde_json::to_value(self).unwrap_or_default();
        let set = set.as_object().into_iter().flat_map(serde_json::Map::keys);
        let foreign = set.filter(|key| !is_used(name, key)).map(|key| unused(key, name));
        let calls = self.tool_call.iter().enumerate();
        let of_calls = calls.flat_map(|(index, call)| unused_of_call(index, call, name));
        foreign.chain(of_calls).collect()
    }

    /// The level that `concurrent` or `rate` says.
    pub(crate) fn level(&self, default: Level) -> Result<Level, ConfigError> {
        let level = match (self.rate, self.concurrent) {
            (Some(rate), _) => Level::Rate(rate),
            (None, Some(concurrent)) => Level::Concurrent(concurrent),
            (None, None) => default,
        };
        self.one_model(level.is_rate())?;
        Ok(level)
    }

    /// Refuses the settings of the model that is not in use.
    pub(crate) fn one_model(&self, open: bool) -> Result<(), ConfigError> {
        if open && self.concurrent.is_some() {
            let message = "does nothing when calls start at a rate";
            let error = ConfigError::new("scenario.concurrent", message);
            return Err(error.with_hint("limit the calls in flight with `max_in_flight`"));
        }
        if !open && self.max_in_flight.is_some() {
            let message = "is for calls that start at a rate";
            let error = ConfigError::new("scenario.max_in_flight", message);
            return Err(error.with_hint("set `concurrent`, or a `rate`"));
        }
        Ok(())
    }

    /// Says a level with `concurrent` or `rate`.
    pub(crate) fn write_level(&mut self, level: Level, max_in_flight: u32) {
        match level {
            Level::Concurrent(concurrent) => self.concurrent = Some(concurrent),
            Level::Rate(rate) => {
                self.rate = Some(rate);
                self.max_in_flight = Some(max_in_flight);
            }
        }
    }
}

/// Whether a setting means anything to a scenario.
pub(super) fn is_used(name: ScenarioName, key: &str) -> bool {
    name.has(key) || (COMMON.contains(&key) && !name.is_deaf_to(key))
}

/// What a scenario makes for itself need not be said of its tools.
fn unused_of_call(index: usize, call: &ToolCallConfig, name: ScenarioName) -> Vec<ConfigError> {
    let at = KeyPath::from("scenario.tool_call").index(index);
    let set = serde_json::to_value(call).unwrap_or_default();
    let set = set.as_object().into_iter().flat_map(serde_json::Map::keys);
    let foreign = set.filter(|key| name.is_deaf_to(key));
    foreign.map(|key| ConfigError::new(at.key(key), no_use(name))).collect()
}

fn no_use(name: ScenarioName) -> String {
    format!("has no effect on scenario `{name}`")
}

fn unused(key: &str, name: ScenarioName) -> ConfigError {
    if name.is_deaf_to(key) {
        return ConfigError::new(format!("scenario.{key}"), no_use(name))
            .with_hint("leave it out, or choose another scenario");
    }
    let owners = ScenarioName::ALL.iter().filter(|name| name.has(key));
    let owners: Vec<String> = owners.map(|owner| format!("`{owner}`")).collect();
    let message = format!("belongs to scenario {}; `{name}` does not use it", owners.join(", "));
    let error = ConfigError::new(format!("scenario.{key}"), message);
    match key {
        "hang_threshold" => error.with_hint("set `hang_timeout` in `[thresholds]`"),
        "grace_period" => error.with_hint("set `grace_period` in `[thresholds]`"),
        _ => error,
    }
}

/// The section that describes the scenario again, so that a run made in code can be saved.
impl From<&Scenario> for ScenarioConfig {
    fn from(scenario: &Scenario) -> Self {
        let mut config = Self {
            name: Some(scenario.kind.name()),
            sessions: scenario.sessions,
            timeout: scenario.timeout,
            abort_on_fail: scenario.abort_on_fail.then_some(true),
            strict: scenario.strict.then_some(true),
            seed: Some(scenario.seed),
            tool_call: scenario.tool_calls.iter().map(ToolCallConfig::from).collect(),
            ..Self::default()
        };
        scenario.kind.settings().write_to(&mut config);
        config
    }
}
