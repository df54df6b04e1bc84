//! `[output]`: what a run leaves behind.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use crate::display::visible;
pub use crate::report::Format;

/// Where the results go and in which forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// The directory in which each run makes its own directory. Default: `./runs`.
    pub report_dir: PathBuf,
    /// The forms in which the result is told. Default: markdown, html, json and terminal.
    pub formats: Vec<Format>,
    /// Which calls are kept in `trace.jsonl`. Default: `sampled`.
    pub trace: Trace,
    /// Names under which the run is found again, such as `v1.2` for `--baseline tag:v1.2`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            report_dir: "./runs".into(),
            formats: Format::USUAL.to_vec(),
            trace: Trace::default(),
            tags: Vec::new(),
        }
    }
}

impl OutputConfig {
    /// Takes the forms that flags name, in place of those that there are. Exports alone come in addition:
    /// they are for other programs, and whoever asks for one still wants to be told how the run went.
    pub fn lay_over_formats(&mut self, named: &[Format]) {
        if named.iter().any(|format| !format.is_export()) {
            self.formats.clear();
        }
        self.formats.extend(named);
    }

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

impl Format {
    /// The forms of a run that does not say which.
    pub const USUAL: [Self; 4] = [Self::Markdown, Self::Html, Self::Json, Self::Terminal];

    /// The forms that are no report but figures for another program.
    pub const EXPORTS: [Self; 2] = [Self::Hlog, Self::Openmetrics];

    /// Whether it is one of [`Self::EXPORTS`].
    pub fn is_export(self) -> bool {
        Self::EXPORTS.contains(&self)
    }
}

/// Which calls are kept in the trace. Failures, hangs, samples and notes are in all but `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// Every call: the run can be judged again by its trace alone. The load waits for a slow disk,
    /// and the wait shows as lag.
    Full,
    /// Every call up to 20,000 a second and load thread; beyond that some of those that ended well.
    /// The load never waits for the disk.
    #[default]
    Sampled,
    /// Failed calls only. The load never waits for the disk.
    Errors,
    /// Nothing.
    Off,
}

impl Trace {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Full, Self::Sampled, Self::Errors, Self::Off];

    /// The word used in configurations and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sampled => "sampled",
            Self::Errors => "errors",
            Self::Off => "off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_short_word() {
        let check =
            |tag: String| OutputConfig { tags: vec![tag], ..OutputConfig::default() }.check();
        for tag in ["v1.2", &"é".repeat(100)] {
            assert_eq!(check(tag.to_owned()), Ok(()));
        }
        for tag in ["", "a b", "a,b", "a\u{1b}", &"x".repeat(101)] {
            assert_eq!(
                check(tag.to_owned()).unwrap_err().key.to_string(),
                "[output] tags",
                "{tag}"
            );
        }
    }

    #[test]
    fn exports_alone_come_in_addition_and_every_other_form_in_place_of_what_was_there() {
        let laid_over = |named: &[Format]| {
            let mut output = OutputConfig::default();
            output.lay_over_formats(named);
            output.formats
        };
        assert_eq!(laid_over(&[]), Format::USUAL);
        assert_eq!(laid_over(&Format::EXPORTS), [&Format::USUAL[..], &Format::EXPORTS].concat());
        for named in [&[Format::Json][..], &[Format::Hlog, Format::Json]] {
            assert_eq!(laid_over(named), named);
        }
    }

    #[test]
    fn words_are_the_serialized_ones() {
        for format in Format::ALL {
            assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        }
        for trace in Trace::ALL {
            assert_eq!(serde_json::to_value(trace).unwrap(), trace.as_str());
        }
    }
}
