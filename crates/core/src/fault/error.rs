//! Faults that cannot be read, and faults that cannot happen.

use std::fmt;

use thiserror::Error;

use super::{FAULTS, SELECTORS, entry::Entry};
use crate::{
    config::TransportName,
    hint::{Hint, nearest},
    mcp::Era,
};

/// A fault that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultError {
    /// No kind has this name.
    #[error("there is no fault `{0}`; there are {known}", known = list(kinds()))]
    UnknownKind(String),
    /// No selector has this name.
    #[error("there is no selector `{0}`; there are {known}", known = list(selectors()))]
    UnknownSelector(String),
    /// The kind needs an argument.
    #[error("fault `{kind}` needs an argument: write `{usage}`")]
    MissingArgument {
        /// The kind.
        kind: &'static str,
        /// How to write it.
        usage: String,
    },
    /// The kind has no argument.
    #[error("fault `{kind}` takes nothing, and `{written}` was given")]
    NeedlessArgument {
        /// The kind.
        kind: &'static str,
        /// What was written.
        written: String,
    },
    /// The value is none that the key may have.
    #[error("`{key}` is `{written}`, and should be {wanted}")]
    Value {
        /// The kind, selector or key.
        key: &'static str,
        /// What was written.
        written: String,
        /// What to write.
        wanted: String,
    },
    /// A selector without a value.
    #[error("selector `{0}` has no value: write `{0}=…`")]
    NoValue(String),
    /// A selector that stands twice.
    #[error("selector `{0}` is given twice")]
    Twice(&'static str),
    /// A key of another kind.
    #[error("`{key}` does not belong to fault `{kind}`, which takes {}", takes(*own))]
    ForeignKey {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: &'static str,
        /// The key that it does take.
        own: Option<&'static str>,
    },
    /// A tool is selected, and no tool is called.
    #[error("`tool` selects calls of `tools/call`, but this fault touches `{0}`")]
    NoTool(String),
    /// The window ends before it begins.
    #[error("`until` is not later than `after`, so no call is selected")]
    EmptyWindow,
}

impl Hint for FaultError {
    fn hint(&self) -> Option<String> {
        let near = match self {
            Self::UnknownKind(word) => nearest(&word.replace('_', "-"), kinds()),
            Self::UnknownSelector(word) => nearest(word, selectors()),
            _ => None,
        };
        near.map(|name| format!("did you mean `{name}`?"))
    }
}

fn kinds() -> impl Iterator<Item = &'static str> {
    FAULTS.iter().map(|entry| entry.name)
}

fn selectors() -> impl Iterator<Item = &'static str> {
    SELECTORS.iter().map(|(name, _)| *name)
}

fn takes(own: Option<&str>) -> String {
    own.map_or("nothing".into(), |key| format!("`{key}`"))
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// A fault that can never happen where it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub struct Impossible {
    pub(super) kind: &'static Entry,
    pub(super) transport: TransportName,
    pub(super) era: Option<Era>,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.kind.place;
        write!(f, "fault `{}` is not possible ", self.kind.name)?;
        match self.era {
            Some(era) if place.transports.contains(&self.transport) => {
                write!(f, "in the {era} era")?;
            }
            _ => write!(f, "over {}", self.transport.as_str())?,
        }
        write!(f, ": {}", place.why)
    }
}

impl Hint for Impossible {
    fn hint(&self) -> Option<String> {
        let transports = self.kind.place.transports.iter().map(|transport| transport.as_str());
        Some(format!("use it over {}", list(transports)))
    }
}
