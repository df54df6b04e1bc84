//! What to do to a server: the kind of load, the calls it is made of, and where chance comes from.
//!
//! To add a kind: a variant with its settings and defaults here, its builder in `builder.rs`, its
//! keys in `config/scenario.rs`, and strike its name from [`PLANNED`].

mod builder;
mod calls;

use std::{fmt, str::FromStr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{
    hint::{Hint, nearest},
    seed::Seed,
    units::{as_text, as_text_option},
};

pub use builder::{
    ColdStart, ColdStartBuilder, DeadlockProbe, DeadlockProbeBuilder, ScenarioBuilder, Sustained,
    SustainedBuilder,
};

/// Scenarios that are designed but that this version cannot run.
pub const PLANNED: &[&str] = &[
    "spike",
    "ramp",
    "soak",
    "pattern",
    "race_check",
    "fuzzer",
    "slow_mix",
    "reconnect",
    "capacity",
];

/// The name of a scenario that this version can run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioName {
    /// Start, handshake, first call; again and again. Finds slow starts and init-time deadlocks.
    ColdStart,
    /// Constant load for a fixed time. Finds the latency, throughput and error rate to expect.
    Sustained,
    /// Many calls released at the same instant. Finds lazy-init deadlocks.
    DeadlockProbe,
}

impl ScenarioName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::ColdStart, Self::Sustained, Self::DeadlockProbe];

    /// The word used in configurations, flags and listings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ColdStart => "cold_start",
            Self::Sustained => "sustained",
            Self::DeadlockProbe => "deadlock_probe",
        }
    }

    /// The word used in `metrics.json`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ColdStart => "ColdStart",
            Self::Sustained => "Sustained",
            Self::DeadlockProbe => "DeadlockProbe",
        }
    }
}

impl fmt::Display for ScenarioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no scenario of this version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}; this version runs {}", self.problem(), ScenarioName::ALL.map(ScenarioName::as_str).join(", "))]
pub struct UnknownScenario(pub String);

impl UnknownScenario {
    fn problem(&self) -> String {
        if PLANNED.contains(&self.0.as_str()) {
            format!("scenario `{}` is not built yet", self.0)
        } else {
            format!("there is no scenario `{}`", self.0)
        }
    }
}

impl Hint for UnknownScenario {
    fn hint(&self) -> Option<String> {
        let known = ScenarioName::ALL.map(ScenarioName::as_str);
        nearest(&self.0, known).map(|name| format!("did you mean `{name}`?"))
    }
}

impl FromStr for ScenarioName {
    type Err = UnknownScenario;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `deadlock-probe` is what the command is called.
        let word = text.replace('-', "_");
        let found = Self::ALL.into_iter().find(|name| name.as_str() == word);
        found.ok_or(UnknownScenario(word))
    }
}

/// The kind of load, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScenarioKind {
    /// Start → handshake → first call, repeated.
    ColdStart {
        /// How many starts are made.
        iterations: u32,
        /// Whether the first start is thrown away: it fills caches that later starts find full.
        warmup: bool,
    },
    /// Constant load for a fixed time.
    Sustained {
        /// How many calls are in flight at once.
        concurrent: u32,
        /// How long the load lasts.
        #[serde(with = "as_text")]
        duration: Duration,
        /// Calls per second at most. Not built yet: must be absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_limit: Option<u32>,
    },
    /// Calls released at the same instant, each under a watchdog.
    DeadlockProbe {
        /// How many calls are released at once.
        concurrent: u32,
        /// A call without an answer for this long hangs.
        #[serde(with = "as_text")]
        hang_threshold: Duration,
        /// How much longer a hanging call may take before it counts as deadlocked.
        #[serde(with = "as_text")]
        grace_period: Duration,
        /// Whether the first deadlock ends the probe. When false, every call is classified.
        bail_early: bool,
        /// How many calls follow one after another once the burst is over. They tell a slow first
        /// call (lazy initialisation) from a slow tool.
        steady_calls: u32,
    },
}

impl ScenarioKind {
    /// Which scenario this is.
    pub const fn name(&self) -> ScenarioName {
        match self {
            Self::ColdStart { .. } => ScenarioName::ColdStart,
            Self::Sustained { .. } => ScenarioName::Sustained,
            Self::DeadlockProbe { .. } => ScenarioName::DeadlockProbe,
        }
    }

    /// How many calls may be in flight at once.
    pub const fn concurrent(&self) -> u32 {
        match self {
            Self::ColdStart { .. } => 1,
            Self::Sustained { concurrent, .. } | Self::DeadlockProbe { concurrent, .. } => {
                *concurrent
            }
        }
    }
}

/// A kind of load and the calls it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The kind of load, with its settings.
    pub kind: ScenarioKind,
    /// What to call; several entries are chosen from at random, by weight. Empty leaves the choice
    /// to whoever runs the scenario, who alone knows which tools the server has.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// How many sessions share the calls; one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// The caller's own deadline for each call. It is apart from the hang threshold, which only
    /// classifies; none when absent.
    #[serde(default, with = "as_text_option", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Where the random choices come from.
    #[serde(default)]
    pub seed: Seed,
}

/// One tool call that a scenario may make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments, a JSON object.
    #[serde(default = "no_arguments")]
    pub args: Value,
    /// How often it is chosen, compared with the other calls.
    #[serde(default = "even_weight")]
    pub weight: f64,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn even_weight() -> f64 {
    1.0
}

impl ToolCall {
    /// A call without arguments and of weight 1.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), args: no_arguments(), weight: even_weight() }
    }

    /// Sets the arguments, a JSON object.
    #[must_use]
    pub fn args(mut self, args: Value) -> Self {
        self.args = args;
        self
    }

    /// Sets how often the call is chosen, compared with the others.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_the_serialized_words_and_none_of_them_is_planned() {
        for name in ScenarioName::ALL {
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
            assert!(!PLANNED.contains(&name.as_str()));
        }
    }

    #[test]
    fn an_unknown_scenario_says_what_there_is() {
        assert_eq!("deadlock-probe".parse(), Ok(ScenarioName::DeadlockProbe));
        let planned = "spike".parse::<ScenarioName>().unwrap_err();
        assert_eq!(
            planned.to_string(),
            "scenario `spike` is not built yet; this version runs cold_start, sustained, deadlock_probe"
        );
        let unknown = "sustaind".parse::<ScenarioName>().unwrap_err();
        assert_eq!(unknown.hint().unwrap(), "did you mean `sustained`?");
    }

    #[test]
    fn a_scenario_reads_back_from_json() {
        let scenario: Scenario = Scenario::sustained()
            .concurrent(50)
            .duration(Duration::from_secs(60))
            .tool_call(ToolCall::new("a").args(json!({"x": null})).weight(0.3))
            .timeout(Duration::from_millis(1500))
            .into();
        let json = serde_json::to_value(&scenario).unwrap();
        assert_eq!(json["kind"], json!({"type": "sustained", "concurrent": 50, "duration": "1m"}));
        assert_eq!(serde_json::from_value::<Scenario>(json).unwrap(), scenario);
    }
}
