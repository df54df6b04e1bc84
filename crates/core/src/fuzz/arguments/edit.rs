//! One change to a set of arguments.

use serde_json::{Map, Value};

use crate::fuzz::Intent;

/// Stands in a text for half of a surrogate pair, which no Rust string can hold.
pub(super) const LONE_SURROGATE: &str = "\u{f8ff}mcp-loadtest-lone-surrogate\u{f8ff}";

/// One change.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    /// Where: a JSON pointer.
    pub(super) at: String,
    pub(super) what: What,
    /// What is odd about the result.
    pub(super) label: String,
    /// What the result is meant to be, where the edit promises anything.
    pub(super) meant: Option<Intent>,
    /// Whether it may keep an honest tool busy.
    pub(super) heavy: bool,
}

/// What is done there.
#[derive(Debug, Clone)]
pub(super) enum What {
    Set(Value),
    Remove(String),
    Add(String, Value),
}

impl Edit {
    /// The arguments with the change; where its place is gone, as they are.
    pub(super) fn applied(&self, arguments: &Value) -> Value {
        let mut changed = arguments.clone();
        let members = |place: &mut Value, change: &dyn Fn(&mut Map<String, Value>)| {
            if let Value::Object(members) = place {
                change(members);
            }
        };
        if let Some(place) = changed.pointer_mut(&self.at) {
            match &self.what {
                What::Set(value) => *place = value.clone(),
                What::Remove(name) => members(place, &|members| _ = members.remove(name)),
                What::Add(name, value) => {
                    members(place, &|members| _ = members.insert(name.clone(), value.clone()));
                }
            }
        }
        changed
    }
}

/// The arguments as they are sent, and whether they are plain JSON.
pub(super) fn written(value: &Value) -> (String, bool) {
    let text = value.to_string();
    match text.contains(LONE_SURROGATE) {
        true => (text.replace(LONE_SURROGATE, "\\ud800"), false),
        false => (text, true),
    }
}
