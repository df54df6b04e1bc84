//! Numbers at and beyond their limits.

use serde_json::{Number, Value, json};

use super::{edit::Edit, site::Site};
use crate::{fuzz::Intent, generate::words, seed::Dice};

/// The first whole number that a double cannot tell from its neighbour.
const EXACT: i64 = 1 << 53;
/// A number beyond this may keep an honest tool busy.
const HEAVY: f64 = 10_000.0;
/// What a tool may be told to wait for, in whatever unit.
const LONGEST_WAIT: f64 = 1.0;
/// What a tool may be told to repeat or to fill.
const MOST_TIMES: f64 = 1_000.0;

/// Words that say how much is done or given back.
const COUNTING: &[&str] = &[
    "amount",
    "blocks",
    "bytes",
    "characters",
    "chars",
    "chunks",
    "copies",
    "count",
    "depth",
    "entries",
    "height",
    "items",
    "iterations",
    "kb",
    "kilobytes",
    "length",
    "limit",
    "lines",
    "loops",
    "max",
    "mb",
    "megabytes",
    "messages",
    "n",
    "num",
    "number",
    "pages",
    "paragraph",
    "paragraphs",
    "repeat",
    "results",
    "rows",
    "samples",
    "sentences",
    "size",
    "steps",
    "times",
    "tokens",
    "top",
    "total",
    "width",
    "words",
];
/// Words that say how long, besides those that the generator of good values knows.
const TIME: &[&str] = &[
    "after", "backoff", "day", "days", "hour", "hours", "lag", "latency", "millis", "minute", "ns",
    "pause", "period", "s", "sec", "second", "secs", "time", "timeout", "ttl", "us",
];

pub(super) fn edits(site: &Site<'_>) -> Vec<Edit> {
    let (right, wrong) = (Some(Intent::Positive), Some(Intent::Negative));
    let mut values: Vec<(String, Value, Option<Intent>)> = Vec::new();
    let mut limit = |keyword: &'static str, steps: [(f64, Option<Intent>); 2]| {
        for limit in site.each(keyword).filter_map(Value::as_f64) {
            for (step, meant) in steps {
                let label = match step {
                    0.0 => format!("{keyword} exactly"),
                    step => format!("{keyword} {step:+}"),
                };
                values.push((label, number(limit + step), meant));
            }
        }
    };
    limit("minimum", [(0.0, right), (-1.0, wrong)]);
    limit("maximum", [(0.0, right), (1.0, wrong)]);
    limit("exclusiveMinimum", [(0.0, wrong), (1.0, None)]);
    limit("exclusiveMaximum", [(0.0, wrong), (-1.0, None)]);
    for step in site.each("multipleOf").filter_map(Value::as_f64).filter(|step| *step > 0.0) {
        values.push(("twice multipleOf".into(), number(step * 2.0), None));
        values.push(("between multiples".into(), json!(step * 1.5), wrong));
    }
    let special = [
        ("zero", json!(0)),
        ("minus zero", json!(-0.0)),
        ("minus one", json!(-1)),
        ("one as 1.0", json!(1.0)),
        ("one and a half", json!(1.5)),
        ("2^53 - 1", json!(EXACT - 1)),
        ("2^53 + 1", json!(EXACT + 1)),
        ("-(2^53 + 1)", json!(-EXACT - 1)),
        ("2^63 - 1", json!(i64::MAX)),
        ("2^64 - 1", json!(u64::MAX)),
        ("1e308", json!(1e308)),
        ("5e-324", json!(5e-324)),
    ];
    values.extend(special.into_iter().map(|(label, value)| (label.to_owned(), value, None)));
    values
        .into_iter()
        .filter(|(_, value, _)| is_harmless(site, value))
        .map(|(label, value, meant)| edit(site, label, value, meant))
        .collect()
}

fn edit(site: &Site<'_>, label: String, value: Value, meant: Option<Intent>) -> Edit {
    let heavy = size(&value) > HEAVY;
    Edit { heavy, ..site.set(value, label, meant) }
}

pub(super) fn chance(site: &Site<'_>, dice: &mut Dice) -> Edit {
    let bits = dice.next_u64() >> dice.below(64);
    let value = match dice.below(3) {
        0 => json!(bits),
        1 => json!(-((bits >> 1) as i64)),
        _ => json!(f64::from_bits(dice.next_u64())),
    };
    let value = if value.is_number() && is_harmless(site, &value) { value } else { json!(1) };
    edit(site, "a number by chance".into(), value, None)
}

/// A tool that waits must not wait for us, and one that repeats must come to an end.
fn is_harmless(site: &Site<'_>, value: &Value) -> bool {
    let words = words(&site.name);
    let has = |among: &[&str]| words.iter().any(|word| among.contains(&word.as_str()));
    if site.is_waiting() || has(TIME) {
        return size(value) <= LONGEST_WAIT;
    }
    !has(COUNTING) || size(value) <= MOST_TIMES
}

fn size(value: &Value) -> f64 {
    value.as_f64().map_or(0.0, f64::abs)
}

/// As a whole number where it is one.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < EXACT as f64 {
        json!(value as i64)
    } else {
        Number::from_f64(value).map_or(json!(0), Value::Number)
    }
}
