//! What became of tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    expect::Mismatch,
    recovery::{Judged, Live, Trajectory},
};
use crate::{check::CaseResult, exit::Exit, stats::interval::Interval};

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All was as it should be.
    Passed,
    /// Something was not.
    Failed,
    /// It could not be carried out: a server or a model could not be started or reached.
    Broken,
    /// It was not carried out, as the suite says.
    Skipped,
    /// It was not carried out, because the run ended before.
    NotRun,
}

impl Outcome {
    /// Its word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "PASS",
            Self::Failed => "FAIL",
            Self::Broken => "BROKEN",
            Self::Skipped => "SKIP",
            Self::NotRun => "NOT RUN",
        }
    }
}

/// What is tested.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A prompt.
    Prompt,
    /// An agent.
    Agent,
    /// A server under load.
    Load,
}

impl TestKind {
    /// The key of the suite under which such tests stand.
    pub const fn section(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Prompt => "prompts",
            Self::Agent => "agents",
            Self::Load => "loads",
        }
    }
}

/// A family of tests that belong together whatever they test. It is also a tag that they have by
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Family {
    /// What must be survived: bad input, and tools that fail.
    Edge,
}

impl Family {
    /// Its word, and the tag.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Edge => "EDGE",
        }
    }
}

/// One test and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestResult {
    /// The file that it stands in.
    pub suite: String,
    /// The line that it begins on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it is called.
    pub name: String,
    /// What is tested.
    pub kind: TestKind,
    /// The family that it belongs to: `EDGE` for tests with `negative_path`, `fuzz`, `recovery` or
    /// `inject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took_ms: f64,
    /// Why it was skipped or could not be carried out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What was not as it should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Mismatch>,
    /// What was looked at, where something was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// The cases of `negative_path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseResult>,
    /// How the agent recovered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Judged>,
    /// What the agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<Trajectory>,
    /// What was seen of an agent of its own on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// How often it passed, where it was carried out more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
    /// The command that carries it out again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reproduce: String,
}

impl TestResult {
    /// A test that has not been carried out.
    pub fn new(suite: &str, name: &str, kind: TestKind) -> Self {
        Self {
            suite: suite.to_owned(),
            line: None,
            name: name.to_owned(),
            kind,
            family: None,
            outcome: Outcome::NotRun,
            took_ms: 0.0,
            reason: String::new(),
            failures: Vec::new(),
            document: None,
            cases: Vec::new(),
            recovery: None,
            trajectory: None,
            live: None,
            repeats: None,
            reproduce: String::new(),
        }
    }

    /// Whether it must be looked at.
    pub fn is_bad(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::Broken)
    }
}

/// How often a test passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// How often it was carried out.
    pub runs: u32,
    /// How often it passed.
    pub passed: u32,
    /// The share of those that passed.
    pub share: f64,
    /// Where that share lies, 95 times in 100 (Wilson's interval).
    pub interval: Interval,
}

impl Repeats {
    /// So many of so many.
    pub fn new(passed: u32, runs: u32) -> Self {
        let share = f64::from(passed) / f64::from(runs.max(1));
        Self { runs, passed, share, interval: Interval::of_share(passed, runs) }
    }
}

/// What became of a run of suites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest test report")]
pub struct SuiteReport {
    /// The version of this document.
    pub schema: String,
    /// What chances came from.
    pub seed: u64,
    /// The sums.
    pub totals: Totals,
    /// How long all of it took.
    pub took_ms: f64,
    /// Whether it was ended before its time.
    pub interrupted: bool,
    /// The tests, in the order of the files.
    pub tests: Vec<TestResult>,
}

/// How many tests became what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Could not be carried out.
    pub broken: usize,
    /// Left out, as the suite says.
    pub skipped: usize,
    /// Not reached.
    pub not_run: usize,
}

impl SuiteReport {
    /// Sums up.
    pub fn new(tests: Vec<TestResult>, took_ms: f64, seed: u64, interrupted: bool) -> Self {
        let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
        let totals = Totals {
            passed: count(Outcome::Passed),
            failed: count(Outcome::Failed),
            broken: count(Outcome::Broken),
            skipped: count(Outcome::Skipped),
            not_run: count(Outcome::NotRun),
        };
        let schema = "mcp-loadtest/test/v1".into();
        Self { schema, seed, totals, took_ms, interrupted, tests }
    }

    /// How the command ends. What could not be carried out weighs more than what failed.
    pub fn exit(&self) -> Exit {
        match self.totals {
            _ if self.interrupted => Exit::Interrupted,
            Totals { broken: 1.., .. } => Exit::Usage,
            Totals { failed: 1.., .. } => Exit::Fail,
            _ => Exit::Pass,
        }
    }

    /// The JSON Schema of this document.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }
}
