//! Whether a value satisfies a schema, as far as the generator's own keywords go.
//!
//! Needed twice: to tell whether a `default` or an example keeps its own schema's rules (many do
//! not), and to hold every made value against the whole schema before it is used. Keywords whose
//! argument is malformed demand nothing, and `format` is a note, as JSON Schema has it.
//!
//! To add a keyword: write a [`Rule`] and add its line to [`RULES`].

mod nested;
mod plain;

use serde_json::Value;

use super::budget::{Budget, Meter};
use super::schema::{Map, resolve};
use super::unusable::Why;

/// Levels of schema (references, branches, properties) for each level of value.
const LEVELS: usize = 4;

/// One keyword's question: its argument, the keywords beside it, and the value.
#[derive(Clone, Copy)]
struct Case<'c> {
    argument: &'c Value,
    map: &'c Map,
    value: &'c Value,
}

/// Whether a value satisfies one keyword.
type Rule = fn(&mut Check<'_>, Case<'_>) -> Result<bool, Why>;

/// Every keyword that is checked.
static RULES: [(&str, Rule); 37] = [
    ("type", plain::kind),
    ("const", plain::same_as),
    ("enum", plain::listed),
    ("minLength", plain::min_length),
    ("maxLength", plain::max_length),
    ("pattern", plain::pattern),
    ("minimum", plain::minimum),
    ("maximum", plain::maximum),
    ("exclusiveMinimum", plain::exclusive_minimum),
    ("exclusiveMaximum", plain::exclusive_maximum),
    ("multipleOf", plain::multiple_of),
    ("minItems", plain::min_items),
    ("maxItems", plain::max_items),
    ("uniqueItems", plain::unique_items),
    ("minProperties", plain::min_properties),
    ("maxProperties", plain::max_properties),
    ("required", plain::required),
    ("dependentRequired", plain::dependent_required),
    ("dependencies", plain::dependent_required),
    ("$ref", nested::reference),
    ("$dynamicRef", nested::unsupported),
    ("$recursiveRef", nested::unsupported),
    ("allOf", nested::all_of),
    ("anyOf", nested::any_of),
    ("oneOf", nested::one_of),
    ("not", nested::not),
    ("if", nested::if_then_else),
    ("properties", nested::properties),
    ("patternProperties", nested::pattern_properties),
    ("additionalProperties", nested::additional_properties),
    ("unevaluatedProperties", nested::unevaluated_properties),
    ("propertyNames", nested::property_names),
    ("dependentSchemas", nested::dependent_schemas),
    ("prefixItems", nested::tuple),
    ("items", nested::items),
    ("additionalItems", nested::additional_items),
    ("contains", nested::contains),
];

/// A walk over value and schema together.
pub(super) struct Check<'c> {
    root: &'c Value,
    meter: &'c mut Meter,
    levels: usize,
    depth: usize,
}

impl<'c> Check<'c> {
    pub(super) fn new(root: &'c Value, budget: &Budget, meter: &'c mut Meter) -> Self {
        let depth = budget.depth;
        Self { root, meter, levels: depth.saturating_mul(LEVELS), depth }
    }

    /// Whether the value satisfies all of these keyword maps.
    pub(super) fn parts(&mut self, parts: &[&Map], value: &Value) -> Result<bool, Why> {
        for part in parts {
            if !self.map(part, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the value satisfies the schema.
    pub(super) fn schema(&mut self, schema: &Value, value: &Value) -> Result<bool, Why> {
        match schema {
            Value::Bool(anything) => Ok(*anything),
            Value::Object(map) => self.map(map, value),
            _ => Err(Why::NotASchema),
        }
    }

    fn map(&mut self, map: &Map, value: &Value) -> Result<bool, Why> {
        self.meter.steps(1)?;
        self.levels = self.levels.checked_sub(1).ok_or(Why::TooDeep(self.depth))?;
        let mut holds = Ok(true);
        for (keyword, rule) in &RULES {
            if let Some(argument) = map.get(*keyword) {
                holds = rule(self, Case { argument, map, value });
                if holds != Ok(true) {
                    break;
                }
            }
        }
        self.levels += 1;
        holds
    }

    fn resolve(&self, reference: &str) -> Result<&'c Value, Why> {
        resolve(self.root, reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(schema: &Value, value: &Value) -> Result<bool, Why> {
        let budget = Budget::default();
        Check::new(schema, &budget, &mut Meter::new(&budget)).schema(schema, value)
    }

    /// One value that holds and one that does not, for every keyword.
    #[test]
    fn every_keyword_agrees_with_jsonschema() {
        let node = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
        let table = [
            (json!({ "type": ["integer", "null"] }), json!(1.0), json!(1.5)),
            (json!({ "const": { "a": [1] } }), json!({ "a": [1.0] }), json!({ "a": [2] })),
            (json!({ "enum": [1, "a"] }), json!("a"), json!("b")),
            (json!({ "minLength": 2 }), json!("äö"), json!("ä")),
            (json!({ "maxLength": 2 }), json!("äö"), json!("abc")),
            (json!({ "pattern": "^a" }), json!("ab"), json!("ba")),
            (json!({ "minimum": 2 }), json!(2), json!(1.9)),
            (json!({ "maximum": 2 }), json!("x"), json!(3)),
            (json!({ "exclusiveMinimum": 2 }), json!(3), json!(2)),
            (json!({ "exclusiveMaximum": 2 }), json!(1), json!(2)),
            (json!({ "multipleOf": 0.1 }), json!(0.3), json!(0.25)),
            (json!({ "minItems": 1 }), json!([1]), json!([])),
            (json!({ "maxItems": 1 }), json!([1]), json!([1, 2])),
            (json!({ "uniqueItems": true }), json!([1, 2]), json!([1, 1])),
            (json!({ "minProperties": 1 }), json!({ "a": 1 }), json!({})),
            (json!({ "maxProperties": 0 }), json!({}), json!({ "a": 1 })),
            (json!({ "required": ["a"] }), json!({ "a": 1 }), json!({ "b": 1 })),
            (json!({ "dependentRequired": { "a": ["b"] } }), json!({ "b": 1 }), json!({ "a": 1 })),
            (json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }), json!(2), json!(3)),
            (json!({ "anyOf": [{ "minimum": 5 }, { "maximum": 2 }] }), json!(6), json!(3)),
            (json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 5 }] }), json!(6), json!(3)),
            (json!({ "not": { "type": "string" } }), json!(1), json!("a")),
            (
                json!({ "if": { "minimum": 5 }, "then": { "maximum": 6 }, "else": false }),
                json!(6),
                json!(7),
            ),
            (node, json!({ "next": { "next": {} } }), json!({ "next": { "next": 1 } })),
            (
                json!({ "patternProperties": { "^x": { "type": "null" } } }),
                json!({ "xa": null }),
                json!({ "xa": 1 }),
            ),
            (
                json!({ "properties": { "a": true }, "additionalProperties": false }),
                json!({ "a": 1 }),
                json!({ "b": 1 }),
            ),
            (
                json!({ "properties": { "a": true }, "unevaluatedProperties": false }),
                json!({ "a": 1 }),
                json!({ "b": 1 }),
            ),
            (json!({ "propertyNames": { "maxLength": 1 } }), json!({ "a": 1 }), json!({ "ab": 1 })),
            (
                json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
                json!({}),
                json!({ "a": 1 }),
            ),
            (
                json!({ "prefixItems": [{ "const": 1 }], "items": { "const": 2 } }),
                json!([1, 2]),
                json!([1, 1]),
            ),
            (json!({ "items": { "const": 2 } }), json!([2, 2]), json!([1, 2])),
            (json!({ "contains": { "const": 1 }, "maxContains": 1 }), json!([1, 2]), json!([1, 1])),
        ];
        for (schema, good, bad) in table {
            let validator = jsonschema::validator_for(&schema).unwrap();
            for (value, expected) in [(good, true), (bad, false)] {
                assert_eq!(validator.is_valid(&value), expected, "{schema} {value}");
                assert_eq!(holds(&schema, &value), Ok(expected), "{schema} {value}");
            }
        }
    }

    #[test]
    fn draft_7_is_read_too() {
        let tuple = json!({ "items": [{ "const": 1 }], "additionalItems": { "const": 2 } });
        assert_eq!(holds(&tuple, &json!([1, 2])), Ok(true));
        assert_eq!(holds(&tuple, &json!([1, 3])), Ok(false));
        let limit = json!({ "minimum": 1, "exclusiveMinimum": true });
        assert_eq!(holds(&limit, &json!(1)), Ok(false));
        let nullable = json!({ "type": "string", "nullable": true });
        assert_eq!(holds(&nullable, &json!(null)), Ok(true));
        assert_eq!(holds(&nullable, &json!(5)), Ok(false));
        assert_eq!(holds(&json!({ "type": "string" }), &json!(null)), Ok(false));
    }

    #[test]
    fn a_circle_without_progress_ends() {
        let circle = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } });
        assert!(matches!(holds(&circle, &json!(1)), Err(Why::TooDeep(_))));
    }

    /// What the table above leaves out: limits themselves, older drafts, and what is beside the point.
    #[test]
    fn keywords_hold_at_their_limits() {
        for (schema, value, expected) in [
            (json!({ "maximum": 2 }), json!(2), true),
            (json!({ "maximum": 2, "exclusiveMaximum": true }), json!(2), false),
            (json!({ "maximum": 2, "exclusiveMaximum": true }), json!(1), true),
            (json!({ "minimum": 1, "exclusiveMinimum": true }), json!(2), true),
            // A float cannot tell these two apart.
            (
                json!({ "minimum": 9_007_199_254_740_993_i64 }),
                json!(9_007_199_254_740_992_i64),
                false,
            ),
            (
                json!({ "maximum": 9_007_199_254_740_992_i64 }),
                json!(9_007_199_254_740_993_i64),
                false,
            ),
            (json!({ "multipleOf": 3 }), json!(9), true),
            (json!({ "multipleOf": 3 }), json!(10), false),
            (json!({ "multipleOf": 0.01 }), json!(3495.49), true),
            (json!({ "const": [1] }), json!([1, 2]), false),
            (json!({ "const": {} }), json!({ "a": 1 }), false),
            (json!({ "dependencies": { "a": { "required": ["b"] } } }), json!({ "a": 1 }), false),
            (json!({ "dependencies": { "a": { "required": ["b"] } } }), json!({ "b": 1 }), true),
            (json!({ "prefixItems": [{ "const": 1 }] }), json!([1, 5]), true),
            (json!({ "prefixItems": [{ "const": 1 }] }), json!([2]), false),
            (json!({ "prefixItems": [{ "const": 1 }] }), json!("2"), true),
            (json!({ "additionalItems": false }), json!([1]), true),
            (json!({ "contains": { "const": 1 } }), json!([2]), false),
            (json!({ "contains": { "const": 1 }, "minContains": 2 }), json!([1, 1]), true),
            (json!({ "if": { "minimum": 5 }, "else": false }), json!(4), false),
            (json!({ "if": { "minimum": 5 }, "else": false }), json!(5), true),
            (
                json!({ "patternProperties": { "^x": true }, "additionalProperties": false }),
                json!({ "xa": 1 }),
                true,
            ),
            (
                json!({ "patternProperties": { "^x": true }, "additionalProperties": false }),
                json!({ "ya": 1 }),
                false,
            ),
            (
                json!({ "additionalProperties": true, "unevaluatedProperties": false }),
                json!({ "a": 1 }),
                true,
            ),
            (
                json!({ "allOf": [{ "properties": { "a": true } }], "unevaluatedProperties": false }),
                json!({ "a": 1 }),
                true,
            ),
        ] {
            assert_eq!(holds(&schema, &value), Ok(expected), "{schema} {value}");
        }
    }

    #[test]
    fn what_cannot_be_judged_matters_only_where_nothing_else_decides() {
        let doubt = json!({ "anyOf": [{ "$dynamicRef": "#x" }, { "const": 1 }] });
        assert_eq!(holds(&doubt, &json!(1)), Ok(true));
        assert_eq!(holds(&doubt, &json!(2)), Err(Why::Unsupported("#x".into())));
        let recursive = json!({ "$recursiveRef": "#" });
        assert_eq!(holds(&recursive, &json!(1)), Err(Why::Unsupported("#".into())));
        assert_eq!(holds(&json!({ "not": 7 }), &json!(1)), Err(Why::NotASchema));
    }
}
