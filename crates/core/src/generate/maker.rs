//! The walk: from the demands on one value to that value.
//!
//! In this order: what the schema suggests, then the choices it leaves (`anyOf` and its kin), then
//! a value of the first type that works. A failure goes back to the nearest choice; a spent budget
//! goes back to the caller.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::budget::{Budget, Fill, Meter, weight};
use super::check::Check;
use super::kind::{Kind, NO_TYPE, kinds};
use super::schema::{Choice, Map, Shape, each, flatten, mentions};
use super::unusable::{Unusable, Why};
use super::{names, number};
use crate::seed::Dice;

/// What is wanted at one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    /// The name of the property, or of the array around an item; it steers plain values.
    pub(super) name: &'a str,
    /// 0 for the likeliest value, more for others: the items of an array should differ.
    pub(super) turn: u64,
}

/// One attempt at a value, and what it may still spend.
pub(super) struct Maker<'s, 'd> {
    pub(super) root: &'s Value,
    pub(super) budget: &'d Budget,
    pub(super) fill: Fill,
    pub(super) dice: &'d mut Dice,
    pub(super) meter: Meter,
    depth: usize,
    /// The references between the root and here. A value that meets one again is recursive.
    path: Vec<&'s str>,
}

/// Tool arguments are an object, whether the schema says so or not.
static OBJECT: LazyLock<Value> = LazyLock::new(|| json!({ "type": "object" }));

/// Makes arguments, or says why not.
pub(super) fn arguments(
    root: &Value,
    dice: &mut Dice,
    budget: &Budget,
    fill: Fill,
) -> Result<Value, Unusable> {
    let meter = Meter::new(budget);
    let mut maker = Maker { root, budget, fill, dice, meter, depth: 0, path: Vec::new() };
    let made = maker.make(&[root, &OBJECT], Ask { name: "", turn: 0 });
    let made = made.map_err(|error| match error {
        Unusable { at, why } if at.is_empty() && why == NO_TYPE => Why::NotAnObject.into(),
        other => other,
    })?;
    let mut check = Check::new(root, budget, &mut maker.meter);
    match check.schema(root, &made)? {
        true => Ok(made),
        false => Err(Why::NoValue("no arguments were found that satisfy the whole schema").into()),
    }
}

impl<'s> Maker<'s, '_> {
    /// A value that satisfies all of these schemas.
    pub(super) fn make(&mut self, schemas: &[&'s Value], ask: Ask<'_>) -> Result<Value, Unusable> {
        self.meter.node()?;
        let shape = flatten(self.root, schemas, &mut self.meter)?;
        let refs = shape.refs.clone();
        self.deeper(&refs, |maker| maker.fulfil(&shape, ask))
    }

    /// Runs one level down; every recursion of the walk passes here.
    fn deeper<T>(
        &mut self,
        refs: &[&'s str],
        run: impl FnOnce(&mut Self) -> Result<T, Unusable>,
    ) -> Result<T, Unusable> {
        if self.depth >= self.budget.depth {
            return Err(Why::TooDeep(self.budget.depth).into());
        }
        let mark = self.path.len();
        self.path.extend(refs);
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        self.path.truncate(mark);
        result
    }

    fn fulfil(&mut self, shape: &Shape<'s>, ask: Ask<'_>) -> Result<Value, Unusable> {
        if let Some(value) = self.suggested(&shape.parts, ask.turn)? {
            return Ok(value);
        }
        match shape.choices.split_first() {
            None => self.of_some_type(&shape.parts, ask),
            Some((choice, rest)) => self.choose(shape, choice, rest, ask),
        }
    }

    /// The first value that the schema itself suggests and that holds.
    fn suggested(&mut self, parts: &[&'s Map], turn: u64) -> Result<Option<Value>, Unusable> {
        let (values, is_closed) = suggestions(parts);
        self.meter.steps(values.len())?;
        let turn = usize::try_from(turn).unwrap_or(usize::MAX);
        // A closed list is gone round; from an open one other values are made after a while.
        let skipped = if is_closed { turn % values.len().max(1) } else { turn };
        let again = if is_closed { &values[..skipped] } else { &[] };
        for &value in values.iter().skip(skipped).chain(again) {
            if self.holds(parts, value)? {
                let price = weight(value, self.budget.total).ok_or(Why::TooMuch)?;
                self.meter.bytes(price)?;
                return Ok(Some(value.clone()));
            }
        }
        match is_closed {
            true => Err(Why::NoValue("none of the listed values satisfies the schema").into()),
            false => Ok(None),
        }
    }

    /// Takes the first alternative from which a value can be made.
    fn choose(
        &mut self,
        shape: &Shape<'s>,
        choice: &Choice<'s>,
        rest: &[Choice<'s>],
        ask: Ask<'_>,
    ) -> Result<Value, Unusable> {
        let mut first_error = None;
        for alternative in self.in_order(choice)? {
            match self.take(shape, alternative, rest, ask) {
                Ok(value) => return Ok(value),
                Err(error) if error.why.is_final() => return Err(error),
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        Err(first_error.unwrap_or_else(|| Why::NoValue("there is nothing to choose from").into()))
    }

    /// Alternatives that lead back to where we came from go last, so that recursion ends; before
    /// them goes `null`, which says less than any other value.
    fn in_order<'c>(&mut self, choice: &'c Choice<'s>) -> Result<Vec<&'c Vec<&'s Value>>, Why> {
        let mut ranked = Vec::with_capacity(choice.len());
        for alternative in choice {
            let mut rank = 0;
            for schema in alternative {
                if schema.get("type").is_some_and(|kind| kind == "null") {
                    rank = rank.max(1);
                }
                if mentions(schema, &self.path, &mut self.meter)? {
                    rank = 2;
                }
            }
            ranked.push((rank, alternative));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        Ok(ranked.into_iter().map(|(_, alternative)| alternative).collect())
    }

    fn take(
        &mut self,
        shape: &Shape<'s>,
        alternative: &[&'s Value],
        rest: &[Choice<'s>],
        ask: Ask<'_>,
    ) -> Result<Value, Unusable> {
        self.meter.node()?;
        let mut taken = flatten(self.root, alternative, &mut self.meter)?;
        self.meter.steps(shape.parts.len() + rest.len())?;
        taken.parts.splice(0..0, shape.parts.iter().copied());
        taken.choices.splice(0..0, rest.iter().cloned());
        let refs = taken.refs.clone();
        let value = self.deeper(&refs, |maker| maker.fulfil(&taken, ask))?;
        match self.holds(&taken.parts, &value)? {
            true => Ok(value),
            false => Err(Why::NoValue("no branch was found that holds with the rest").into()),
        }
    }

    fn of_some_type(&mut self, parts: &[&'s Map], ask: Ask<'_>) -> Result<Value, Unusable> {
        let mut first_error = None;
        for kind in kinds(parts)? {
            match self.of_type(kind, parts, ask) {
                Ok(value) => return Ok(value),
                Err(error) if error.why.is_final() => return Err(error),
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        Err(first_error.unwrap_or_else(|| NO_TYPE.into()))
    }

    fn of_type(&mut self, kind: Kind, parts: &[&'s Map], ask: Ask<'_>) -> Result<Value, Unusable> {
        match kind {
            Kind::Object => self.object(parts, ask),
            Kind::Array => self.array(parts, ask),
            Kind::String => Ok(Value::String(self.text(parts, ask)?)),
            Kind::Integer | Kind::Number => {
                let whole = kind == Kind::Integer;
                Ok(number::number(parts, whole, ask, self.dice)?)
            }
            Kind::Boolean => Ok(Value::Bool(names::is_cautious(ask.name) ^ (ask.turn % 2 == 1))),
            Kind::Null => Ok(Value::Null),
        }
    }

    /// Whether a value satisfies all of these parts.
    pub(super) fn holds(&mut self, parts: &[&Map], value: &Value) -> Result<bool, Why> {
        Check::new(self.root, self.budget, &mut self.meter).parts(parts, value)
    }

    /// Whether these schemas lead back to where we came from.
    pub(super) fn is_recursive(&mut self, schemas: &[&'s Value]) -> Result<bool, Why> {
        let shape = flatten(self.root, schemas, &mut self.meter)?;
        self.meter.steps(shape.refs.len() * self.path.len())?;
        Ok(shape.refs.iter().any(|reference| self.path.contains(reference)))
    }
}

/// Values that the schema suggests, likeliest first, and whether there are no others.
///
/// A `null` default means "left out" more often than it means a value, so it is no suggestion.
fn suggestions<'s>(parts: &[&'s Map]) -> (Vec<&'s Value>, bool) {
    let listed = |keyword| each(parts, keyword).filter_map(Value::as_array).flatten();
    let closed: Vec<_> = each(parts, "const").chain(listed("enum")).collect();
    let open = each(parts, "default").chain(listed("examples")).chain(each(parts, "example"));
    let mut values: Vec<_> = open.filter(|value| !value.is_null()).chain(closed).collect();
    values.sort_by_key(|value| value.is_null());
    let is_closed =
        parts.iter().any(|part| part.contains_key("const") || part.contains_key("enum"));
    (values, is_closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_put_the_default_first_and_null_last() {
        let schema = json!({ "enum": [null, "a", "b"], "default": "b", "examples": [null, "c"] });
        let (values, is_closed) = suggestions(&[schema.as_object().unwrap()]);
        assert_eq!(values, [&json!("b"), &json!("c"), &json!("a"), &json!("b"), &json!(null)]);
        assert!(is_closed);
    }

    fn make(name: &str, schema: Value) -> Result<Value, Why> {
        let schema = json!({ "properties": { name: schema }, "required": [name] });
        let mut dice = crate::seed::Seed(5).dice(0);
        let made = crate::generate::arguments(&schema, &mut dice, &Budget::default());
        made.map(|mut made| made[name].take()).map_err(|error| error.why)
    }

    #[test]
    fn a_failure_goes_back_to_the_nearest_choice_and_a_spent_budget_to_the_caller() {
        let huge = json!({ "type": "array", "minItems": 1e12 });
        for (schema, expected) in [
            (json!({ "anyOf": [false, { "const": 7 }] }), Ok(json!(7))),
            (json!({ "anyOf": [huge, { "const": 7 }] }), Err(Why::TooMuch)),
            (
                json!({ "type": ["string", "null"], "minLength": 3, "maxLength": 2 }),
                Ok(json!(null)),
            ),
            (json!({ "type": ["array", "string"], "minItems": 1e12 }), Err(Why::TooMuch)),
            (json!({ "anyOf": [{ "type": "null" }, { "const": 7 }] }), Ok(json!(7))),
            (json!({ "anyOf": [] }), Err(Why::NoValue("there is nothing to choose from"))),
            // More choices than maps of keywords.
            (
                json!({ "anyOf": [{ "const": 7 }], "oneOf": [true], "if": true, "then": true }),
                Ok(json!(7)),
            ),
        ] {
            assert_eq!(make("v", schema.clone()), expected, "{schema}");
        }
        assert!(make("v", json!(true)).is_ok());
    }

    #[test]
    fn a_closed_list_is_gone_round() {
        let schema = json!({ "items": { "enum": ["a", "b", "c"] }, "minItems": 5 });
        assert_eq!(make("v", schema), Ok(json!(["a", "b", "c", "a", "b"])));
    }

    #[test]
    fn flags_are_off_unless_that_is_the_bold_choice() {
        let flags = json!({ "items": { "type": "boolean" }, "minItems": 4 });
        assert_eq!(make("verbose", json!({ "type": "boolean" })), Ok(json!(false)));
        assert_eq!(make("dry_run", json!({ "type": "boolean" })), Ok(json!(true)));
        assert_eq!(make("verbose", flags.clone()), Ok(json!([false, true, false, true])));
        assert_eq!(make("dry_run", flags), Ok(json!([true, false, true, false])));
    }

    #[test]
    fn many_values_side_by_side_are_not_deep() {
        let made = make("v", json!({ "items": { "type": "integer" }, "minItems": 100 })).unwrap();
        assert_eq!(made.as_array().map(Vec::len), Some(100));
    }

    #[test]
    fn a_value_that_would_hold_itself_stays_small_even_if_all_is_filled() {
        let schema = json!({ "$ref": "#/$defs/Node", "$defs": { "Node": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "parent": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
                "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
                "left": { "$ref": "#/$defs/Node" },
            },
            "required": ["name"],
        } } });
        let budget = Budget { fill: Fill::All, ..Budget::default() };
        let made = crate::generate::arguments(&schema, &mut crate::seed::Seed(5).dice(0), &budget);
        assert_eq!(made, Ok(json!({ "name": "example", "parent": null, "children": [] })));
    }
}
