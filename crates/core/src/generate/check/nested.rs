//! Keywords that hold the value, or parts of it, against further schemas.

use serde_json::Value;

use super::{Case, Check};
use crate::generate::pattern::Pattern;
use crate::generate::schema::{Map, as_count};
use crate::generate::unusable::Why;

/// Keywords that evaluate properties out of sight of `unevaluatedProperties`.
const ELSEWHERE: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"];

pub(super) fn reference(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Some(reference) = case.argument.as_str() else { return Ok(true) };
    let schema = check.resolve(reference)?;
    check.schema(schema, case.value)
}

/// What cannot be judged is not waved through.
pub(super) fn unsupported(_: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    Err(Why::unsupported(case.argument.as_str().unwrap_or("$dynamicRef")))
}

pub(super) fn all_of(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Array(schemas) = case.argument else { return Ok(true) };
    for schema in schemas {
        if !check.schema(schema, case.value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A branch that cannot be judged matters only when no other branch holds.
pub(super) fn any_of(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Array(schemas) = case.argument else { return Ok(true) };
    let mut doubt = Ok(false);
    for schema in schemas {
        match check.schema(schema, case.value) {
            Ok(true) => return Ok(true),
            Ok(false) => check.meter.steps(1)?,
            Err(why) => doubt = doubt.and(Err(why)),
        }
    }
    doubt
}

pub(super) fn one_of(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Array(schemas) = case.argument else { return Ok(true) };
    let mut holding = 0;
    for schema in schemas {
        check.meter.steps(1)?;
        holding += u32::from(check.schema(schema, case.value)?);
        if holding > 1 {
            return Ok(false);
        }
    }
    Ok(holding == 1)
}

pub(super) fn not(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    Ok(!check.schema(case.argument, case.value)?)
}

pub(super) fn if_then_else(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let branch = if check.schema(case.argument, case.value)? { "then" } else { "else" };
    case.map.get(branch).map_or(Ok(true), |schema| check.schema(schema, case.value))
}

pub(super) fn properties(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    each_property(check, case, |check, name, value| {
        case.argument.get(name).map_or(Ok(true), |schema| check.schema(schema, value))
    })
}

pub(super) fn pattern_properties(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Object(schemas) = case.argument else { return Ok(true) };
    each_property(check, case, |check, name, value| {
        for (pattern, schema) in schemas {
            let applies = Pattern::parse(pattern, check.meter)?.matches(name, check.meter)?;
            if applies && !check.schema(schema, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

pub(super) fn additional_properties(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    each_property(check, case, |check, name, value| {
        Ok(is_declared(check, case.map, name)? || check.schema(case.argument, value)?)
    })
}

/// Exact only where nothing beside it looks at properties; else the generator sees to it.
pub(super) fn unevaluated_properties(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let is_alone = ELSEWHERE.iter().all(|keyword| !case.map.contains_key(*keyword));
    let is_needed = is_alone && !case.map.contains_key("additionalProperties");
    if is_needed { additional_properties(check, case) } else { Ok(true) }
}

fn is_declared(check: &mut Check<'_>, map: &Map, name: &str) -> Result<bool, Why> {
    if map.get("properties").is_some_and(|declared| declared.get(name).is_some()) {
        return Ok(true);
    }
    let patterns = map.get("patternProperties").and_then(Value::as_object);
    for pattern in patterns.into_iter().flat_map(Map::keys) {
        if Pattern::parse(pattern, check.meter)?.matches(name, check.meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn property_names(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    each_property(check, case, |check, name, _| {
        check.schema(case.argument, &Value::String(name.to_owned()))
    })
}

pub(super) fn dependent_schemas(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    each_property(check, case, |check, name, _| {
        case.argument.get(name).map_or(Ok(true), |schema| check.schema(schema, case.value))
    })
}

fn each_property(
    check: &mut Check<'_>,
    case: Case<'_>,
    holds: impl Fn(&mut Check<'_>, &str, &Value) -> Result<bool, Why>,
) -> Result<bool, Why> {
    let Value::Object(map) = case.value else { return Ok(true) };
    for (name, value) in map {
        check.meter.steps(1)?;
        if !holds(check, name, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn tuple(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let (Value::Array(schemas), Value::Array(items)) = (case.argument, case.value) else {
        return Ok(true);
    };
    for (schema, item) in schemas.iter().zip(items) {
        if !check.schema(schema, item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn items(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    match case.argument {
        // Before 2020-12 this was the tuple.
        Value::Array(_) => tuple(check, case),
        _ => all_after(check, case, "prefixItems"),
    }
}

pub(super) fn additional_items(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    match case.map.get("items") {
        Some(Value::Array(_)) => all_after(check, case, "items"),
        _ => Ok(true),
    }
}

fn all_after(check: &mut Check<'_>, case: Case<'_>, tuple: &str) -> Result<bool, Why> {
    let Value::Array(items) = case.value else { return Ok(true) };
    let skipped = case.map.get(tuple).and_then(Value::as_array).map_or(0, Vec::len);
    for item in items.iter().skip(skipped) {
        if !check.schema(case.argument, item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn contains(check: &mut Check<'_>, case: Case<'_>) -> Result<bool, Why> {
    let Value::Array(items) = case.value else { return Ok(true) };
    let mut count = 0;
    for item in items {
        count += u64::from(check.schema(case.argument, item)?);
    }
    let limit = |keyword| case.map.get(keyword).and_then(as_count);
    Ok(count >= limit("minContains").unwrap_or(1)
        && count <= limit("maxContains").unwrap_or(u64::MAX))
}
