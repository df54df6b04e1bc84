//! How a tool is described to clients: its schemas say what the operator allowed, so that a model
//! asks for nothing else.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{
    allow::{Policy, Who},
    tools::{Does, Tool},
};
use crate::error::CliError;

/// The arguments that name the server to test, for all tools that test one.
const WHO: [&str; 3] = ["server", "url", "server_command"];

/// A tool as `tools/list` has it.
pub(crate) fn describe(tool: &Tool, policy: &Policy) -> Described {
    let mut input = plain((tool.input)());
    if tool.does == Does::Tests {
        name_the_server(&mut input, policy);
        set_caps(&mut input, policy);
    }
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.does == Does::Reads)
        .destructive(tool.does == Does::Tests && policy.destructive)
        .open_world(tool.does == Does::Tests);
    Described::new(tool.name, tool.about, Arc::new(input))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(plain((tool.output)())))
        .with_annotations(annotations)
}

/// A schema that every validator knows: the names of Rust's numbers are formats to nobody else.
fn plain(schema: Schema) -> JsonObject {
    let mut value = schema.to_value();
    drop_formats(&mut value);
    match value {
        Value::Object(mut object) => {
            // What they say of the whole, the description of the tool says better.
            object.remove("title");
            object.remove("description");
            object.entry("properties").or_insert_with(|| json!({}));
            object
        }
        _ => Map::new(),
    }
}

fn drop_formats(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object
                .get("format")
                .is_some_and(|format| format.is_string() && format != "date-time")
            {
                object.remove("format");
            }
            object.values_mut().for_each(drop_formats);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_formats),
        _ => {}
    }
}

/// Adds the arguments that name a server, as far as they are allowed.
fn name_the_server(input: &mut JsonObject, policy: &Policy) {
    let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let names: Vec<_> = policy.servers.keys().collect();
    if !names.is_empty() {
        let about = match names.len() {
            1 => "The server to test; the only one that is allowed, so it may be left out.",
            _ => "The server to test.",
        };
        properties.insert(
            WHO[0].into(),
            json!({ "type": "string", "enum": names, "description": about }),
        );
    }
    if !policy.hosts.is_empty() {
        let hosts: Vec<_> = policy.hosts.iter().map(ToString::to_string).collect();
        let about =
            format!("The URL of a server that runs already, at one of {}.", hosts.join(", "));
        properties.insert(WHO[1].into(), json!({ "type": "string", "description": about }));
    }
    if policy.commands {
        let about = "The command that starts the server, as one would type it: `python -m my_mcp`. No \
                     shell reads it.";
        properties.insert(WHO[2].into(), json!({ "type": "string", "description": about }));
    }
}

fn set_caps(input: &mut JsonObject, policy: &Policy) {
    let seconds = policy.caps.duration.as_secs_f64();
    let caps = [
        ("concurrent", json!(policy.caps.concurrent)),
        ("duration_secs", json!(seconds)),
        ("hang_threshold_secs", json!(seconds)),
        ("grace_period_secs", json!(seconds)),
    ];
    for (name, most) in caps {
        let property = input.get_mut("properties").and_then(|all| all.get_mut(name));
        if let Some(property) = property.and_then(Value::as_object_mut) {
            // What is used when nothing is said must be allowed, too.
            let default = property.get("default").and_then(Value::as_f64);
            if default.is_some_and(|default| most.as_f64().is_some_and(|most| default > most)) {
                property.insert("default".into(), most.clone());
            }
            property.insert("maximum".into(), most);
        }
    }
}

/// What is left out is as the schema says it is, also where the operator allowed less than is usual.
pub(crate) fn fill_in_defaults(arguments: &mut JsonObject, input: &JsonObject) {
    let properties = input.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default").filter(|default| !default.is_null()) {
            arguments.entry(name.as_str()).or_insert_with(|| default.clone());
        }
    }
}

/// Takes out of the arguments how the server was named.
pub(crate) fn take_who(arguments: &mut JsonObject) -> Result<Who, CliError> {
    let mut take = |name: &str| match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(CliError::usage(format!("`{name}` is not a text"), "see the input schema")),
    };
    let [server, url, server_command] = WHO;
    Ok(Who { server: take(server)?, url: take(url)?, server_command: take(server_command)? })
}
