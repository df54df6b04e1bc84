//! What was concluded, and the word above it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably a problem, but not a proven bug.
    Warning,
    /// A bug.
    Critical,
}

/// Something that an analysis concluded. It has the same id wherever it appears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A stable snake_case id.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence.
    pub message: String,
    /// What shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The figures of the message by name, for those who do not read sentences.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What it means for those who use the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// The command that shows it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

impl Finding {
    /// Adds a figure. JSON has no NaN, and three decimals read back as they were written.
    #[must_use]
    pub(crate) fn figure(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.figures.insert(name.to_owned(), (value * 1e3).round() / 1e3);
        }
        self
    }
}

/// The word above everything else.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing was found and every gate held.
    Pass,
    /// Every gate held, but look at the findings.
    Warning,
    /// The run cannot be judged: nothing was measured, or the accounting does not close.
    Invalid,
    /// A threshold was violated.
    Fail,
    /// A bug was found.
    Critical,
}

impl Verdict {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warning => "WARNING",
            Self::Invalid => "INVALID",
            Self::Fail => "FAIL",
            Self::Critical => "CRITICAL",
        }
    }

    /// Whether a gate may let it through.
    pub const fn passes(self) -> bool {
        matches!(self, Self::Pass | Self::Warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_decimals_and_no_nan() {
        let found = crate::report::fixture::violated().findings.remove(0);
        let found = Finding { figures: BTreeMap::new(), ..found };
        let found = found.figure("a", 1.234_56).figure("b", f64::NAN).figure("c", None);
        let found = found.figure("d", Some(-2.0)).figure("e", f64::INFINITY);
        let expected = [("a", 1.235), ("d", -2.0)].map(|(name, value)| (name.to_owned(), value));
        assert_eq!(found.figures, expected.into());
    }
}
