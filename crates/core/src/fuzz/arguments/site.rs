//! The places of a set of arguments, each with the keywords that hold there.

use serde_json::{Map, Value, json};

use super::{
    edit::{Edit, What},
    list, number, object, text,
};
use crate::{fuzz::Intent, generate, seed::Dice};

/// Places at most, and how deep they lie.
const MOST: usize = 48;
const DEEPEST: usize = 6;
/// Schemas that are opened at one place.
const MOST_SCHEMAS: usize = 64;

/// One place.
pub(super) struct Site<'s> {
    /// A JSON pointer.
    pub(super) at: String,
    /// The nearest name.
    pub(super) name: String,
    /// The value that stands there.
    pub(super) value: Value,
    keywords: Vec<&'s Map<String, Value>>,
}

/// All places, the outermost first.
pub(super) fn sites<'s>(schema: &'s Value, arguments: &Value) -> Vec<Site<'s>> {
    let mut found = Vec::new();
    walk(schema, opened(schema, schema), arguments, (String::new(), String::new()), &mut found);
    found
}

fn walk<'s>(
    root: &'s Value,
    keywords: Vec<&'s Map<String, Value>>,
    value: &Value,
    (at, name): (String, String),
    found: &mut Vec<Site<'s>>,
) {
    if found.len() >= MOST || at.matches('/').count() > DEEPEST {
        return;
    }
    let inner = |place: &dyn Fn(&'s Map<String, Value>) -> Option<&'s Value>| {
        let schemas = keywords.iter().filter_map(|map| place(map));
        schemas.flat_map(|schema| opened(root, schema)).collect::<Vec<_>>()
    };
    let mut below = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let named = inner(&|map| {
                    let listed = map.get("properties").and_then(|all| all.get(name));
                    listed.or_else(|| map.get("additionalProperties"))
                });
                let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                below.push((named, member.clone(), (place, name.clone())));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(2) {
                let each = inner(&|map| {
                    let listed = map.get("prefixItems").and_then(|all| all.get(index));
                    listed.or_else(|| map.get("items").filter(|items| !items.is_array()))
                });
                below.push((each, item.clone(), (format!("{at}/{index}"), name.clone())));
            }
        }
        _ => {}
    }
    found.push(Site { at, name, value: value.clone(), keywords });
    for (keywords, value, place) in below {
        walk(root, keywords, &value, place, found);
    }
}

/// The keywords of a schema and of all schemas that it stands for or chooses from.
fn opened<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Map<String, Value>> {
    let mut todo = vec![schema];
    let mut maps: Vec<&'s Map<String, Value>> = Vec::new();
    while let Some(schema) = todo.pop() {
        let Value::Object(map) = schema else { continue };
        if maps.len() >= MOST_SCHEMAS || maps.iter().any(|known| std::ptr::eq(*known, map)) {
            continue;
        }
        maps.push(map);
        let local = map.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
        todo.extend(local.and_then(|path| root.pointer(path)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            todo.extend(map.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
        todo.extend(["then", "else"].iter().filter_map(|keyword| map.get(*keyword)));
    }
    maps
}

/// A value of each type, and the type's name.
const KINDS: [&str; 6] = ["null", "boolean", "integer", "string", "array", "object"];

fn of_kind(kind: &str) -> Value {
    match kind {
        "null" => Value::Null,
        "boolean" => json!(true),
        "integer" => json!(7),
        "string" => json!("seven"),
        "array" => json!([7]),
        _ => json!({ "seven": 7 }),
    }
}

impl<'s> Site<'s> {
    /// What all schemas of this place say to a keyword.
    pub(super) fn each(&self, keyword: &'s str) -> impl Iterator<Item = &'s Value> {
        self.keywords.iter().filter_map(move |map| map.get(keyword))
    }

    /// Another value at this place.
    pub(super) fn set(
        &self,
        value: Value,
        what: impl std::fmt::Display,
        meant: Option<Intent>,
    ) -> Edit {
        Edit {
            at: self.at.clone(),
            label: self.labelled(what),
            what: What::Set(value),
            meant,
            heavy: false,
        }
    }

    /// What is odd, with its place.
    pub(super) fn labelled(&self, what: impl std::fmt::Display) -> String {
        let place = if self.at.is_empty() { "arguments" } else { &self.at };
        format!("{}: {what}", crate::display::visible(place, 60))
    }

    /// The limits of this place, one edit each.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let mut edits = self.kinds();
        edits.extend(self.listed());
        match &self.value {
            Value::Number(_) => edits.extend(number::edits(self)),
            Value::String(_) => edits.extend(text::edits(self)),
            Value::Array(items) => edits.extend(list::edits(self, items)),
            Value::Object(members) => edits.extend(object::edits(self, members)),
            _ => {}
        }
        edits
    }

    /// One edit by chance.
    pub(super) fn chance(&self, dice: &mut Dice) -> Edit {
        let fresh = dice.below(3) == 0;
        match &self.value {
            Value::Number(_) if fresh => number::chance(self, dice),
            Value::String(_) if fresh => text::chance(self, dice),
            _ => {
                let mut edits = self.edits();
                match edits.len() as u64 {
                    0 => self.set(self.value.clone(), "as it is", None),
                    count => edits.swap_remove(dice.below(count) as usize),
                }
            }
        }
    }

    /// Values of other types.
    fn kinds(&self) -> Vec<Edit> {
        let named: Vec<&str> = self
            .each("type")
            .flat_map(|kind| match kind {
                Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
                kind => kind.as_str().into_iter().collect(),
            })
            .collect();
        // The arguments as a whole are an object by the protocol itself.
        let named = if self.at.is_empty() { vec!["object"] } else { named };
        let is_named =
            |kind: &str| named.contains(&kind) || (kind == "integer" && named.contains(&"number"));
        // A tool that is told a number of seconds would take them.
        let is_a_wait = |kind: &str| kind == "integer" && self.is_waiting();
        KINDS
            .iter()
            .filter(|kind| !is_named(kind))
            .filter(|kind| !is_a_wait(kind))
            .map(|kind| {
                let meant = (!named.is_empty() && !self.at.is_empty()).then_some(Intent::Negative);
                self.set(of_kind(kind), format_args!("{kind} in place of its type"), meant)
            })
            .collect()
    }

    /// Values of a closed list, and one that is not in it.
    fn listed(&self) -> Vec<Edit> {
        let closed = self.each("enum").filter_map(Value::as_array).flatten().take(8);
        let mut edits: Vec<Edit> = closed
            .map(|value| self.set(value.clone(), "a listed value", Some(Intent::Positive)))
            .collect();
        if !edits.is_empty() || self.each("const").next().is_some() {
            let other = json!("mcp-loadtest is not listed");
            edits.push(self.set(other, "a value that is not listed", Some(Intent::Negative)));
        }
        edits
    }

    /// Whether a tool may wait for as long as a number here says.
    pub(super) fn is_waiting(&self) -> bool {
        generate::is_waiting(&self.name)
    }
}
