//! `[output]`: what a run leaves behind.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::display::visible;

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
    /// Names under which the run is found again, such as `v1.2` for `--baseline tag:v1.2`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            report_dir: "./runs".into(),
            formats: Format::ALL.to_vec(),
            trace: Trace::Full,
            tags: Vec::new(),
        }
    }
}

impl OutputConfig {
    /// Judges the tags: they are searched for and printed in one line.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let bad = |tag: &&String| {
            let odd = |c: char| c.is_whitespace() || c.is_control() || c == ',';
            tag.is_empty() || tag.chars().count() > 100 || tag.chars().any(odd)
        };
        match self.tags.iter().find(bad) {
            None => Ok(()),
            Some(tag) => {
                let message = format!("`{}` is no tag", visible(tag, 100));
                let error = ConfigError::new("output.tags", message);
                Err(error.with_hint("use a short name without spaces, for example `v1.2`"))
            }
        }
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
