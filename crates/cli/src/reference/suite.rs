//! Every key of a suite, from the schema that it is checked by: the keys of the file first, then
//! whatever they are made of, each under a heading that the tables lead to.

use std::collections::VecDeque;

use mcp_loadtest_core::suite::{EXAMPLE, Suite};
use serde_json::Value;

use super::{
    config::{described, plain, properties},
    head, row, titled,
};

const DEFS: &str = "#/$defs/";

pub(super) fn page() -> String {
    let about = format!(
        "A YAML or JSON file for `mcp-loadtest test FILE`; schemas/suite.v1.json is for editors. \
         docs/design/suites.md says how agents are judged. `mcp-loadtest example-config --suite` \
         prints this one:\n\n```yaml\n{}\n```",
        EXAMPLE.trim_end()
    );
    let schema = Suite::json_schema();
    let mut page = Page { schema: &schema, text: titled("Suites", &about), queue: VecDeque::new() };
    page.text.push_str("\n## The file\n");
    page.keys(&schema);
    page.rest();
    page.text
}

struct Page<'a> {
    schema: &'a Value,
    text: String,
    /// What was spoken of, in that order; the first so many have been told.
    queue: VecDeque<String>,
}

impl Page<'_> {
    /// Tells everything that was spoken of, which may speak of more.
    fn rest(&mut self) {
        let mut told = 0;
        while let Some(name) = self.queue.get(told).cloned() {
            told += 1;
            let entry = &self.schema["$defs"][&name];
            self.text.push_str(&format!("\n## {name}\n\n{}\n", described(entry)));
            match choices(entry) {
                Some(choices) => self.choices(choices),
                None => self.keys(entry),
            }
        }
    }

    fn keys(&mut self, entry: &Value) {
        self.text.push_str(&head(&["key", "value", "meaning"]));
        let is_required = |key: &str| {
            entry["required"].as_array().is_some_and(|keys| keys.iter().any(|one| one == key))
        };
        for (key, value) in properties(entry) {
            let must = if is_required(key) { " (required)" } else { "" };
            let kind = self.kind(value);
            self.text.push_str(&row(&[&format!("`{key}`{must}"), &kind, &described(value)]));
        }
    }

    /// Words of which one is chosen, or keys of which one is given.
    fn choices(&mut self, choices: &[Value]) {
        self.text.push_str(&head(&["one of", "value", "meaning"]));
        for choice in choices {
            let told = match (choice["const"].as_str(), properties(choice).iter().next()) {
                (Some(word), _) => [format!("`{word}`"), String::new()],
                (None, Some((key, value))) => [format!("`{key}:`"), self.kind(value)],
                (None, None) => [self.kind(choice), String::new()],
            };
            self.text.push_str(&row(&[&told[0], &told[1], &described(choice)]));
        }
    }

    /// What a value is, in few words; what has a table of its own is led to.
    fn kind(&mut self, value: &Value) -> String {
        let name = value["$ref"].as_str().and_then(|reference| reference.strip_prefix(DEFS));
        if let Some(name) = name {
            let entry = &self.schema["$defs"][name];
            if properties(entry).is_empty() && choices(entry).is_none() {
                return self.kind(entry);
            }
            if !self.queue.iter().any(|known| known == name) {
                self.queue.push_back(name.to_owned());
            }
            return format!("[{name}](#{})", name.to_lowercase());
        }
        if let Some(words) = value["enum"].as_array() {
            return words
                .iter()
                .map(|word| format!("`{}`", plain(word)))
                .collect::<Vec<_>>()
                .join(", ");
        }
        if let Some(alternatives) = alternatives(value) {
            let is_nothing = |one: &&Value| one["type"] == "null";
            let kinds = alternatives.iter().filter(|one| !is_nothing(one));
            return kinds.map(|one| self.kind(one)).collect::<Vec<_>>().join(" or ");
        }
        self.plain_kind(value)
    }

    fn plain_kind(&mut self, value: &Value) -> String {
        let types = match &value["type"] {
            Value::String(name) => name.clone(),
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                names.collect::<Vec<_>>().join(" or ")
            }
            _ => "any".into(),
        };
        match types.as_str() {
            "array" => format!("list of {}", self.kind(&value["items"])),
            "object" if value["additionalProperties"].is_object() => {
                format!("names and {}", self.kind(&value["additionalProperties"]))
            }
            _ => match value["examples"].get(0) {
                Some(example) => format!("{types}, such as `{}`", plain(example)),
                None => types,
            },
        }
    }
}

fn alternatives(value: &Value) -> Option<&Vec<Value>> {
    value["oneOf"].as_array().or_else(|| value["anyOf"].as_array())
}

/// Alternatives that are worth a table: each of them is a word, or has keys.
fn choices(entry: &Value) -> Option<&[Value]> {
    entry["oneOf"].as_array().map(Vec::as_slice)
}
