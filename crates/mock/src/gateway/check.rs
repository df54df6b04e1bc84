//! What a check is, and what it finds.

use std::{collections::BTreeMap, fmt, pin::Pin};

use mcp_loadtest_core::hint::{Hint, nearest};
use thiserror::Error;

use super::{CHECKS, bench::Bench, report::Verdict};

/// The future of a check; it stays in one thread, as sessions do.
pub(super) type Checking<'a> = Pin<Box<dyn Future<Output = Result<Finding, Untold>> + 'a>>;

/// One question about a gateway.
pub struct Check {
    /// Its name in flags and reports.
    pub id: &'static str,
    /// What it means that it is kept.
    pub about: &'static str,
    /// What to do if it is broken.
    pub advice: &'static str,
    pub(super) run: for<'a> fn(&'a Bench) -> Checking<'a>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub(super) struct Untold(pub(super) String);

impl Untold {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// What was seen, a sentence each.
    pub evidence: Vec<String>,
    /// What was counted or measured.
    pub figures: BTreeMap<String, f64>,
}

impl Finding {
    pub(super) fn new(verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self { verdict, evidence: vec![evidence.into()], figures: BTreeMap::new() }
    }

    pub(super) fn kept(evidence: impl Into<String>) -> Self {
        Self::new(Verdict::Kept, evidence)
    }

    pub(super) fn broken(evidence: impl Into<String>) -> Self {
        Self::new(Verdict::Broken, evidence)
    }

    pub(super) fn measured(evidence: impl Into<String>) -> Self {
        Self::new(Verdict::Measured, evidence)
    }

    pub(super) fn not_applicable(why: impl Into<String>) -> Self {
        Self::new(Verdict::NotApplicable, why)
    }

    /// Broken if anything is wrong, else kept.
    pub(super) fn judge(wrong: Vec<String>, right: impl Into<String>) -> Self {
        if wrong.is_empty() {
            return Self::kept(right);
        }
        Self { verdict: Verdict::Broken, evidence: wrong, figures: BTreeMap::new() }
    }

    /// Adds what else was seen.
    #[must_use]
    pub(super) fn and(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    /// Adds a figure.
    #[must_use]
    pub(super) fn figure(mut self, name: impl Into<String>, value: f64) -> Self {
        self.figures.insert(name.into(), value);
        self
    }
}

/// A word that names no check.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a check")]
pub struct UnknownCheck(pub String);

impl Hint for UnknownCheck {
    fn hint(&self) -> Option<String> {
        let known = || CHECKS.iter().map(|check| check.id);
        Some(match nearest(&self.0, known()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", known().collect::<Vec<_>>().join(", ")),
        })
    }
}

/// The check with this name.
pub fn find(id: &str) -> Result<&'static Check, UnknownCheck> {
    CHECKS.iter().copied().find(|check| check.id == id).ok_or_else(|| UnknownCheck(id.to_owned()))
}
