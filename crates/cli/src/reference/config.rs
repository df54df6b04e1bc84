//! Every key of a configuration file, from the schema that it is checked by.

use mcp_loadtest_core::config;
use serde_json::{Map, Value};

use super::{head, row, titled};

pub(super) fn page() -> String {
    let about = "A TOML file for `mcp-loadtest run --config FILE`; `mcp-loadtest example-config` \
                 prints one with comments, schemas/config.v1.json is for editors. Flags win.";
    let schema = config::schema();
    let mut text = titled("Configuration", about);
    for (name, section) in properties(&schema) {
        text.push_str(&format!("\n## [{name}]\n\n{}\n", described(section)));
        text.push_str(&head(&["key", "value", "meaning"]));
        keys(&mut text, "", resolved(&schema, section), &schema);
    }
    text
}

pub(super) fn properties(schema: &Value) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    schema.get("properties").and_then(Value::as_object).unwrap_or(&NONE)
}

/// One row for each key; tables in tables are told with a dot.
fn keys(text: &mut String, before: &str, section: &Value, schema: &Value) {
    for (key, value) in properties(section) {
        let value = resolved(schema, value);
        let name = format!("{before}{key}");
        text.push_str(&row(&[&format!("`{name}`"), &kind(value, schema), &described(value)]));
        let inner = match value.get("items") {
            Some(items) => (format!("{name}[]."), resolved(schema, items)),
            None => (format!("{name}."), value),
        };
        keys(text, &inner.0, inner.1, schema);
    }
}

pub(super) fn described(value: &Value) -> String {
    value["description"].as_str().unwrap_or_default().to_owned()
}

/// What a reference within the schema means.
fn resolved<'a>(schema: &'a Value, value: &'a Value) -> &'a Value {
    let pointer = value.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix('#'));
    pointer.and_then(|pointer| schema.pointer(pointer)).unwrap_or(value)
}

fn kind(value: &Value, schema: &Value) -> String {
    let choices = ["enum", "oneOf", "anyOf"].iter().find_map(|key| value.get(key)?.as_array());
    if let Some(choices) = choices {
        let word = |choice: &Value| {
            let choice = resolved(schema, choice);
            match choice.as_str().or(choice.get("const").and_then(Value::as_str)) {
                Some(word) => format!("`{word}`"),
                None => kind(choice, schema),
            }
        };
        let mut words: Vec<_> = choices.iter().map(word).collect();
        words.dedup();
        return words.join(", ");
    }
    let types = match value.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".into(),
    };
    let example = value.get("examples").and_then(|examples| examples.get(0));
    match example {
        Some(example) => format!("{types}, such as `{}`", plain(example)),
        None => types,
    }
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
