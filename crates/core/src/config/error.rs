//! What is wrong with a configuration, where, and what to try.

use std::{fmt, ops::Range};

use thiserror::Error;
use toml::de::DeTable;

use super::{
    locate,
    path::{KeyPath, Step},
};
use crate::hint::Hint;

/// A configuration that cannot be used. Shown as ``bench.toml:14: `[thresholds] p99`: unknown key``.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ConfigError {
    /// The file it was read from; absent when it came from flags or code.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The setting that is wrong; empty when the text cannot be read at all.
    pub key: KeyPath,
    /// What is wrong with it.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

impl ConfigError {
    /// A problem with one setting.
    pub fn new(key: impl Into<KeyPath>, message: impl Into<String>) -> Self {
        let (key, message) = (key.into(), message.into());
        Self { file: None, line: None, column: None, key, message, hint: None }
    }

    /// Says what to try.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the place in the text that the setting was read from. A setting that is not in the text
    /// came from elsewhere, and only gets the place of its section.
    #[must_use]
    pub fn in_text(self, text: &str, file: &str) -> Self {
        let offset = DeTable::parse(text)
            .ok()
            .and_then(|document| locate::find(document.get_ref(), &self.key));
        self.at(text, file, offset)
    }

    /// A problem that the TOML reader found.
    pub(super) fn from_toml(error: &toml::de::Error, key: KeyPath, text: &str, file: &str) -> Self {
        let begin = |span: Range<usize>| span.start;
        Self::new(key, error.message().trim()).at(text, file, error.span().map(begin))
    }

    /// The same, at a place that is known already.
    pub(super) fn at(mut self, text: &str, file: &str, offset: Option<usize>) -> Self {
        let position = offset.map(|offset| locate::position(text, offset));
        self.file = Some(file.to_owned());
        self.line = position.map(|(line, _)| line);
        self.column = position.map(|(_, column)| column);
        self
    }

    /// Renames the setting, for a value that was written under another key.
    pub(super) fn renamed(mut self, from: &str, to: &str) -> Self {
        let (from, to) = (KeyPath::from(from), KeyPath::from(to));
        if let Some(rest) = self.key.steps().strip_prefix(from.steps()) {
            let longer = |path: KeyPath, step: &Step| match step {
                Step::Key(name) => path.key(name),
                Step::Index(index) => path.index(*index),
            };
            self.key = rest.iter().fold(to, longer);
        }
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            match self.line {
                Some(line) => write!(f, "{file}:{line}: ")?,
                None => write!(f, "{file}: ")?,
            }
        }
        if !self.key.steps().is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
