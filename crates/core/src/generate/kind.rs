//! The type of a value: what all parts of a schema allow, or a guess where none says.

use serde_json::Value;

use super::schema::{Map, each};
use super::unusable::Why;

/// The types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    Null,
}

/// No type is left over.
pub(super) const NO_TYPE: Why = Why::NoValue("the types that are asked for exclude each other");

/// The types a value may have, the schema's first choice first and `null` last.
pub(super) fn kinds(parts: &[&Map]) -> Result<Vec<Kind>, Why> {
    let mut allowed: Option<Vec<Kind>> = None;
    for listed in each(parts, "type") {
        let listed = match listed {
            Value::Array(all) => all.iter().map(kind).collect::<Result<Vec<_>, _>>()?,
            one => vec![kind(one)?],
        };
        allowed = Some(match allowed {
            None => listed,
            Some(earlier) => in_both(&earlier, &listed),
        });
    }
    let mut allowed = allowed.unwrap_or_else(|| vec![guess(parts)]);
    allowed.sort_by_key(|kind| *kind == Kind::Null);
    Ok(allowed)
}

fn kind(value: &Value) -> Result<Kind, Why> {
    match value.as_str() {
        Some("object") => Ok(Kind::Object),
        Some("array") => Ok(Kind::Array),
        Some("string") => Ok(Kind::String),
        Some("integer") => Ok(Kind::Integer),
        Some("number") => Ok(Kind::Number),
        Some("boolean") => Ok(Kind::Boolean),
        Some("null") => Ok(Kind::Null),
        Some(other) => Err(Why::unsupported(other)),
        None => Err(Why::NotASchema),
    }
}

/// Whole numbers are numbers, so `integer` and `number` meet in `integer`.
fn in_both(one: &[Kind], other: &[Kind]) -> Vec<Kind> {
    let meet = |kind: &Kind| match kind {
        Kind::Integer if other.contains(&Kind::Number) => Some(Kind::Integer),
        Kind::Number if !other.contains(kind) && other.contains(&Kind::Integer) => {
            Some(Kind::Integer)
        }
        kind => other.contains(kind).then_some(*kind),
    };
    one.iter().filter_map(meet).collect()
}

/// Keywords that tell the type when `type` is missing; without any, text is the likeliest.
const TELLING: [(Kind, &[&str]); 3] = [
    (Kind::Object, &["properties", "required", "additionalProperties", "minProperties"]),
    (Kind::Array, &["items", "prefixItems", "minItems", "uniqueItems", "contains"]),
    (Kind::Number, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

fn guess(parts: &[&Map]) -> Kind {
    let told =
        |words: &[&str]| parts.iter().any(|part| words.iter().any(|w| part.contains_key(*w)));
    TELLING.iter().find(|(_, words)| told(words)).map_or(Kind::String, |(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kinds_of(schemas: &[Value]) -> Result<Vec<Kind>, Why> {
        kinds(&schemas.iter().map(|schema| schema.as_object().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn types_meet() {
        let both = [
            json!({ "type": ["null", "number", "string"] }),
            json!({ "type": ["integer", "null"] }),
        ];
        assert_eq!(kinds_of(&both), Ok(vec![Kind::Integer, Kind::Null]));
        let none = [json!({ "type": "string" }), json!({ "type": "object" })];
        assert_eq!(kinds_of(&none), Ok(vec![]));
        assert!(kinds_of(&[json!({ "type": "any" })]).is_err());
    }

    #[test]
    fn a_missing_type_is_guessed() {
        assert_eq!(kinds_of(&[json!({ "required": [] })]), Ok(vec![Kind::Object]));
        assert_eq!(kinds_of(&[json!({ "title": "x" })]), Ok(vec![Kind::String]));
    }

    #[test]
    fn whole_numbers_are_numbers_and_nothing_else_is_both() {
        for (one, other, expected) in [
            (json!("integer"), json!("number"), vec![Kind::Integer]),
            (json!("number"), json!("integer"), vec![Kind::Integer]),
            (json!("integer"), json!("integer"), vec![Kind::Integer]),
            (json!("number"), json!("number"), vec![Kind::Number]),
            (json!("number"), json!(["integer", "number"]), vec![Kind::Number]),
            (json!("integer"), json!("string"), vec![]),
            (json!("number"), json!("string"), vec![]),
            (json!("boolean"), json!(["array", "boolean"]), vec![Kind::Boolean]),
        ] {
            let kinds = kinds_of(&[json!({ "type": one }), json!({ "type": other })]);
            assert_eq!(kinds, Ok(expected), "{one} {other}");
        }
    }

    #[test]
    fn keywords_tell_the_type_and_what_is_no_type_is_refused() {
        for (schema, expected) in [
            (json!({ "minProperties": 1 }), Kind::Object),
            (json!({ "contains": {} }), Kind::Array),
            (json!({ "multipleOf": 2 }), Kind::Number),
        ] {
            assert_eq!(kinds_of(std::slice::from_ref(&schema)), Ok(vec![expected]), "{schema}");
        }
        assert_eq!(kinds_of(&[json!({ "type": 7 })]), Err(Why::NotASchema));
        assert_eq!(kinds_of(&[json!({ "type": "any" })]), Err(Why::Unsupported("any".into())));
    }
}
