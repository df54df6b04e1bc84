//! What a matcher cannot be asked of. Such a matcher never holds, so that `not` would turn it into one
//! that always does: `not: {contains: delete_all}` of a list of calls, which are objects and no texts.

use std::mem::discriminant;

use serde_json::Value;

use super::{
    Matcher,
    judge::{shown, wanted},
};

/// Why the matcher could not hold, whatever the value says; nothing when it can be asked of it.
pub(super) fn unfit(matcher: &Matcher, value: &Value) -> Option<String> {
    let why = match matcher {
        Matcher::Not(inner) => return unfit(inner, value),
        Matcher::AllOf(list) | Matcher::AnyOf(list) => {
            return list.iter().find_map(|matcher| unfit(matcher, value));
        }
        Matcher::Contains(part) => no_part(value, part),
        Matcher::ContainsAll(parts) | Matcher::ContainsAny(parts) => {
            parts.iter().find_map(|part| no_part(value, part))
        }
        Matcher::Icontains(_) | Matcher::StartsWith(_) | Matcher::Regex(_) | Matcher::IsJson => {
            no_text(value)
        }
        Matcher::LessThan(_) | Matcher::GreaterThan(_) => no_number(value),
        Matcher::Subset(wanted) => no_subset(value, wanted),
        Matcher::Exact(_) | Matcher::OneOf(_) | Matcher::Schema(_) | Matcher::Snapshot => None,
    };
    let asked = |why| format!("`{}` cannot be asked of {}: {why}", wanted(matcher), shown(value));
    why.map(asked)
}

/// Null is what is not there: only what speaks of it takes it.
const NULL: &str = "nothing is there; where that is as good, write `any-of: [{exact: null}, …]`";
const LIST: &str = "it is a list; look at one of its elements, such as `[0]`, or at its `length`";
const OBJECT: &str = "it is an object; look at one of its keys";

fn no_text(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => None,
        Value::Null => Some(NULL),
        Value::Array(_) => Some(LIST),
        Value::Object(_) => Some(OBJECT),
    }
}

fn no_number(value: &Value) -> Option<&'static str> {
    match value {
        Value::Number(_) => None,
        Value::String(_) => Some("it is a text; its `length` is a number"),
        Value::Bool(_) => Some("it is a truth value; write `exact`"),
        _ => no_text(value),
    }
}

/// A text has texts as its parts, and a list elements of the kinds that it holds.
fn no_part(value: &Value, part: &Value) -> Option<&'static str> {
    let Value::Array(elements) = value else {
        let is_text = no_text(part).is_none();
        return no_text(value)
            .or_else(|| (!is_text).then_some("it is a text, whose parts are texts"));
    };
    let is_like = |element: &Value| discriminant(element) == discriminant(part);
    if elements.is_empty() || part.is_null() || elements.iter().any(is_like) {
        return None;
    }
    Some(match elements.iter().any(Value::is_object) {
        true => "its elements are objects; look into them with `subset: [{name: …}]`",
        false => "its elements are of another kind; look at one of them, such as `[0]`",
    })
}

/// What is there must at least be of the kind of which it should be a part.
fn no_subset(value: &Value, wanted: &Value) -> Option<&'static str> {
    match (value, wanted) {
        (Value::Null, Value::Array(_) | Value::Object(_)) => Some(NULL),
        (Value::Array(_), Value::Object(_)) => {
            Some("it is a list; write `subset: [{…}]` for one of its elements")
        }
        (value, Value::Object(_)) if !value.is_object() => Some("it is no object"),
        (value, Value::Array(_)) if !value.is_array() => Some("it is no list"),
        _ => None,
    }
}
