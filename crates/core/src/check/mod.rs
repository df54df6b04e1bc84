//! What the checks of a probe say: one [`CaseResult`] for everything that was tried, and the
//! findings that they add up to.
//!
//! A check sends requests and looks at what becomes of them (that is the engine's work); what a
//! result is worth is decided here, so that a saved report can be judged again.

pub mod contract;
mod findings;
mod junit;
pub mod leaks;
pub mod negative;
mod sarif;
pub mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    findings::{About, CONTROL_CALL, Gate, findings, gate, gate_by_check},
    junit::junit,
    sarif::{likely_source, sarif},
};
use crate::report::Severity;

/// What a check is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Tool calls that must be refused.
    NegativePath,
    /// Frames that are no proper JSON-RPC.
    Envelope,
    /// Requests at the wrong time, or without what the revision asks for.
    Lifecycle,
    /// Resources and prompts.
    Content,
    /// Cursors.
    Pagination,
    /// Calls that are withdrawn.
    Cancellation,
    /// What results and errors contain.
    Output,
    /// Many things at once.
    Concurrency,
    /// What is kept, or left behind.
    Resources,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 9] = [
        Self::NegativePath,
        Self::Envelope,
        Self::Lifecycle,
        Self::Content,
        Self::Pagination,
        Self::Cancellation,
        Self::Output,
        Self::Concurrency,
        Self::Resources,
    ];

    /// As it is written in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NegativePath => "negative_path",
            Self::Envelope => "envelope",
            Self::Lifecycle => "lifecycle",
            Self::Content => "content",
            Self::Pagination => "pagination",
            Self::Cancellation => "cancellation",
            Self::Output => "output",
            Self::Concurrency => "concurrency",
            Self::Resources => "resources",
        }
    }
}

/// How far a probe goes: a check belongs to the shallowest probe that carries it out.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A few seconds.
    Quick,
    /// Under a minute with a server that answers fast.
    #[default]
    Usual,
    /// As long as it takes.
    Deep,
}

/// What became of one case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CaseVerdict {
    /// Bad input was refused.
    Rejected,
    /// Bad input was taken as if it were good.
    Accepted,
    /// It went as it should.
    Held,
    /// It did not go as it should.
    Broken,
    /// The server died of it.
    Crashed,
    /// The server did not answer, neither this nor anything else.
    Hung,
    /// It was not tried.
    Skipped,
    /// What was seen allows no verdict.
    CouldNotTell,
}

impl CaseVerdict {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
            Self::Held => "held",
            Self::Broken => "broken",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Skipped => "skipped",
            Self::CouldNotTell => "could not tell",
        }
    }

    /// Whether something was tried and its result is known.
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::Skipped | Self::CouldNotTell)
    }
}

/// The case that says how a check has left the server behind.
pub const AFTERWARDS: &str = "what comes after it";

/// One thing that was tried, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResult {
    /// The id of the check.
    pub check: String,
    /// What the check is about.
    pub family: Family,
    /// The id of the fault in the taxonomy, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxonomy: Option<String>,
    /// The tool that was called, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What was tried, in a few words: ``without `query` ``.
    pub case: String,
    /// What became of it.
    pub verdict: CaseVerdict,
    /// How bad that is; nothing where it is as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What was seen, or why it was not tried.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where it is written that it should be otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What was sent, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
}

impl CaseResult {
    /// A result with nothing but the verdict.
    pub fn new(check: &str, family: Family, case: impl Into<String>, verdict: CaseVerdict) -> Self {
        Self {
            check: check.to_owned(),
            family,
            taxonomy: None,
            tool: None,
            case: case.into(),
            verdict,
            severity: match verdict {
                CaseVerdict::Crashed
                | CaseVerdict::Hung
                | CaseVerdict::Broken
                | CaseVerdict::Accepted => Some(Severity::Critical),
                _ => None,
            },
            detail: String::new(),
            reference: None,
            sent: None,
            took_ms: None,
        }
    }

    /// Says what was seen.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Says how bad it is.
    #[must_use]
    pub fn severity(mut self, severity: impl Into<Option<Severity>>) -> Self {
        self.severity = severity.into();
        self
    }

    /// Says which tool it was.
    #[must_use]
    pub fn tool(mut self, tool: &str) -> Self {
        self.tool = Some(tool.to_owned());
        self
    }

    /// Says where it is written.
    #[must_use]
    pub fn reference(mut self, reference: &str) -> Self {
        self.reference = Some(reference.to_owned());
        self
    }

    /// Shows what was sent.
    #[must_use]
    pub fn sent(mut self, bytes: &[u8]) -> Self {
        self.sent = Some(crate::display::visible_bytes(bytes, 300));
        self
    }

    /// Says how long it took.
    #[must_use]
    pub fn took(mut self, took: std::time::Duration) -> Self {
        self.took_ms = Some((took.as_secs_f64() * 1e6).round() / 1e3);
        self
    }

    /// Whether something was tried and its result is known. That a server was away for a moment when a check was
    /// over is no case of that check; that it has died is the result of one.
    pub fn was_tried(&self) -> bool {
        self.verdict.is_known() && (self.case != AFTERWARDS || self.fails())
    }

    /// Whether it breaks a gate.
    pub fn fails(&self) -> bool {
        self.severity == Some(Severity::Critical)
    }
}
