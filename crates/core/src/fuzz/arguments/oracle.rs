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
        let options = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            // Older dialects would forbid by `format`; servers differ, so it forbids nothing here.
            .should_validate_formats(false);
        Self(options.build(schema).ok())
    }

    /// What the schema says; nothing where it cannot be used.
    pub(super) fn intent(&self, arguments: &Value) -> Option<Intent> {
        let valid = self.0.as_ref()?.is_valid(arguments);
        Some(if valid { Intent::Positive } else { Intent::Negative })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_format_forbids_nothing_in_any_dialect() {
        let dialects = [
            "http://json-schema.org/draft-04/schema#",
            "http://json-schema.org/draft-06/schema#",
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2019-09/schema",
            "https://json-schema.org/draft/2020-12/schema",
        ];
        for dialect in dialects {
            let schema = json!({"$schema": dialect, "type": "string", "format": "date"});
            let oracle = Oracle::new(&schema);
            assert_eq!(oracle.intent(&json!("no date")), Some(Intent::Positive), "{dialect}");
            assert_eq!(oracle.intent(&json!(7)), Some(Intent::Negative), "{dialect}");
        }
    }
}
