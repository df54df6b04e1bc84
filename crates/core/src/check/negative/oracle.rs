//! The judge of arguments: the `jsonschema` crate, which nobody here has written.

use jsonschema::Validator;
use serde_json::Value;

use crate::generate;

/// A schema that arguments are held against.
#[derive(Debug)]
pub struct Oracle {
    validator: Validator,
}

impl Oracle {
    /// Fails with the reason when the schema is none that can be used. The dialect is the one that
    /// `$schema` names, else 2020-12. References outside the document are never followed.
    pub fn new(schema: &Value) -> Result<Self, String> {
        generate::admit(schema).map_err(|why| why.to_string())?;
        let validator = jsonschema::options()
            // `format` is a remark unless a dialect says otherwise; servers differ, so it forbids
            // nothing here.
            .should_validate_formats(false)
            .build(schema)
            .map_err(|error| format!("the schema is not valid: {error}"))?;
        Ok(Self { validator })
    }

    /// Whether the schema forbids these arguments.
    pub fn forbids(&self, arguments: &Value) -> bool {
        !self.validator.is_valid(arguments)
    }

    /// What is wrong with these arguments, if anything.
    pub fn problem(&self, arguments: &Value) -> Option<String> {
        let error = self.validator.iter_errors(arguments).next()?;
        let place = error.instance_path().to_string();
        let words = crate::display::visible(&error.to_string(), 200);
        Some(if place.is_empty() { words } else { format!("`{place}`: {words}") })
    }
}

/// What is wrong with these arguments by this schema, if anything. A schema that cannot be used
/// forbids nothing.
///
/// ```
/// use mcp_loadtest_core::check::negative::arguments_problem;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// assert_eq!(arguments_problem(&schema, &json!({ "n": 1 })), None);
/// assert!(arguments_problem(&schema, &json!({ "n": "x" })).unwrap().starts_with("`/n`: "));
/// ```
pub fn arguments_problem(schema: &Value, arguments: &Value) -> Option<String> {
    Oracle::new(schema).ok()?.problem(arguments)
}
