//! Objects: the properties that must be there, those that may be, and those made up to reach
//! `minProperties`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::budget::{Fill, Meter};
use super::maker::{Ask, Maker};
use super::pattern::Pattern;
use super::schema::{Map, at_least, at_most, each};
use super::unusable::{Unusable, Why};

/// Tries at a name that is not taken yet.
const NAME_TRIES: u64 = 8;

/// The name of a property is text, whatever `propertyNames` says of it.
static TEXT: LazyLock<Value> = LazyLock::new(|| json!({ "type": "string" }));

impl<'s> Maker<'s, '_> {
    /// An object that satisfies all of these parts.
    pub(super) fn object(&mut self, parts: &[&'s Map], ask: Ask<'_>) -> Result<Value, Unusable> {
        let mut made = Map::new();
        let required = required(parts, &mut self.meter)?;
        self.meter.can_make(required.len() as u64)?;
        for name in &required {
            let value = self.property(parts, name, ask.turn)?;
            made.insert((*name).to_owned(), value);
        }
        let least = at_least(parts, "minProperties");
        self.meter.can_make(least)?;
        let most = at_most(parts, "maxProperties");
        let wanted = if self.fill == Fill::All { most } else { least };
        self.optional(parts, &mut made, wanted, ask.turn)?;
        self.invented(parts, &mut made, least, ask.turn)?;
        Ok(Value::Object(made))
    }

    fn property(&mut self, parts: &[&'s Map], name: &str, turn: u64) -> Result<Value, Unusable> {
        self.meter.bytes(name.len())?;
        let schemas = schemas_of(parts, name, &mut self.meter)?;
        self.make(&schemas, Ask { name, turn }).map_err(|error| error.within(name))
    }

    /// Adds declared properties until there are enough; one that cannot be made is left out.
    fn optional(
        &mut self,
        parts: &[&'s Map],
        made: &mut Map,
        wanted: u64,
        turn: u64,
    ) -> Result<(), Unusable> {
        // Sorted, so that the dice fall the same way however the map is ordered.
        let declared = each(parts, "properties").filter_map(Value::as_object);
        let names: BTreeSet<&String> = declared.flat_map(Map::keys).collect();
        self.meter.steps(names.len())?;
        for name in names {
            if made.len() as u64 >= wanted {
                break;
            }
            if made.contains_key(name) || self.leads_back(parts, name) {
                continue;
            }
            match self.property(parts, name, turn) {
                Ok(value) => _ = made.insert(name.clone(), value),
                Err(error) if error.why.is_final() => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn leads_back(&mut self, parts: &[&'s Map], name: &str) -> bool {
        let schemas = schemas_of(parts, name, &mut self.meter);
        schemas.and_then(|schemas| self.is_recursive(&schemas)).unwrap_or(true)
    }

    /// Adds properties under made-up names until there are enough.
    fn invented(
        &mut self,
        parts: &[&'s Map],
        made: &mut Map,
        least: u64,
        turn: u64,
    ) -> Result<(), Unusable> {
        while (made.len() as u64) < least {
            let name = self.free_name(parts, made)?;
            let value = self.property(parts, &name, turn)?;
            made.insert(name, value);
        }
        Ok(())
    }

    fn free_name(&mut self, parts: &[&'s Map], made: &Map) -> Result<String, Unusable> {
        for turn in 0..NAME_TRIES {
            let name = self.name(parts, made.len() as u64 + turn)?;
            if !made.contains_key(&name) {
                return Ok(name);
            }
        }
        Err(Why::NoValue("too few names can be made for the properties").into())
    }

    fn name(&mut self, parts: &[&'s Map], turn: u64) -> Result<String, Unusable> {
        let mut naming: Vec<&Value> = each(parts, "propertyNames").collect();
        if !naming.is_empty() {
            naming.push(&TEXT);
            let name = self.make(&naming, Ask { name: "key", turn })?;
            return name.as_str().map(str::to_owned).ok_or(Why::NotASchema.into());
        }
        let patterns = each(parts, "patternProperties").filter_map(Value::as_object);
        if let Some(pattern) = patterns.flat_map(Map::keys).next() {
            let parsed = Pattern::parse(pattern, &mut self.meter)?;
            let grow = u32::try_from(turn + 1).unwrap_or(u32::MAX);
            let written = parsed.write(self.dice, grow, self.budget.text);
            return written.ok_or_else(|| Why::pattern(pattern).into());
        }
        Ok(format!("key{}", turn + 1))
    }
}

/// The names that must be there, with those that they bring along, in order.
fn required<'s>(parts: &[&'s Map], meter: &mut Meter) -> Result<BTreeSet<&'s str>, Why> {
    let lists = each(parts, "required").filter_map(Value::as_array);
    let mut todo: Vec<&str> = lists.flatten().filter_map(Value::as_str).collect();
    meter.steps(todo.len())?;
    let mut names = BTreeSet::new();
    while let Some(name) = todo.pop() {
        if !names.insert(name) {
            continue;
        }
        meter.steps(parts.len())?;
        // `dependencies` is what draft 7 calls both `dependentRequired` and `dependentSchemas`.
        for keyword in ["dependentRequired", "dependencies"] {
            for list in each(parts, keyword).filter_map(|all| all.get(name)?.as_array()) {
                meter.steps(list.len())?;
                todo.extend(list.iter().filter_map(Value::as_str));
            }
        }
    }
    Ok(names)
}

/// Every schema that speaks about the property `name`.
fn schemas_of<'s>(parts: &[&'s Map], name: &str, meter: &mut Meter) -> Result<Vec<&'s Value>, Why> {
    let mut schemas = Vec::new();
    let mut is_known = false;
    for part in parts {
        meter.steps(1)?;
        let before = schemas.len();
        schemas.extend(part.get("properties").and_then(|all| all.get(name)));
        for (pattern, schema) in
            part.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
        {
            if Pattern::parse(pattern, meter)?.matches(name, meter)? {
                schemas.push(schema);
            }
        }
        is_known |= schemas.len() > before;
        if schemas.len() == before {
            schemas.extend(part.get("additionalProperties"));
        }
    }
    // A name that some part declares counts as evaluated for `unevaluatedProperties`.
    if !is_known {
        schemas.extend(each(parts, "unevaluatedProperties"));
    }
    Ok(schemas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Budget, arguments};
    use crate::seed::Seed;

    fn make(schema: &Value, fill: Fill) -> Result<Value, Unusable> {
        arguments(schema, &mut Seed(5).dice(0), &Budget { fill, ..Budget::default() })
    }

    #[test]
    fn only_what_is_required_or_everything_that_can_be_made() {
        let schema = json!({
            "properties": {
                "path": { "type": "string" },
                "query": { "type": "string" },
                "remote": { "$ref": "http://example.com/x" },
            },
            "required": ["path"],
        });
        assert_eq!(make(&schema, Fill::Required), Ok(json!({ "path": "." })));
        assert_eq!(make(&schema, Fill::All), Ok(json!({ "path": ".", "query": "hello" })));
    }

    #[test]
    fn required_names_bring_others_along() {
        let schema =
            json!({ "required": ["a"], "dependentRequired": { "a": ["b"], "b": ["a", "c"] } });
        let made = make(&schema, Fill::Required).unwrap();
        assert_eq!(made.as_object().unwrap().keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn names_are_made_up_to_reach_the_minimum() {
        let schema = json!({
            "patternProperties": { "^x_[a-z]{2,}$": { "type": "integer" } },
            "additionalProperties": false,
            "minProperties": 3,
        });
        assert_eq!(make(&schema, Fill::Required).unwrap().as_object().unwrap().len(), 3);
        let endless = json!({ "minProperties": 1e12 });
        assert_eq!(make(&endless, Fill::Required), Err(Why::TooMuch.into()));
    }

    #[test]
    fn an_error_says_where() {
        let schema = json!({
            "properties": { "a": { "properties": { "b": false }, "required": ["b"] } },
            "required": ["a"],
        });
        assert_eq!(make(&schema, Fill::Required).unwrap_err().at, "/a/b");
    }

    #[test]
    fn an_optional_property_that_cannot_be_made_is_left_out_alone() {
        let schema = json!({ "properties": {
            "never": { "type": "string", "minLength": 3, "maxLength": 2 },
            "query": { "type": "string" },
        } });
        assert_eq!(make(&schema, Fill::All), Ok(json!({ "query": "hello" })));
    }

    #[test]
    fn beyond_the_budget_only_what_is_required_is_filled() {
        let text = json!({ "type": "string", "minLength": 12 });
        let schema = json!({ "properties": { "a": text, "b": text }, "required": ["b"] });
        // The name and the text of one property take 13 bytes.
        for (total, expected) in [(26, 2), (25, 1)] {
            let budget = Budget { fill: Fill::All, total, ..Budget::default() };
            let made = arguments(&schema, &mut Seed(5).dice(0), &budget).unwrap();
            assert_eq!(made.as_object().map(Map::len), Some(expected), "{total}: {made}");
        }
    }

    #[test]
    fn made_up_names_avoid_those_that_are_taken() {
        let keys = |schema: Value| -> Result<Vec<String>, Why> {
            let made = make(&schema, Fill::Required).map_err(|error| error.why)?;
            Ok(made.as_object().unwrap().keys().cloned().collect())
        };
        for (schema, expected) in [
            (json!({ "minProperties": 2 }), Ok(vec!["key1".to_owned(), "key2".to_owned()])),
            (
                json!({ "required": ["key2"], "minProperties": 2 }),
                Ok(vec!["key2".to_owned(), "key3".to_owned()]),
            ),
            (
                json!({ "patternProperties": { "^x*$": true }, "minProperties": 1 }),
                Ok(vec!["x".to_owned()]),
            ),
            (
                json!({ "propertyNames": { "enum": ["a"] }, "minProperties": 2 }),
                Err(Why::NoValue("too few names can be made for the properties")),
            ),
        ] {
            assert_eq!(keys(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn a_name_that_nobody_declares_is_of_the_kind_for_the_rest() {
        for rest in ["unevaluatedProperties", "additionalProperties"] {
            let schema = json!({
                "properties": { "a": { "const": 1 } }, "required": ["a"],
                rest: { "const": 7 }, "minProperties": 2,
            });
            assert_eq!(make(&schema, Fill::Required), Ok(json!({ "a": 1, "key2": 7 })), "{rest}");
        }
    }
}
