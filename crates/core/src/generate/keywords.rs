//! Which keywords of a schema a value puts to the test.
//!
//! A keyword is reached when the value has something at its place: the limits of an argument that is
//! never given are never tried, and a test that leaves them out should say so.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    budget::{Budget, Meter},
    check::Check,
    schema::{Map, resolve},
};

/// Places and depths beyond these are not looked at: the schema comes from a peer.
const MOST: usize = 4_000;
const DEEPEST: usize = 32;

/// They demand something of a value. The others name, describe, or lead to further schemas.
const DEMANDS: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
];
const BRANCHES: &[&str] = &["anyOf", "oneOf"];

/// Every keyword of a schema that demands something, by its place: `/limit minimum`.
pub fn all(schema: &Value) -> BTreeSet<String> {
    let mut walk = Walk::new(schema);
    walk.schema(schema, None, "", 0);
    walk.found
}

/// Those of them that a value reaches.
///
/// ```
/// use mcp_loadtest_core::generate::keywords;
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "n": { "minimum": 0 }, "unit": { "enum": ["m", "km"] } } });
/// assert_eq!(keywords::all(&schema).len(), 2);
/// assert!(keywords::reached(&schema, &json!({ "n": 3 })).into_iter().eq(["/n minimum"]));
/// ```
pub fn reached(schema: &Value, value: &Value) -> BTreeSet<String> {
    let mut walk = Walk::new(schema);
    walk.schema(schema, Some(value), "", 0);
    walk.found
}

struct Walk<'s> {
    root: &'s Value,
    visits: usize,
    found: BTreeSet<String>,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        Self { root, visits: 0, found: BTreeSet::new() }
    }

    /// One schema; without a value, all that any value could reach.
    fn schema(&mut self, schema: &'s Value, value: Option<&Value>, place: &str, depth: usize) {
        self.visits += 1;
        let Some(map) = schema.as_object() else { return };
        if self.visits > MOST || depth > DEEPEST {
            return;
        }
        let demands = DEMANDS.iter().filter(|keyword| map.contains_key(**keyword));
        self.found.extend(demands.map(|keyword| format!("{place} {keyword}").trim().to_owned()));
        if map.get("additionalProperties") == Some(&Value::Bool(false)) {
            self.found.insert(format!("{place} additionalProperties").trim().to_owned());
        }
        self.elsewhere(map, value, place, depth + 1);
        self.members(map, value, place, depth + 1);
        self.items(map, value, place, depth + 1);
    }

    /// References and alternatives: the same value, another schema.
    fn elsewhere(&mut self, map: &'s Map, value: Option<&Value>, place: &str, depth: usize) {
        let reference = map.get("$ref").and_then(Value::as_str);
        if let Some(Ok(schema)) = reference.map(|reference| resolve(self.root, reference)) {
            self.schema(schema, value, place, depth);
        }
        for schema in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.schema(schema, value, place, depth);
        }
        for keyword in BRANCHES {
            let branches = map.get(*keyword).and_then(Value::as_array).into_iter().flatten();
            for (at, branch) in branches.enumerate() {
                let place = format!("{place} {keyword}[{at}]").trim().to_owned();
                if value.is_none_or(|value| self.holds(branch, value)) {
                    self.found.insert(place.clone());
                    self.schema(branch, value, &place, depth);
                }
            }
        }
    }

    fn holds(&self, branch: &Value, value: &Value) -> bool {
        let budget = Budget::default();
        let mut meter = Meter::new(&budget);
        Check::new(self.root, &budget, &mut meter).schema(branch, value).unwrap_or(false)
    }

    fn members(&mut self, map: &'s Map, value: Option<&Value>, place: &str, depth: usize) {
        let properties = map.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let member = value.map(|value| value.get(name));
            if member != Some(None) {
                self.schema(schema, member.flatten(), &format!("{place}/{name}"), depth);
            }
        }
        let Some(rest) = map.get("additionalProperties").filter(|rest| rest.is_object()) else {
            return;
        };
        let place = format!("{place}/*");
        let is_named = |name: &str| properties.is_some_and(|known| known.contains_key(name));
        match value.map(Value::as_object) {
            None => self.schema(rest, None, &place, depth),
            Some(members) => {
                for (_, member) in members.into_iter().flatten().filter(|(name, _)| !is_named(name))
                {
                    self.schema(rest, Some(member), &place, depth);
                }
            }
        }
    }

    fn items(&mut self, map: &'s Map, value: Option<&Value>, place: &str, depth: usize) {
        let first = map.get("prefixItems").and_then(Value::as_array);
        let first: &[Value] = first.map_or(&[], Vec::as_slice);
        for (at, schema) in first.iter().enumerate() {
            let item = value.map(|value| value.get(at));
            if item != Some(None) {
                self.schema(schema, item.flatten(), &format!("{place}[{at}]"), depth);
            }
        }
        let Some(schema) = map.get("items") else { return };
        let place = format!("{place}[]");
        match value.map(Value::as_array) {
            None => self.schema(schema, None, &place, depth),
            Some(items) => {
                for item in items.into_iter().flatten().skip(first.len()) {
                    self.schema(schema, Some(item), &place, depth);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn missed(schema: &Value, value: &Value) -> Vec<String> {
        all(schema).difference(&reached(schema, value)).cloned().collect()
    }

    #[test]
    fn an_argument_that_is_not_given_reaches_nothing() {
        let schema = json!({
            "type": "object",
            "properties": {
                "q": { "type": "string", "minLength": 1, "description": "words" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            },
            "required": ["q"],
            "additionalProperties": false,
        });
        assert_eq!(all(&schema).len(), 10);
        let rest = missed(&schema, &json!({ "q": "x", "tags": [] }));
        assert_eq!(rest, ["/limit maximum", "/limit minimum", "/limit type", "/tags[] enum"]);
        assert!(missed(&schema, &json!({ "q": "x", "limit": 1, "tags": ["a"] })).is_empty());
    }

    #[test]
    fn only_the_alternative_that_holds_is_reached() {
        let schema = json!({
            "$defs": { "id": { "type": "string", "format": "uuid" } },
            "properties": { "of": { "anyOf": [{ "$ref": "#/$defs/id" }, { "type": "integer" }] } },
        });
        let rest = missed(&schema, &json!({ "of": 3 }));
        assert_eq!(rest, ["/of anyOf[0]", "/of anyOf[0] format", "/of anyOf[0] type"]);
    }

    #[test]
    fn hostile_schemas_end() {
        let ring =
            json!({ "$ref": "#", "allOf": [{ "$ref": "#" }, { "$ref": "#" }], "type": "object" });
        assert_eq!(all(&ring).len(), 1);
        let deep =
            json!({ "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#" } }, "enum": [1] });
        assert!(all(&deep).len() <= MOST);
    }

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn members_that_are_not_named_reach_what_holds_for_the_rest() {
        let schema = json!({
            "properties": { "a": { "type": "string" } },
            "additionalProperties": { "type": "integer", "minimum": 1 },
        });
        assert_eq!(all(&schema), set(&["/a type", "/* type", "/* minimum"]));
        assert_eq!(reached(&schema, &json!({ "a": "x" })), set(&["/a type"]));
        assert_eq!(reached(&schema, &json!({ "b": 3 })), set(&["/* type", "/* minimum"]));
    }

    #[test]
    fn items_reach_their_own_schema_or_that_of_the_rest() {
        let schema = json!({
            "prefixItems": [{ "type": "string" }, { "minimum": 1 }], "items": { "enum": [1] },
        });
        assert_eq!(all(&schema), set(&["[0] type", "[1] minimum", "[] enum"]));
        assert_eq!(reached(&schema, &json!(["x"])), set(&["[0] type"]));
        assert_eq!(reached(&schema, &json!(["x", 2])), set(&["[0] type", "[1] minimum"]));
        assert_eq!(reached(&schema, &json!(["x", 2, 1])), all(&schema));
    }

    #[test]
    fn schemas_are_looked_at_down_to_the_deepest_level() {
        let ways: [fn(Value) -> Value; 3] = [
            |inner| json!({ "enum": [], "anyOf": [inner] }),
            |inner| json!({ "enum": [], "properties": { "a": inner } }),
            |inner| json!({ "enum": [], "items": inner }),
        ];
        for (at, way) in ways.into_iter().enumerate() {
            let schema = (0..40).fold(json!({}), |inner, _| way(inner));
            let enums = all(&schema).into_iter().filter(|place| place.ends_with("enum"));
            assert_eq!(enums.count(), DEEPEST + 1, "way {at}");
        }
    }

    #[test]
    fn so_many_schemas_are_looked_at_and_no_more() {
        // The schema itself is one of them.
        for (properties, expected) in [(MOST - 1, MOST - 1), (MOST, MOST - 1)] {
            let members: Map =
                (0..properties).map(|n| (format!("p{n}"), json!({ "const": n }))).collect();
            assert_eq!(all(&json!({ "properties": members })).len(), expected, "{properties}");
        }
    }
}
