//! The JSON Schema of the configuration. It is made from the types and their documentation, and
//! the reader takes its list of keys and words from it, so the two cannot disagree.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use super::{
    Config,
    path::{KeyPath, Step},
    scenario::is_used,
};
use crate::scenario::ScenarioName;

/// The key that says which scenario is meant.
const TYPE: &str = "type";

/// The JSON Schema (2020-12) of a configuration file.
pub fn schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    schema
}

impl ScenarioName {
    /// The JSON Schema (2020-12) of `[scenario]` for this scenario alone: no key of another is in it.
    ///
    /// ```
    /// # use mcp_loadtest_core::scenario::ScenarioName;
    /// let schema = ScenarioName::Spike.config_schema();
    /// assert!(schema["properties"]["spike_at"].is_object());
    /// assert!(schema["properties"]["ramp_to"].is_null());
    /// ```
    pub fn config_schema(self) -> Value {
        let mut schema = schema()["properties"]["scenario"].take();
        if let Some(Value::Object(keys)) = schema.get_mut("properties") {
            keys.retain(|key, _| key == TYPE || is_used(self, key));
            keys.insert(TYPE.into(), json!({ "const": self.as_str() }));
        }
        schema
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a scenario tells about its keys and what the reader says of them are the same.
    #[test]
    fn the_schema_of_a_scenario_has_its_keys_and_no_other() {
        for name in ScenarioName::ALL {
            let schema = name.config_schema();
            let listed = keys(&schema).expect("its keys");
            assert_eq!(schema["properties"]["type"]["const"], name.as_str());
            assert!(name.keys().iter().all(|key| listed.contains(key)), "{name}: {listed:?}");
            let foreign = ScenarioName::ALL.iter().flat_map(|other| other.keys());
            let mut foreign = foreign.filter(|key| !is_used(*name, key));
            assert!(foreign.all(|key| !listed.contains(key)), "{name}: {listed:?}");
            assert_eq!(schema["additionalProperties"], false);
        }
    }

    #[test]
    fn null_and_empty_defaults_are_left_out() {
        for (name, mut given, tidied) in [
            ("one type", json!({"type": ["string", "null"]}), json!({"type": "string"})),
            (
                "two types",
                json!({"type": ["object", "string", "null"]}),
                json!({"type": ["object", "string"]}),
            ),
            ("words", json!({"enum": ["a", null]}), json!({"enum": ["a"]})),
            (
                "one choice",
                json!({"description": "d", "anyOf": [{"description": "e", "minimum": 1}, {"type": "null"}]}),
                json!({"description": "d", "minimum": 1}),
            ),
            (
                "two choices",
                json!({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}),
                json!({"anyOf": [{"const": "a"}, {"const": "b"}]}),
            ),
            ("no default", json!({"default": null}), json!({})),
            ("an empty default", json!({"default": {"a": 1}}), json!({})),
            ("a default", json!({"default": 5}), json!({"default": 5})),
            (
                "deep down",
                json!({"items": [{"type": ["string", "null"]}], "properties": {"a": {"default": null}}}),
                json!({"items": [{"type": "string"}], "properties": {"a": {}}}),
            ),
        ] {
            tidy(&mut given);
            assert_eq!(given, tidied, "{name}");
        }
    }

    #[test]
    fn a_part_is_found_by_its_path() {
        let schema = json!({"properties": {
            "list": {"items": {"properties": {"a": {"type": "string"}}}},
            "map": {"additionalProperties": {"type": "number"}},
            "closed": {"additionalProperties": false},
        }});
        for (path, expected) in [
            ("list[3].a", Some(json!({"type": "string"}))),
            ("map.whatever", Some(json!({"type": "number"}))),
            ("closed.whatever", None),
            ("map[0]", None),
            ("other", None),
        ] {
            assert_eq!(part(&schema, &path.into()), expected.as_ref(), "{path}");
        }
        assert_eq!(keys(&schema), Some(vec!["closed", "list", "map"]));
        assert_eq!(keys(&json!({"type": "object"})), None);
    }

    #[test]
    fn words_are_known_only_where_nothing_else_may_stand() {
        for (schema, expected) in [
            (json!({"enum": ["a", "b"]}), Some(vec!["a", "b"])),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), Some(vec!["a", "b"])),
            (json!({"anyOf": [{"const": "a"}]}), Some(vec!["a"])),
            (json!({"oneOf": [{"const": "a"}, {"type": "string"}]}), None),
            (json!({"type": "string"}), None),
        ] {
            assert_eq!(words(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn texts_with_a_form_have_a_pattern() {
        let schema = schema();
        for (path, pattern) in [
            ("server.max_message", "KiB|MiB"),
            ("scenario.duration", "ms|s|m|h"),
            ("compare.p99", "off|"),
        ] {
            let part = part(&schema, &path.into()).expect(path);
            assert_eq!(part["type"], "string", "{path}");
            assert!(part["pattern"].as_str().is_some_and(|text| text.contains(pattern)), "{path}");
        }
        let baseline = part(&schema, &"compare.baseline".into()).expect("a baseline");
        assert_eq!((&baseline["type"], &baseline["minLength"]), (&json!("string"), &json!(1)));
    }
}
