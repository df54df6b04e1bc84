//! The types of a comparison. Serialized they are `comparison.json`, version 1: members may be
//! added, but none may be renamed, removed or given another meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Policy, json::SCHEMA};
use crate::{
    exit::Exit,
    report::Verdict,
    stats::{
        bootstrap::{DifferenceVerdict, Figure},
        interval::Interval,
    },
};

/// How one or several runs compare with a base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest comparison, version 1")]
pub struct Comparison {
    /// Names this format and its version.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The word above everything else: the worst of the candidates.
    pub verdict: ComparisonVerdict,
    /// What the intervals rest on.
    pub method: Method,
    /// How much worse is a regression.
    pub policy: Policy,
    /// What is compared with.
    pub base: Target,
    /// What is compared: one run, several of them, or servers that were tested in turns.
    pub candidates: Vec<Candidate>,
}

/// The word above everything else.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum ComparisonVerdict {
    /// Nothing that is judged got worse by more than is allowed, for sure.
    Pass,
    /// Nothing is worse for sure, but the data do not show that all is within what is allowed.
    Undecided,
    /// The runs cannot be compared.
    Invalid,
    /// Something is worse for sure, and by more than is allowed.
    Regression,
}

impl ComparisonVerdict {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Undecided => "UNDECIDED",
            Self::Invalid => "INVALID",
            Self::Regression => "REGRESSION",
        }
    }
}

/// What the intervals rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One run each; their seconds were drawn again and again.
    Seconds,
    /// Several rounds, in turns; each round is a pair.
    Rounds,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// What it is called here.
    pub label: String,
    /// The command line or address of the server.
    pub server: String,
    /// How messages travelled.
    pub transport: String,
    /// What was run, in words.
    pub scenario: String,
    /// Its runs: one, or one a round.
    pub runs: Vec<RunRef>,
    /// Calls that were due.
    pub requests: u64,
    /// Calls that failed.
    pub errors: u64,
}

/// A run that was compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRef {
    /// Its ULID.
    pub run_id: String,
    /// Where its files are.
    pub run_dir: Option<String>,
    /// When it began, in UTC as RFC 3339 has it.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What was said of it alone.
    pub verdict: Verdict,
}

/// How one target compares with the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Which one.
    pub target: Target,
    /// What follows for a gate.
    pub verdict: ComparisonVerdict,
    /// Which is better, all in all: worse when anything that is judged is worse by more than is
    /// allowed, better when something is better and nothing worse.
    pub standing: DifferenceVerdict,
    /// Calls that were never answered.
    pub deadlocks: Deadlocks,
    /// All calls together.
    pub figures: Vec<FigureChange>,
    /// By tool, where there are several.
    pub tools: Vec<ToolChange>,
    /// Why the two cannot be compared; empty when they can.
    pub reasons: Vec<Reason>,
    /// What else to keep in mind.
    pub notes: Vec<String>,
}

/// Calls that were never answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deadlocks {
    /// Those of the base.
    pub base: u64,
    /// Those of the candidate.
    pub current: u64,
    /// Whether there are more now, and that is not allowed.
    pub is_regression: bool,
}

/// One figure of both. Percentiles are in milliseconds, the error rate is a share of all calls, and
/// throughput is successful calls a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureChange {
    /// Which figure.
    pub figure: Figure,
    /// What the base has; of several rounds the median.
    pub base: Option<f64>,
    /// What the candidate has.
    pub current: Option<f64>,
    /// The lowest and the highest round of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_spread: Option<Spread>,
    /// The lowest and the highest round of the candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_spread: Option<Spread>,
    /// How much more the candidate has: as a share of the base, for errors in absolute terms.
    pub change: Option<f64>,
    /// Where the change lies with 95 % confidence.
    pub interval: Option<Interval>,
    /// How much worse it may be; null when it is not judged.
    pub allowed: Option<f64>,
    /// Whether it is better, worse, the same, or cannot be told.
    pub verdict: DifferenceVerdict,
    /// Whether the limit is kept for sure; null when that cannot be told, or nothing is judged.
    pub kept: Option<bool>,
    /// Why it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// From the lowest to the highest round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// One tool of both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolChange {
    /// Its name.
    pub name: String,
    /// Its figures.
    pub figures: Vec<FigureChange>,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// A stable snake_case id.
    pub id: String,
    /// What differs, in words.
    pub message: String,
}

impl Comparison {
    pub(super) fn of(
        method: Method,
        policy: &Policy,
        base: Target,
        candidates: Vec<Candidate>,
    ) -> Self {
        let worst = candidates.iter().map(|candidate| candidate.verdict).max();
        Self {
            schema: SCHEMA.to_owned(),
            verdict: worst.unwrap_or(ComparisonVerdict::Invalid),
            method,
            policy: *policy,
            base,
            candidates,
        }
    }

    /// What a gate returns to the shell.
    pub const fn exit(&self) -> Exit {
        match self.verdict {
            ComparisonVerdict::Pass => Exit::Pass,
            ComparisonVerdict::Undecided => self.policy.undecided.exit(),
            ComparisonVerdict::Invalid => Exit::Usage,
            ComparisonVerdict::Regression => Exit::Fail,
        }
    }

    /// Why the verdict is what it is, in a few words.
    pub fn headline(&self) -> String {
        let worst = self.candidates.iter().find(|candidate| candidate.verdict == self.verdict);
        let Some(worst) = worst else { return "there is nothing to compare".into() };
        let told = super::phrases::headline(worst);
        match self.candidates.len() {
            1 => told,
            _ => format!("{}: {told}", worst.target.label),
        }
    }
}
