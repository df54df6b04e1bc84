//! Arrays: one item unless the schema asks for more, each different where it can be.

use std::collections::HashSet;

use serde_json::Value;

use super::maker::{Ask, Maker};
use super::schema::{Map, as_count, at_least, at_most, each};
use super::unusable::{Unusable, Why};

/// Tries at an item that is not in the array yet.
const ITEM_TRIES: u64 = 8;

/// How many items are wanted: `least` must be there, `aim` are made if they can be.
struct Count {
    least: u64,
    aim: u64,
    /// How many of the first items have a schema of their own.
    tuple: u64,
    /// How many of the first items must also satisfy `contains`.
    contained: u64,
}

impl<'s> Maker<'s, '_> {
    /// An array that satisfies all of these parts.
    pub(super) fn array(&mut self, parts: &[&'s Map], ask: Ask<'_>) -> Result<Value, Unusable> {
        let count = count(parts)?;
        self.meter.can_make(count.aim)?;
        let is_unique = each(parts, "uniqueItems").any(|unique| unique == true);
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        for index in 0..count.aim {
            self.meter.steps(parts.len())?;
            let schemas = schemas_of(parts, index, index < count.contained);
            let may_stop = index >= count.least;
            if may_stop && self.is_recursive(&schemas).unwrap_or(true) {
                break;
            }
            let seen = is_unique.then_some(&mut seen);
            let turn = ask.turn + index.saturating_sub(count.tuple);
            match self.item(&schemas, Ask { turn, ..ask }, seen) {
                Ok(item) => items.push(item),
                Err(error) if error.why.is_final() || !may_stop => {
                    return Err(error.within(&index.to_string()));
                }
                Err(_) => break,
            }
        }
        Ok(Value::Array(items))
    }

    fn item(
        &mut self,
        schemas: &[&'s Value],
        ask: Ask<'_>,
        seen: Option<&mut HashSet<String>>,
    ) -> Result<Value, Unusable> {
        let Some(seen) = seen else { return self.make(schemas, ask) };
        for again in 0..ITEM_TRIES {
            let item = self.make(schemas, Ask { turn: ask.turn + again, ..ask })?;
            if seen.insert(item.to_string()) {
                return Ok(item);
            }
        }
        Err(Why::NoValue("too few different items can be made").into())
    }
}

fn count(parts: &[&Map]) -> Result<Count, Why> {
    let contained = match each(parts, "contains").next() {
        None => 0,
        Some(_) => each(parts, "minContains").filter_map(as_count).max().unwrap_or(1),
    };
    let least = at_least(parts, "minItems").max(contained);
    let most = at_most(parts, "maxItems");
    if least > most {
        return Err(Why::NoValue("`minItems` is more than `maxItems`"));
    }
    let tuples = each(parts, "prefixItems").chain(each(parts, "items")).filter_map(Value::as_array);
    let tuple = tuples.map(|items| items.len() as u64).max().unwrap_or(0);
    Ok(Count { least, aim: least.max(tuple).max(1).min(most), tuple, contained })
}

/// Every schema that speaks about the item at `index`.
fn schemas_of<'s>(parts: &[&'s Map], index: u64, is_contained: bool) -> Vec<&'s Value> {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let mut schemas = Vec::new();
    for part in parts {
        // Before 2020-12, `items` held the tuple and `additionalItems` the rest.
        let (tuple, rest) = match part.get("items") {
            Some(Value::Array(tuple)) => (Some(tuple), "additionalItems"),
            _ => (part.get("prefixItems").and_then(Value::as_array), "items"),
        };
        schemas.extend(tuple.and_then(|tuple| tuple.get(index)).or_else(|| part.get(rest)));
        if is_contained {
            schemas.extend(part.get("contains"));
        }
    }
    schemas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Budget, arguments};
    use crate::seed::Seed;
    use serde_json::json;

    fn make(array: Value) -> Result<Value, Unusable> {
        let schema = json!({ "properties": { "paths": array }, "required": ["paths"] });
        let made = arguments(&schema, &mut Seed(5).dice(0), &Budget::default());
        made.map(|mut made| made["paths"].take())
    }

    #[test]
    fn one_item_unless_more_are_asked_for() {
        assert_eq!(
            make(json!({ "type": "array", "items": { "type": "string" } })),
            Ok(json!(["."]))
        );
        let tuple = json!({ "prefixItems": [{ "const": 1 }, { "const": "a" }], "items": false });
        assert_eq!(make(tuple), Ok(json!([1, "a"])));
        assert_eq!(make(json!({ "type": "array", "maxItems": 0 })), Ok(json!([])));
        assert_eq!(make(json!({ "type": "array", "items": false })), Ok(json!([])));
    }

    #[test]
    fn unique_items_differ() {
        let listed =
            json!({ "items": { "enum": ["a", "b", "c"] }, "uniqueItems": true, "minItems": 3 });
        assert_eq!(make(listed), Ok(json!(["a", "b", "c"])));
        let flags = json!({ "items": { "type": "boolean" }, "uniqueItems": true, "minItems": 3 });
        assert!(matches!(make(flags).unwrap_err().why, Why::NoValue(_)));
        let many = json!({ "items": { "type": "string" }, "uniqueItems": true, "minItems": 50 });
        assert_eq!(make(many).unwrap().as_array().unwrap().len(), 50);
    }

    #[test]
    fn contained_items_come_first() {
        let items = json!({ "type": "integer" });
        let schema = json!({ "type": "array", "items": items, "contains": { "minimum": 100 } });
        assert!(make(schema).unwrap()[0].as_i64().unwrap() >= 100);
    }

    #[test]
    fn an_item_that_is_there_already_is_made_otherwise() {
        let doubled = json!({ "items": { "enum": ["a", "b", "a", "c"] }, "uniqueItems": true, "minItems": 3 });
        assert_eq!(make(doubled), Ok(json!(["a", "b", "c"])));
        let same = json!({ "items": { "const": 1 }, "uniqueItems": false, "minItems": 2 });
        assert_eq!(make(same), Ok(json!([1, 1])));
    }

    #[test]
    fn an_item_that_cannot_be_made_is_left_out_unless_it_must_be_there() {
        let never = json!({ "type": "string", "minLength": 3, "maxLength": 2 });
        assert_eq!(make(json!({ "type": "array", "items": never })), Ok(json!([])));
        let error = make(json!({ "type": "array", "items": never, "minItems": 1 })).unwrap_err();
        assert_eq!(error.at, "/paths/0");
        let huge = json!({ "items": { "type": "array", "minItems": 1e12 } });
        assert_eq!(make(huge).unwrap_err().why, Why::TooMuch);
    }

    #[test]
    fn counts_meet_and_only_so_many_items_satisfy_contains() {
        let count = |least, most| {
            let items = json!({ "const": 1 });
            make(json!({ "items": items, "minItems": least, "maxItems": most }))
        };
        assert_eq!(count(2, 2), Ok(json!([1, 1])));
        assert_eq!(count(1, 2), Ok(json!([1])));
        assert_eq!(
            count(3, 2).unwrap_err().why,
            Why::NoValue("`minItems` is more than `maxItems`")
        );
        let made = make(json!({
            "items": { "type": "integer" }, "contains": { "minimum": 100 }, "maxContains": 1,
            "minItems": 2,
        }));
        let large: Vec<bool> =
            made.unwrap().as_array().unwrap().iter().map(|n| n.as_i64() >= Some(100)).collect();
        assert_eq!(large, [true, false]);
    }

    #[test]
    fn tuples_of_older_drafts_are_made_too() {
        let tuple = json!({
            "items": [{ "const": 1 }, { "const": "a" }], "additionalItems": { "const": 2 },
            "minItems": 3,
        });
        assert_eq!(make(tuple), Ok(json!([1, "a", 2])));
    }
}
