//! Lists at and beyond their limits.

use serde_json::{Value, json};

use super::{edit::Edit, site::Site};
use crate::fuzz::Intent;

/// A longer list is not made.
const LONGEST: u64 = 10_000;

pub(super) fn edits(site: &Site<'_>, items: &[Value]) -> Vec<Edit> {
    let wrong = Some(Intent::Negative);
    let item = items.first().cloned().unwrap_or(json!("x"));
    let of_length = |length: u64, label: &str, meant| {
        let list = vec![item.clone(); length as usize];
        Edit { heavy: length > 500, ..site.set(json!(list), label, meant) }
    };
    let mut edits = vec![of_length(0, "empty", None), of_length(1, "one item", None)];
    for least in site.each("minItems").filter_map(Value::as_u64).filter(|least| *least < LONGEST) {
        edits.push(of_length(least, "minItems exactly", None));
        if let Some(fewer) = least.checked_sub(1) {
            edits.push(of_length(fewer, "minItems -1", wrong));
        }
    }
    for most in site.each("maxItems").filter_map(Value::as_u64).filter(|most| *most < LONGEST) {
        edits.push(of_length(most, "maxItems exactly", None));
        edits.push(of_length(most + 1, "maxItems +1", wrong));
    }
    if site.each("uniqueItems").any(|unique| unique == &json!(true)) {
        edits.push(of_length(2, "the same item twice", wrong));
    }
    edits.push(of_length(1_000, "1000 items", None));
    edits.push(site.set(json!([null, 1, "a", [], {}]), "items of all types", None));
    edits
}
