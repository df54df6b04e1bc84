//! Keywords that look at the value alone.

use std::collections::HashSet;

use serde_json::Value;

use super::{Case, Check};
use crate::generate::pattern::Pattern;
use crate::generate::schema::as_count;
use crate::generate::unusable::Why;

/// How far a quotient may lie from a whole number; floats are seldom exact.
const NEAR: f64 = 1e-9;

pub(super) fn kind(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    // OpenAPI's way of allowing `null`.
    if case.value.is_null() && case.map.get("nullable") == Some(&Value::Bool(true)) {
        return Ok(true);
    }
    let is = |name: &Value| match (name.as_str(), case.value) {
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("number"), Value::Number(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => true,
        (Some("integer"), Value::Number(number)) => {
            !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        _ => false,
    };
    Ok(match case.argument {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    })
}

pub(super) fn same_as(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    Ok(same(case.argument, case.value))
}

pub(super) fn listed(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Array(values) = case.argument else { return Ok(true) };
    check.meter.steps(values.len())?;
    Ok(values.iter().any(|value| same(value, case.value)))
}

/// Equality as JSON Schema has it: 1 and 1.0 are the same.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

/// Compares a count of the value with the keyword's argument; other values are not its concern.
fn counted(count: Option<usize>, case: Case<'_>, holds: fn(u64, u64) -> bool) -> Result<bool, Why> {
    Ok(match (count, as_count(case.argument)) {
        (Some(count), Some(limit)) => holds(count as u64, limit),
        _ => true,
    })
}

fn at_least(count: u64, limit: u64) -> bool {
    count >= limit
}

fn at_most(count: u64, limit: u64) -> bool {
    count <= limit
}

fn letters(value: &Value) -> Option<usize> {
    value.as_str().map(|text| text.chars().count())
}

pub(super) fn min_length(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(letters(case.value), case, at_least)
}

pub(super) fn max_length(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(letters(case.value), case, at_most)
}

pub(super) fn min_items(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(case.value.as_array().map(Vec::len), case, at_least)
}

pub(super) fn max_items(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(case.value.as_array().map(Vec::len), case, at_most)
}

pub(super) fn min_properties(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(case.value.as_object().map(serde_json::Map::len), case, at_least)
}

pub(super) fn max_properties(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    counted(case.value.as_object().map(serde_json::Map::len), case, at_most)
}

/// A pattern that is not understood is not held against a value: it may be the author's example.
pub(super) fn pattern(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Some(source), Some(text)) = (case.argument.as_str(), case.value.as_str()) else {
        return Ok(true);
    };
    match Pattern::parse(source, check.meter) {
        Ok(pattern) => pattern.matches(text, check.meter),
        Err(Why::Pattern(_)) => Ok(true),
        Err(why) => Err(why),
    }
}

/// Compares numbers, exactly where both are whole.
fn compared(limit: &Value, value: &Value, holds: fn(std::cmp::Ordering) -> bool) -> bool {
    let whole =
        |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    let order = match (whole(value), whole(limit)) {
        (Some(value), Some(limit)) => Some(value.cmp(&limit)),
        _ => {
            value.as_f64().zip(limit.as_f64()).and_then(|(value, limit)| value.partial_cmp(&limit))
        }
    };
    order.is_none_or(holds)
}

pub(super) fn minimum(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    // Draft 4 makes the limit itself forbidden by a flag beside it.
    let is_excluded = case.map.get("exclusiveMinimum") == Some(&Value::Bool(true));
    let holds = if is_excluded { std::cmp::Ordering::is_gt } else { std::cmp::Ordering::is_ge };
    Ok(compared(case.argument, case.value, holds))
}

pub(super) fn maximum(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let is_excluded = case.map.get("exclusiveMaximum") == Some(&Value::Bool(true));
    let holds = if is_excluded { std::cmp::Ordering::is_lt } else { std::cmp::Ordering::is_le };
    Ok(compared(case.argument, case.value, holds))
}

pub(super) fn exclusive_minimum(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    Ok(compared(case.argument, case.value, std::cmp::Ordering::is_gt))
}

pub(super) fn exclusive_maximum(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    Ok(compared(case.argument, case.value, std::cmp::Ordering::is_lt))
}

pub(super) fn multiple_of(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Some(step), Some(value)) = (case.argument.as_f64(), case.value.as_f64()) else {
        return Ok(true);
    };
    if let (Some(step @ 1..), Some(value)) = (case.argument.as_i64(), case.value.as_i64()) {
        return Ok(value % step == 0);
    }
    let quotient = value / step;
    Ok((quotient - quotient.round()).abs() <= NEAR * quotient.abs().max(1.0))
}

pub(super) fn unique_items(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Value::Bool(true), Value::Array(items)) = (case.argument, case.value) else {
        return Ok(true);
    };
    check.meter.steps(items.len())?;
    let mut seen = HashSet::new();
    Ok(items.iter().all(|item| seen.insert(item.to_string())))
}

pub(super) fn required(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Value::Array(names), Value::Object(map)) = (case.argument, case.value) else {
        return Ok(true);
    };
    check.meter.steps(names.len())?;
    Ok(names.iter().filter_map(Value::as_str).all(|name| map.contains_key(name)))
}

pub(super) fn dependent_required(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Value::Object(lists), Value::Object(map)) = (case.argument, case.value) else {
        return Ok(true);
    };
    for name in map.keys() {
        check.meter.steps(1)?;
        let Some(argument) = lists.get(name) else { continue };
        let holds = match argument {
            Value::Array(_) => required(check, Case { argument, ..case })?,
            // Draft 7's `dependencies` may hold a schema instead of a list.
            schema => check.schema(schema, case.value)?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}
