//! The arguments of a tool call as they stand in a configuration.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

/// The arguments of a tool call: a table, or JSON text for what TOML cannot say, such as null.
///
/// ```toml
/// args = { ticker = "AAPL" }
/// args = '{"ticker": "AAPL", "since": null}'
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments(pub Value);

/// How deep a TOML table may be nested before it is written as JSON text instead.
const MAX_DEPTH: usize = 16;

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_object() && has_toml_form(&self.0, MAX_DEPTH) {
            self.0.serialize(to)
        } else {
            to.serialize_str(&self.0.to_string())
        }
    }
}

/// TOML has no null, no integer beyond 64 bits with sign, and a limit to its depth.
fn has_toml_form(value: &Value, depth: usize) -> bool {
    let deeper = |value: &Value| depth > 0 && has_toml_form(value, depth - 1);
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_f64(),
        Value::Array(list) => list.iter().all(deeper),
        Value::Object(map) => map.values().all(deeper),
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = match Value::deserialize(from)? {
            Value::String(text) => serde_json::from_str(&text)
                .map_err(|error| D::Error::custom(format!("the text is not JSON: {error}")))?,
            value => value,
        };
        if value.is_object() {
            Ok(Self(value))
        } else {
            Err(D::Error::custom("tool arguments are a table or the text of a JSON object"))
        }
    }
}

impl JsonSchema for Arguments {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "string"], "examples": [{ "ticker": "AAPL" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        args: Arguments,
    }

    #[test]
    fn what_toml_cannot_say_is_written_as_json_text() {
        for value in
            [json!({"a": {"b": [1, 2.5, "x", true]}}), json!({"a": null}), json!({"n": u64::MAX})]
        {
            let holder = Holder { args: Arguments(value) };
            let text = toml::to_string(&holder).unwrap();
            assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{text}");
        }
        assert_eq!(
            toml::to_string(&Holder { args: Arguments(json!({"a": null})) }).unwrap().trim(),
            r#"args = '{"a":null}'"#
        );
    }

    #[test]
    fn only_an_object_will_do() {
        for text in ["args = 5", "args = [1]", "args = 'x'", "args = '[1]'", "args = '{'"] {
            assert!(toml::from_str::<Holder>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_table_stays_one_as_long_as_toml_can_say_it() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
        for (name, value, is_table) in [
            ("a number", json!({"a": 1}), true),
            ("a fraction", json!({"a": [1.5, {"b": true}]}), true),
            ("nothing inside", json!({"a": [{"b": null}]}), false),
            ("a number beyond the sign", json!({"a": u64::MAX}), false),
            ("as deep as may be", nested(MAX_DEPTH), true),
            ("one deeper", nested(MAX_DEPTH + 1), false),
            ("no object", json!([1]), false),
        ] {
            let written = serde_json::to_value(Arguments(value.clone())).unwrap();
            let expected = if is_table { value } else { json!(value.to_string()) };
            assert_eq!(written, expected, "{name}");
        }
    }
}
