//! Reading a schema: what is admitted, where `$ref` leads, and which keywords hold together.
//!
//! Nothing is merged or copied. The demands on one value are a list of keyword maps that must all
//! hold ([`Shape`]), so a reference that is used ten thousand times costs ten thousand pointers.

use serde_json::Value;

use super::budget::{Budget, Meter, weight};
use super::unusable::Why;

/// The keywords of one schema object.
pub(crate) type Map = serde_json::Map<String, Value>;

/// Alternatives of which one is taken; each is a list of schemas that then hold too.
pub(super) type Choice<'s> = Vec<Vec<&'s Value>>;

/// Everything that is demanded of one value.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape<'s> {
    /// Keyword maps that must all hold.
    pub(super) parts: Vec<&'s Map>,
    /// Choices (`anyOf`, `oneOf`, `if`, `dependentSchemas`) that are still to be made.
    pub(super) choices: Vec<Choice<'s>>,
    /// The references that led here.
    pub(super) refs: Vec<&'s str>,
}

/// Refuses what is not worth a look: no schema, too large, or not JSON Schema.
pub(super) fn admit(schema: &Value, budget: &Budget) -> Result<(), Why> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err(Why::NotASchema);
    }
    if weight(schema, budget.schema).is_none() {
        return Err(Why::SchemaTooLarge(budget.schema));
    }
    match schema.get("$schema").and_then(Value::as_str) {
        Some(dialect) if !is_known(dialect) => Err(Why::dialect(dialect)),
        _ => Ok(()),
    }
}

/// Every published draft lives under this host; their differences are tolerated, not told apart.
fn is_known(dialect: &str) -> bool {
    let rest = dialect.strip_prefix("http://").or_else(|| dialect.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.starts_with("json-schema.org/"))
}

/// Opens `$ref` and `allOf` until only keyword maps and choices are left.
pub(super) fn flatten<'s>(
    root: &'s Value,
    schemas: &[&'s Value],
    meter: &mut Meter,
) -> Result<Shape<'s>, Why> {
    let mut shape = Shape::default();
    let mut todo = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = todo.get(next) {
        next += 1;
        meter.steps(1)?;
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => return Err(Why::NoValue("the schema `false` allows no value")),
            Value::Object(map) => shape.open(root, map, &mut todo, meter)?,
            _ => return Err(Why::NotASchema),
        }
    }
    Ok(shape)
}

impl<'s> Shape<'s> {
    fn open(
        &mut self,
        root: &'s Value,
        map: &'s Map,
        todo: &mut Vec<&'s Value>,
        meter: &mut Meter,
    ) -> Result<(), Why> {
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if map.contains_key(keyword) {
                return Err(Why::unsupported(keyword));
            }
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            meter.steps(self.refs.len())?;
            // The same schema twice demands nothing new; this also ends `a` → `b` → `a`.
            if !self.refs.contains(&reference) {
                todo.push(resolve(root, reference)?);
                self.refs.push(reference);
            }
        }
        if let Some(Value::Array(all)) = map.get("allOf") {
            meter.steps(all.len())?;
            todo.extend(all);
        }
        self.parts.push(map);
        self.open_choices(map, meter)
    }

    fn open_choices(&mut self, map: &'s Map, meter: &mut Meter) -> Result<(), Why> {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.get(keyword) {
                meter.steps(branches.len())?;
                self.choices.push(branches.iter().map(|branch| vec![branch]).collect());
            }
        }
        if let Some(when) = map.get("if") {
            // Often the value is right without a thought about `if`; so that is tried first.
            let then = [Some(when), map.get("then")].into_iter().flatten().collect();
            let otherwise = map.get("else").into_iter().collect();
            self.choices.push(vec![vec![], then, otherwise]);
        }
        if let Some(Value::Object(dependent)) = map.get("dependentSchemas") {
            meter.steps(dependent.len())?;
            self.choices.push(vec![vec![], dependent.values().collect()]);
        }
        Ok(())
    }
}

/// The schema that a reference leads to, inside the document only.
pub(crate) fn resolve<'s>(root: &'s Value, reference: &str) -> Result<&'s Value, Why> {
    let own = root.get("$id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let fragment = match (reference.strip_prefix('#'), own) {
        (Some(fragment), _) => fragment,
        (None, Some(own)) => reference
            .strip_prefix(own.trim_end_matches('#'))
            .map(|rest| rest.strip_prefix('#').unwrap_or(rest))
            .ok_or_else(|| Why::remote(reference))?,
        (None, None) => return Err(Why::remote(reference)),
    };
    // An anchor (`#name`) is no pointer and ends here as well.
    root.pointer(&percent_decoded(fragment)).ok_or_else(|| Why::lost(reference))
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match digits.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How much of a schema [`mentions`] reads; what lies deeper is found when it is reached.
const LOOK_AHEAD: usize = 200;

/// Whether a schema mentions one of these references near its top.
pub(super) fn mentions(schema: &Value, refs: &[&str], meter: &mut Meter) -> Result<bool, Why> {
    let mut todo = vec![schema];
    for _ in 0..LOOK_AHEAD {
        let Some(value) = todo.pop().filter(|_| !refs.is_empty()) else { break };
        meter.steps(1 + refs.len())?;
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => {
                let reference = map.get("$ref").and_then(Value::as_str);
                if reference.is_some_and(|reference| refs.contains(&reference)) {
                    return Ok(true);
                }
                todo.extend(map.values());
            }
            _ => {}
        }
    }
    Ok(false)
}

/// What each part says for one keyword.
pub(super) fn each<'s>(parts: &[&'s Map], keyword: &str) -> impl Iterator<Item = &'s Value> {
    parts.iter().filter_map(move |part| part.get(keyword))
}

/// The strictest lower limit of a count such as `minItems`; 0 when there is none.
pub(super) fn at_least(parts: &[&Map], keyword: &str) -> u64 {
    each(parts, keyword).filter_map(as_count).max().unwrap_or(0)
}

/// The strictest upper limit of a count such as `maxItems`.
pub(super) fn at_most(parts: &[&Map], keyword: &str) -> u64 {
    each(parts, keyword).filter_map(as_count).min().unwrap_or(u64::MAX)
}

/// A count; `3.0` is one too, and `1e12` is written that way more often than not.
pub(crate) fn as_count(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64);
    value.as_u64().or_else(float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_stay_inside_the_document() {
        let root = json!({
            "$id": "https://example.com/a.json",
            "$defs": { "a b": 1, "c/d": 2 },
        });
        assert_eq!(resolve(&root, "#"), Ok(&root));
        assert_eq!(resolve(&root, "#/$defs/a%20b"), Ok(&json!(1)));
        assert_eq!(resolve(&root, "#/$defs/c~1d"), Ok(&json!(2)));
        assert_eq!(resolve(&root, "https://example.com/a.json#/$defs/a b"), Ok(&json!(1)));
        assert!(matches!(resolve(&root, "#/$defs/x"), Err(Why::LostReference(_))));
        assert!(matches!(resolve(&root, "#anchor"), Err(Why::LostReference(_))));
        for remote in ["http://evil/x", "file:///etc/passwd", "other.json", "//host/x"] {
            assert!(matches!(resolve(&root, remote), Err(Why::RemoteReference(_))), "{remote}");
        }
    }

    #[test]
    fn flattening_opens_references_and_all_of_once() {
        let root = json!({
            "$defs": {
                "a": { "$ref": "#/$defs/b", "title": "a" },
                "b": { "allOf": [{ "$ref": "#/$defs/a" }, { "minLength": 3 }] },
            },
        });
        let schema = json!({ "$ref": "#/$defs/a", "anyOf": [true, false] });
        let mut meter = Meter::new(&Budget::default());
        let shape = flatten(&root, &[&schema], &mut meter).unwrap();
        assert_eq!(shape.refs, ["#/$defs/a", "#/$defs/b"]);
        assert_eq!(at_least(&shape.parts, "minLength"), 3);
        assert_eq!(shape.choices.len(), 1);
    }

    #[test]
    fn dialects_outside_json_schema_are_refused() {
        let budget = Budget::default();
        for known in [
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            assert_eq!(admit(&json!({ "$schema": known }), &budget), Ok(()));
        }
        let other = json!({ "$schema": "urn:mine" });
        assert!(matches!(admit(&other, &budget), Err(Why::Dialect(_))));
        assert_eq!(admit(&json!([]), &budget), Err(Why::NotASchema));
    }

    #[test]
    fn a_schema_without_a_name_of_its_own_is_no_excuse_to_follow_others() {
        let root = json!({ "$id": "", "a": 1 });
        assert!(matches!(resolve(&root, "http://evil/x"), Err(Why::RemoteReference(_))));
        assert_eq!(resolve(&root, "#/a"), Ok(&json!(1)));
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        for (value, expected) in [
            (json!(3), Some(3)),
            (json!(3.0), Some(3)),
            (json!(0.0), Some(0)),
            (json!(1e12), Some(1_000_000_000_000)),
            (json!(2.5), None),
            (json!(-1), None),
            (json!(-1.0), None),
            (json!("3"), None),
        ] {
            assert_eq!(as_count(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_reference_is_seen_wherever_it_is_mentioned() {
        let refs = ["#/a", "#/b"];
        for (schema, expected) in [
            (json!({ "$ref": "#/b" }), true),
            (json!({ "anyOf": [{}, { "$ref": "#/a" }] }), true),
            (json!({ "properties": { "x": { "$ref": "#/a" } } }), true),
            (json!({ "$ref": "#/c", "title": "#/a" }), false),
            (json!("#/a"), false),
        ] {
            let mut meter = Meter::new(&Budget::default());
            assert_eq!(mentions(&schema, &refs, &mut meter), Ok(expected), "{schema}");
            assert_eq!(mentions(&schema, &[], &mut meter), Ok(false), "{schema}");
        }
    }

    #[test]
    fn looking_ahead_is_paid_for() {
        // 100 steps, of which each value takes two: itself and the one reference.
        for (items, expected) in [(49, Ok(false)), (50, Err(Why::TooMuch))] {
            let mut meter = Meter::new(&Budget { nodes: 1, ..Budget::default() });
            let found = mentions(&json!(vec![0; items]), &["#/a"], &mut meter);
            assert_eq!(found, expected, "{items}");
        }
    }
}
