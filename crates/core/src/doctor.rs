//! What `doctor` tells: one entry for each check, with everything that it saw.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What comes of looking at something, from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Nothing stands in the way.
    Ok,
    /// It could not be found out.
    CouldNotTell,
    /// It works, but not everything will.
    Warning,
    /// It does not work.
    Failed,
}

impl Health {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::CouldNotTell => "could not tell",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// One thing that a check saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// What it is worth.
    pub health: Health,
    /// What was seen, in one line.
    pub what: String,
    /// What to do about it, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Whether `--fix` can do something about it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixable: bool,
    /// What else helps to understand it, such as the last words of a server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// The figures of the line by name, for those who do not read lines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// What `--fix` did about it, or why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<String>,
}

impl Seen {
    /// Something, and what it is worth.
    pub fn new(health: Health, what: impl Into<String>) -> Self {
        Self {
            health,
            what: what.into(),
            fix: None,
            fixable: false,
            details: Vec::new(),
            figures: BTreeMap::new(),
            done: None,
        }
    }

    /// Adds a figure, to the thousandth.
    #[must_use]
    pub fn figure(mut self, name: &str, value: f64) -> Self {
        if value.is_finite() {
            self.figures.insert(name.to_owned(), (value * 1e3).round() / 1e3);
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// One check and all that it saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// The id of the check.
    pub check: String,
    /// The worst of what it saw.
    pub health: Health,
    /// All that it saw.
    pub seen: Vec<Seen>,
}

impl Checked {
    /// What a check saw; its worst part counts.
    pub fn new(check: &str, seen: Vec<Seen>) -> Self {
        let health = seen.iter().map(|seen| seen.health).max().unwrap_or(Health::Ok);
        Self { check: check.to_owned(), health, seen }
    }
}

/// All checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// The version of this document.
    pub schema: String,
    /// The version of the program.
    pub version: String,
    /// The system and the processor.
    pub system: String,
    /// Every check that was carried out.
    pub checks: Vec<Checked>,
    /// Whether nothing failed.
    pub passed: bool,
}

impl DoctorReport {
    /// The report of these checks.
    pub fn new(version: &str, system: &str, checks: Vec<Checked>) -> Self {
        Self {
            schema: "mcp-loadtest/doctor/v1".into(),
            version: version.to_owned(),
            system: system.to_owned(),
            passed: checks.iter().all(|checked| checked.health < Health::Failed),
            checks,
        }
    }

    /// `schemas/doctor.v1.json`.
    pub fn json_schema() -> Value {
        schema_for!(Self).to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts_and_only_a_failure_fails() {
        let report = |healths: &[Health]| {
            let seen = healths.iter().map(|health| Seen::new(*health, "x")).collect();
            DoctorReport::new("1", "here", vec![Checked::new("a", seen)])
        };
        let warned = report(&[Health::Ok, Health::Warning, Health::CouldNotTell]);
        assert_eq!((warned.checks[0].health, warned.passed), (Health::Warning, true));
        let failed = report(&[Health::Failed, Health::Ok]);
        assert_eq!((failed.checks[0].health, failed.passed), (Health::Failed, false));
        assert!(report(&[]).passed);
    }

    #[test]
    fn figures_are_short_and_numbers_only() {
        let seen = Seen::new(Health::Ok, "x").figure("a", 1.23456).figure("b", f64::NAN).fix("do");
        assert_eq!((seen.figures.len(), seen.figures["a"]), (1, 1.235));
        assert_eq!(seen.fix.as_deref(), Some("do"));
        assert_eq!(DoctorReport::json_schema()["title"], "DoctorReport");
        let all = [Health::Ok, Health::CouldNotTell, Health::Warning, Health::Failed];
        assert_eq!(all.map(Health::words), ["ok", "could not tell", "warning", "failed"]);
    }
}
