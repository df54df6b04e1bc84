//! Values that were seen before, kept in a file beside the suite.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{config::ConfigError, display::visible, yaml};

/// The values, by test and target.
pub type Snapshots = BTreeMap<String, Value>;

/// Values that were seen before, and those that are seen now.
#[derive(Debug, Clone, PartialEq)]
pub enum Store {
    /// What is seen must be what was seen.
    Compare(Snapshots),
    /// What is seen is written down.
    Update(Snapshots),
}

impl Default for Store {
    fn default() -> Self {
        Self::Compare(Snapshots::new())
    }
}

impl Store {
    /// Reads the file. `file` is only what errors call it.
    pub fn parse(text: &str, file: &str) -> Result<Snapshots, ConfigError> {
        yaml::read(text, file)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let (Self::Compare(values) | Self::Update(values)) = self;
        serde_json::to_string_pretty(values).unwrap_or_default() + "\n"
    }

    /// Why a value is not what it was; nothing when it is, or when it is written down.
    pub(super) fn problem(&mut self, key: &str, value: &Value) -> Option<String> {
        match self {
            Self::Update(values) => {
                values.insert(key.to_owned(), value.clone());
                None
            }
            Self::Compare(values) => match values.get(key) {
                None => Some("there is no snapshot yet; write one with --update".into()),
                Some(before) if before == value => None,
                Some(before) => {
                    let shown = |value: &Value| visible(&value.to_string(), 200);
                    Some(format!("got {}, the snapshot says {}", shown(value), shown(before)))
                }
            },
        }
    }
}
