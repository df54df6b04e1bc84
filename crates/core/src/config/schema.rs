//! The JSON Schema of the configuration. It is made from the types and their documentation, and
//! the reader takes its list of keys and words from it, so the two cannot disagree.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value};

use super::{
    Config,
    path::{KeyPath, Step},
};

/// The JSON Schema (2020-12) of a configuration file.
pub fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    schema
}

/// A duration with units, as [`crate::units::parse_duration`] reads it.
pub(crate) struct DurationText;

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\s*(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(ns|us|µs|ms|s|m|h)\s*)+)\s*$",
            "examples": ["500ms", "60s", "1m30s"]
        })
    }
}

/// Removes what TOML cannot say (null) and defaults that only repeat that a section is optional.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            drop_null(object);
            if object.get("default").is_some_and(|default| default.is_object() || default.is_null())
            {
                object.remove("default");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(list) => list.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// `{"type": ["string", "null"]}` becomes `{"type": "string"}`, and the like.
fn drop_null(object: &mut Map<String, Value>) {
    for (keyword, null) in [("type", Value::from("null")), ("enum", Value::Null)] {
        if let Some(Value::Array(words)) = object.get_mut(keyword) {
            words.retain(|word| *word != null);
            if keyword == "type" && words.len() == 1 {
                let word = words.remove(0);
                object.insert(keyword.to_owned(), word);
            }
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            object.remove("anyOf");
            for (keyword, value) in only {
                object.entry(keyword).or_insert(value);
            }
        }
    }
}

/// The part of the schema that describes the value at a path.
pub(super) fn part<'s>(schema: &'s Value, path: &KeyPath) -> Option<&'s Value> {
    path.steps().iter().try_fold(schema, |schema, step| match step {
        Step::Key(name) => match schema.get("properties").and_then(|all| all.get(name)) {
            Some(property) => Some(property),
            None => schema.get("additionalProperties").filter(|rest| rest.is_object()),
        },
        Step::Index(_) => schema.get("items"),
    })
}

/// The names that a table may hold, unless it may hold any.
pub(super) fn keys(schema: &Value) -> Option<Vec<&str>> {
    let properties = schema.get("properties")?.as_object()?;
    Some(properties.keys().map(String::as_str).collect())
}

/// The words that a text may be, unless it may be any.
pub(super) fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let word = |choice: &'_ Value| choice.get("const").and_then(Value::as_str).is_some();
    if !choices.iter().all(word) {
        return None;
    }
    Some(choices.iter().filter_map(|choice| choice.get("const")?.as_str()).collect())
}
