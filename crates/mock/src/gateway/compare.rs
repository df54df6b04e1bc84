//! What differs between two JSON values.

use mcp_loadtest_core::display::visible;
use serde_json::{Map, Value};

/// How much of a value is shown.
const SHOWN: usize = 60;

/// What was done to a value on its way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Members that were not there before.
    pub(super) added: Vec<String>,
    /// Members that are gone, and values that are others.
    pub(super) changed: Vec<String>,
}

/// What came out, held against what went in.
pub(super) fn differences(sent: &Value, arrived: &Value) -> Differences {
    let mut differences = Differences::default();
    differences.value("", sent, arrived);
    differences
}

impl Differences {
    fn value(&mut self, path: &str, sent: &Value, arrived: &Value) {
        match (sent, arrived) {
            (Value::Object(sent), Value::Object(arrived)) => self.members(path, sent, arrived),
            (Value::Array(sent), Value::Array(arrived)) if sent.len() == arrived.len() => {
                for (index, (sent, arrived)) in sent.iter().zip(arrived).enumerate() {
                    self.value(&format!("{path}[{index}]"), sent, arrived);
                }
            }
            _ if sent == arrived => {}
            _ => self.changed.push(format!("`{path}` {} became {}", short(sent), short(arrived))),
        }
    }

    fn members(&mut self, path: &str, sent: &Map<String, Value>, arrived: &Map<String, Value>) {
        let inside = |name: &str| {
            let name = visible(name, SHOWN);
            if path.is_empty() { name } else { format!("{path}.{name}") }
        };
        for (name, value) in sent {
            match arrived.get(name) {
                Some(other) => self.value(&inside(name), value, other),
                None => self.changed.push(format!("`{}` {} is gone", inside(name), short(value))),
            }
        }
        for (name, value) in arrived.iter().filter(|(name, _)| !sent.contains_key(*name)) {
            self.added.push(format!("`{}` {}", inside(name), short(value)));
        }
    }
}

fn short(value: &Value) -> String {
    visible(&value.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_difference_is_told_with_its_place() {
        let sent = json!({"a": {"b": [1, 2]}, "gone": null, "same": "x"});
        let arrived = json!({"a": {"b": [1, 2.5], "new": true}, "same": "x"});
        let told = differences(&sent, &arrived);
        assert_eq!(told.added, ["`a.new` true"]);
        assert_eq!(told.changed, ["`a.b[1]` 2 became 2.5", "`gone` null is gone"]);
        assert_eq!(differences(&sent, &sent), Differences::default());
    }
}
