//! Fills arguments into what a file says: `${args.x}` in any text of a reply.

use serde_json::{Map, Value};

const BEGIN: &str = "${args.";

/// The same value with the arguments filled in. A text that is nothing but one place becomes the
/// argument itself, whatever its type; a place for which there is no argument becomes nothing.
pub(crate) fn fill(value: &Value, arguments: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => fill_text(text, arguments),
        Value::Array(items) => items.iter().map(|item| fill(item, arguments)).collect(),
        Value::Object(members) => {
            let filled = |(key, member): (&String, &Value)| (key.clone(), fill(member, arguments));
            Value::Object(members.iter().map(filled).collect())
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, arguments: &Map<String, Value>) -> Value {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, place)) = rest.split_once(BEGIN) {
        let Some((path, after)) = place.split_once('}') else { break };
        if !before.is_empty() {
            parts.push(Value::from(before));
        }
        parts.push(find(path, arguments).cloned().unwrap_or_else(|| Value::from("")));
        rest = after;
    }
    if parts.is_empty() {
        return text.into();
    }
    match (parts.len(), rest.is_empty()) {
        (1, true) => parts.remove(0),
        _ => parts.iter().map(plain).chain([rest.to_owned()]).collect::<String>().into(),
    }
}

/// `a.b.0` leads through objects and arrays.
fn find<'a>(path: &str, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
    let mut steps = path.split('.');
    let first = arguments.get(steps.next()?)?;
    steps.try_fold(first, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_filled_in_wherever_text_stands() {
        let arguments = json!({"city": "Bonn", "n": 3, "deep": {"list": ["a", "b"]}});
        let arguments = arguments.as_object().unwrap();
        let filled = fill(
            &json!({
                "text": "weather in ${args.city}: ${args.n}",
                "n": "${args.n}",
                "list": ["${args.deep.list.1}", 7],
                "none": "[${args.none}]",
                "open": "${args.city",
            }),
            arguments,
        );
        assert_eq!(
            filled,
            json!({
                "text": "weather in Bonn: 3",
                "n": 3,
                "list": ["b", 7],
                "none": "[]",
                "open": "${args.city",
            })
        );
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let arguments = json!({"a": "${args.b}", "b": "secret"});
        let filled = fill(&json!("x ${args.a}"), arguments.as_object().unwrap());
        assert_eq!(filled, "x ${args.b}");
    }
}
