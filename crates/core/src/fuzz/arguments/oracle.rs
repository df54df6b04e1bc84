//! Whether arguments satisfy a schema, as a validator sees it that is not ours.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::fuzz::Intent;

/// A larger schema is not read.
const LARGEST: usize = 256 * 1024;

/// The schema of a tool, if it can be used at all.
pub(super) struct Oracle(Option<Validator>);

impl Oracle {
    /// Reads a schema. References outside of it are not followed; patterns run in linear time.
    pub(super) fn new(schema: &Value) -> Self {
        if schema.to_string().len() > LARGEST {
            return Self(None);
        }
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        Self(options.build(schema).ok())
    }

    /// What the schema says; nothing where it cannot be used.
    pub(super) fn intent(&self, arguments: &Value) -> Option<Intent> {
        let valid = self.0.as_ref()?.is_valid(arguments);
        Some(if valid { Intent::Positive } else { Intent::Negative })
    }
}
