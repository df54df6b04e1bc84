//! What to do to a server: the kind of load, the calls it is made of, and where chance comes from.
//!
//! To add a kind: one file here with its settings (their defaults, their keys in `[scenario]`, their
//! rules, and their builder), its `mod` and `pub use`, and one line in `scenarios!` below; then its file
//! in engine. It then appears in configurations, `--scenario`, listings and schemas.
//!
//! A key that no kind has yet is a field of `ScenarioConfig` (config/scenario.rs) with a line in
//! config/example.toml, and a flag of `ScenarioArgs` (cli/src/scenario_args.rs) with a line in its
//! `lay_over`; of a key that is there already, the text tells the default of each kind. Tests then ask for
//! a proof of each flag and key, for a short run and for one that is interrupted, and say where.

mod builder;
mod calls;
mod capacity;
mod cold_start;
mod deadlock_probe;
mod fuzzer;
mod pattern;
mod race_check;
mod ramp;
mod reconnect;
mod settings;
mod slow_mix;
mod soak;
mod spike;
mod stages;
mod sustained;
mod tool_call;

use std::{fmt, str::FromStr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    config::{ConfigError, ScenarioConfig},
    hint::{Hint, nearest},
    seed::Seed,
    thresholds::Thresholds,
    units::as_text_option,
};

pub use builder::ScenarioBuilder;
pub use capacity::Capacity;
pub use cold_start::ColdStart;
pub use deadlock_probe::DeadlockProbe;
pub use fuzzer::Fuzzer;
pub use pattern::{ErrorBehavior, Pattern, PatternName, Sequence, SequenceStep};
pub use race_check::RaceCheck;
pub use ramp::Ramp;
pub use reconnect::Reconnect;
pub use settings::{Settings, Step};
pub use slow_mix::SlowMix;
pub use soak::Soak;
pub use spike::Spike;
pub use stages::{MOST_IN_FLIGHT, StageSettings};
pub use sustained::Sustained;
pub use tool_call::ToolCall;

use settings::Configured;

/// Makes the names, the enum of settings and the ways between them from one table.
macro_rules! scenarios {
    ($($(#[$doc:meta])+ $kind:ident = $word:literal,)+) => {
        /// The name of a scenario that this version can run.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum ScenarioName {
            $($(#[$doc])+ $kind,)+
        }

        impl ScenarioName {
            /// All of them, in the order in which they are listed.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The word used in configurations, flags and listings.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $word,)+ }
            }

            /// The word used in `metrics.json`.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$kind => stringify!($kind),)+ }
            }

            /// The keys of `[scenario]` that belong to it, besides those of all scenarios.
            pub const fn keys(self) -> &'static [&'static str] {
                match self { $(Self::$kind => $kind::KEYS,)+ }
            }

            /// The keys of all scenarios that it has no use for.
            const fn unused(self) -> &'static [&'static str] {
                match self { $(Self::$kind => $kind::UNUSED,)+ }
            }

            /// Whether its calls are made by one thread, however many are asked for.
            pub const fn is_of_one_thread(self) -> bool {
                match self { $(Self::$kind => $kind::ONE_THREAD,)+ }
            }

            /// The settings that a configuration describes.
            pub(crate) fn kind(
                self,
                config: &ScenarioConfig,
                thresholds: &Thresholds,
            ) -> Result<ScenarioKind, ConfigError> {
                Ok(match self {
                    $(Self::$kind => ScenarioKind::$kind($kind::from_config(config, thresholds)?),)+
                })
            }
        }

        /// The kind of load, with its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum ScenarioKind {
            $($(#[$doc])+ $kind($kind),)+
        }

        impl ScenarioKind {
            /// Which scenario this is.
            pub const fn name(&self) -> ScenarioName {
                match self { $(Self::$kind(_) => ScenarioName::$kind,)+ }
            }

            /// What all settings have in common.
            pub fn settings(&self) -> &dyn Settings {
                match self { $(Self::$kind(settings) => settings,)+ }
            }
        }

        /// The settings of every kind.
        pub mod kinds {
            pub use super::{$($kind,)+};
        }

        $(impl From<$kind> for ScenarioKind {
            fn from(settings: $kind) -> Self {
                Self::$kind(settings)
            }
        })+
    };
}

scenarios! {
    /// Start, handshake, first call; again and again. Finds slow starts and init-time deadlocks.
    ColdStart = "cold_start",
    /// Constant load for a fixed time. Finds the latency, throughput and error rate to expect.
    Sustained = "sustained",
    /// Steady load with a burst in the middle. Finds overflow, unfairness and slow recovery.
    Spike = "spike",
    /// More load step by step. Finds the load at which latency explodes.
    Ramp = "ramp",
    /// Steady load for long. Finds leaks and latency that drifts.
    Soak = "soak",
    /// Sequences of calls with pauses, as clients make them. Finds what single calls do not.
    Pattern = "pattern",
    /// Many calls released at the same instant. Finds lazy-init deadlocks.
    DeadlockProbe = "deadlock_probe",
    /// Identical calls at the same instant, their replies compared. Finds races.
    RaceCheck = "race_check",
    /// Fast calls with and without slow ones beside them. Finds head-of-line blocking.
    SlowMix = "slow_mix",
    /// Sessions cut in the middle of a call, opened again. Finds leftovers and zombies.
    Reconnect = "reconnect",
    /// Ever better guesses at the highest rate that still keeps the thresholds.
    Capacity = "capacity",
    /// Malformed and hostile input of every kind. Finds crashes, hangs and what is taken as good.
    Fuzzer = "fuzzer",
}

impl ScenarioName {
    /// Whether a key of `[scenario]` belongs to it.
    pub(crate) fn has(self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// Whether a key that scenarios have in common means nothing to it.
    pub(crate) fn is_deaf_to(self, key: &str) -> bool {
        self.unused().contains(&key)
    }

    /// All names, separated by commas.
    pub fn list() -> String {
        Self::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl ScenarioKind {
    /// How many calls may be in flight at once.
    pub fn concurrent(&self) -> u32 {
        self.settings().concurrent()
    }
}

impl fmt::Display for ScenarioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no scenario of this version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no scenario `{}`; this version runs {}", self.0, ScenarioName::list())]
pub struct UnknownScenario(pub String);

impl Hint for UnknownScenario {
    fn hint(&self) -> Option<String> {
        let known = ScenarioName::ALL.iter().map(|name| name.as_str());
        nearest(&self.0, known).map(|name| format!("did you mean `{name}`?"))
    }
}

impl FromStr for ScenarioName {
    type Err = UnknownScenario;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `deadlock-probe` is what the command is called.
        let word = text.replace('-', "_");
        let found = Self::ALL.iter().find(|name| name.as_str() == word);
        found.copied().ok_or(UnknownScenario(word))
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
    /// Whether the run ends as soon as a threshold is sure to be violated.
    #[serde(default)]
    pub abort_on_fail: bool,
    /// Whether arguments and results are held against the schemas that the server lists.
    #[serde(default)]
    pub strict: bool,
    /// Where the random choices come from.
    #[serde(default)]
    pub seed: Seed,
}

#[cfg(test)]
mod tests;
