//! An answer as the values in it that hold no others.

use std::collections::BTreeMap;

use serde_json::Value;

use super::MOST_LEAVES;

/// What the names of all places of an answer may take. One long name above a list stands in all of them.
pub(super) const MOST_NAMED: usize = 256 << 10;

/// All values of an answer that hold no others, by their place.
pub(super) struct Leaves {
    pub(super) values: BTreeMap<String, Value>,
    /// How many more there may be than are on their way.
    room: usize,
    /// How much more their names may take.
    names: usize,
}

impl Leaves {
    pub(super) fn of(value: &Value) -> Self {
        let (room, names) = (MOST_LEAVES - 1, MOST_NAMED);
        let mut leaves = Self { values: BTreeMap::new(), room, names };
        leaves.add(String::new(), value);
        leaves
    }

    fn add(&mut self, path: String, value: &Value) {
        match value {
            Value::Object(members)
                if self.make_room(members.len(), &path, members.keys().map(String::len).sum()) =>
            {
                // In order, so that equal answers run out of room at the same place.
                for (key, value) in members.iter().collect::<BTreeMap<_, _>>() {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    self.add(format!("{path}/{key}"), value);
                }
            }
            Value::Array(items) if self.make_room(items.len(), &path, 0) => {
                for (at, value) in items.iter().enumerate() {
                    self.add(format!("{path}/{at}"), value);
                }
            }
            Value::String(text) => match inner(text) {
                Some(value) => self.add(path, &value),
                None => self.leaf(path, value),
            },
            _ => self.leaf(path, value),
        }
    }

    /// Whether one value can be replaced by the `count` that it holds, whose own names take so much.
    fn make_room(&mut self, count: usize, path: &str, names: usize) -> bool {
        let room = count.checked_sub(1).and_then(|more| self.room.checked_sub(more));
        let names = self.names.checked_sub(count.saturating_mul(path.len() + 1) + names);
        let (Some(room), Some(names)) = (room, names) else { return false };
        (self.room, self.names) = (room, names);
        true
    }

    fn leaf(&mut self, path: String, value: &Value) {
        self.values.insert(path, value.clone());
    }
}

/// The JSON that a text holds, if it is an object or an array. Text within that is not looked into
/// again without end: each layer is shorter than the one around it.
fn inner(text: &str) -> Option<Value> {
    let text = text.trim();
    let looks_like_it = text.starts_with(['{', '[']) && text.len() > 2;
    looks_like_it.then(|| serde_json::from_str(text).ok())?
}
