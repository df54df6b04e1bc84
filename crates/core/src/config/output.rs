//! `[output]`: what a run leaves behind.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the results go and in which forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// The directory in which each run makes its own directory. Default: `./runs`.
    pub report_dir: PathBuf,
    /// The forms in which the result is told. Default: all of them.
    pub formats: Vec<Format>,
    /// How much of each call is kept in `trace.jsonl`. Default: `full`.
    pub trace: Trace,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { report_dir: "./runs".into(), formats: Format::ALL.to_vec(), trace: Trace::Full }
    }
}

/// A form in which a result is told.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `report.md`, for people.
    Markdown,
    /// `metrics.json` and `summary.json`, for programs.
    Json,
    /// A summary on the terminal.
    Terminal,
}

impl Format {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Json, Self::Terminal];

    /// The word used in configurations and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Terminal => "terminal",
        }
    }
}

/// How much of each call is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// Every event: the run can be judged and told again.
    #[default]
    Full,
    /// Nothing: `report` cannot tell the run again.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_serialized_ones() {
        for format in Format::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        }
    }
}
