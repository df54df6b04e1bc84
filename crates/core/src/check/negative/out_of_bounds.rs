//! Values just outside of what the keywords of a schema allow.

use serde_json::{Value, json};

use super::{Made, ODD_TEXT, Subject, fields::Field};

/// Longer texts and lists than this are not made: that is the field of `oversized`.
const LONGEST_TEXT: u64 = 1 << 20;
const LONGEST_LIST: u64 = 10_000;

/// A value that breaks a keyword: given what the keyword says, and a good value where there is one.
type Breaker = fn(&Value, Option<&Value>) -> Vec<Value>;

/// The keywords, and how each is broken.
const KEYWORDS: &[(&str, &str, Breaker)] = &[
    ("minimum", "below its minimum", |limit, _| beside(limit, -1.0)),
    ("maximum", "above its maximum", |limit, _| beside(limit, 1.0)),
    ("exclusiveMinimum", "at its exclusive minimum", |limit, _| number(limit)),
    ("exclusiveMaximum", "at its exclusive maximum", |limit, _| number(limit)),
    ("multipleOf", "no multiple", no_multiple),
    ("minLength", "too short", too_short),
    ("maxLength", "too long", too_long),
    ("pattern", "not of its pattern", |_, _| not_of_a_pattern()),
    ("minItems", "with too few items", too_few),
    ("maxItems", "with too many items", too_many),
    ("uniqueItems", "with the same item twice", twice_the_same),
];

/// One case for each keyword of each property.
pub fn out_of_bounds(subject: &Subject<'_>) -> Made {
    let mut made = Made::default();
    for field in subject.fields() {
        for (keyword, words, breaker) in KEYWORDS {
            let said = effective(&field, keyword);
            if said.is_empty() {
                continue;
            }
            let good = subject.good_value(&field);
            let values = said.into_iter().flat_map(|said| breaker(said, good));
            let arguments = subject.forbidden(&field, values);
            made.place(|| format!("{} {words}", field.name()), arguments);
        }
    }
    made
}

/// What is said for a keyword, without that which demands nothing.
fn effective<'s>(field: &Field<'s>, keyword: &str) -> Vec<&'s Value> {
    let demands = |said: &&Value| match keyword {
        // Draft 4 has a truth value here, which says how another keyword is meant.
        "exclusiveMinimum" | "exclusiveMaximum" => said.is_number(),
        "minLength" | "minItems" => said.as_f64().is_some_and(|count| count >= 1.0),
        "uniqueItems" => **said == Value::Bool(true),
        _ => true,
    };
    field.each(keyword).filter(demands).collect()
}

fn number(value: &Value) -> Vec<Value> {
    value.is_number().then(|| value.clone()).into_iter().collect()
}

/// The number that is one away, or the next that differs at all.
fn beside(limit: &Value, step: f64) -> Vec<Value> {
    if let Some(next) = limit.as_i64().and_then(|limit| limit.checked_add(step as i64)) {
        return vec![json!(next)];
    }
    let Some(limit) = limit.as_f64() else { return Vec::new() };
    // Beyond 2^53 one is less than the distance between neighbours.
    let far = limit + step * limit.abs().max(1.0);
    [limit + step, far].into_iter().filter(|next| *next != limit).map(|next| json!(next)).collect()
}

fn no_multiple(divisor: &Value, good: Option<&Value>) -> Vec<Value> {
    let base = good.filter(|good| good.is_number());
    match (divisor.as_i64(), base.map_or(Some(0), Value::as_i64)) {
        (Some(divisor), Some(base)) if divisor > 1 => {
            vec![json!(base.saturating_add(1)), json!(base.saturating_sub(1))]
        }
        _ => {
            let base = base.and_then(Value::as_f64).unwrap_or(0.0);
            let half = divisor.as_f64().unwrap_or(1.0) / 2.0;
            vec![json!(base + half), json!(base - half)]
        }
    }
}

fn count(limit: &Value, most: u64) -> Option<usize> {
    let limit = crate::generate::as_count(limit)?;
    (limit < most).then(|| usize::try_from(limit).ok()).flatten()
}

fn too_short(limit: &Value, good: Option<&Value>) -> Vec<Value> {
    let Some(limit) = crate::generate::as_count(limit) else { return Vec::new() };
    let length = usize::try_from(limit.saturating_sub(1).min(LONGEST_TEXT)).unwrap_or(0);
    let good = good.and_then(Value::as_str).unwrap_or_default();
    vec![json!(good.chars().take(length).collect::<String>())]
}

fn too_long(limit: &Value, good: Option<&Value>) -> Vec<Value> {
    let Some(limit) = count(limit, LONGEST_TEXT) else { return Vec::new() };
    let good = good.and_then(Value::as_str).unwrap_or_default();
    // Blanks at the end could be cut off again by a server that means well; letters are not.
    vec![json!(good.chars().chain(std::iter::repeat('a')).take(limit + 1).collect::<String>())]
}

/// Texts of which one should fit no pattern that is meant seriously. Those that only a server that
/// cuts off blanks would take come last.
fn not_of_a_pattern() -> Vec<Value> {
    [ODD_TEXT, "~", "0", "mcp loadtest\u{1}", "", " "].map(|text| json!(text)).into()
}

fn too_few(limit: &Value, good: Option<&Value>) -> Vec<Value> {
    let Some(limit) = count(limit, LONGEST_LIST) else { return vec![json!([])] };
    let good = good.and_then(Value::as_array).cloned().unwrap_or_default();
    vec![good.into_iter().take(limit.saturating_sub(1)).collect()]
}

fn too_many(limit: &Value, good: Option<&Value>) -> Vec<Value> {
    let Some(limit) = count(limit, LONGEST_LIST) else { return Vec::new() };
    let good = good.and_then(Value::as_array).cloned().unwrap_or_default();
    let item = good.first().cloned().unwrap_or_else(|| json!(ODD_TEXT));
    let fill = std::iter::repeat_n(item, limit + 1);
    vec![good.into_iter().chain(fill).take(limit + 1).collect()]
}

fn twice_the_same(_: &Value, good: Option<&Value>) -> Vec<Value> {
    let good = good.and_then(Value::as_array).cloned().unwrap_or_default();
    let item = good.first().cloned().unwrap_or_else(|| json!(ODD_TEXT));
    let again = good.into_iter().skip(1);
    vec![[item.clone(), item].into_iter().chain(again).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_beside_a_limit_is_one_away_or_the_next_that_differs() {
        for (limit, below, above) in [
            (json!(5), json!([4]), json!([6])),
            (json!(-1), json!([-2]), json!([0])),
            (json!(2.5), json!([1.5, 0.0]), json!([3.5, 5.0])),
            (json!(0.5), json!([-0.5, -0.5]), json!([1.5, 1.5])),
            (json!(-4.5), json!([-5.5, -9.0]), json!([-3.5, 0.0])),
            (json!(1e300), json!([0.0]), json!([2e300])),
            (json!("5"), json!([]), json!([])),
        ] {
            assert_eq!(json!(beside(&limit, -1.0)), below, "below {limit}");
            assert_eq!(json!(beside(&limit, 1.0)), above, "above {limit}");
        }
    }

    #[test]
    fn a_number_between_two_multiples_is_none() {
        for (divisor, good, expected) in [
            (json!(5), Some(json!(10)), json!([11, 9])),
            (json!(2), None, json!([1, -1])),
            (json!(1), Some(json!(3)), json!([3.5, 2.5])),
            (json!(0.25), Some(json!(1)), json!([1.125, 0.875])),
            (json!(3), Some(json!(6.0)), json!([7.5, 4.5])),
            (json!(4), Some(json!("x")), json!([1, -1])),
        ] {
            let made = no_multiple(&divisor, good.as_ref());
            assert_eq!(json!(made), expected, "{divisor} {good:?}");
        }
    }

    #[test]
    fn a_count_is_used_below_the_most_and_not_from_it_on() {
        for (limit, expected) in [
            (json!(0), Some(0)),
            (json!(99), Some(99)),
            (json!(99.0), Some(99)),
            (json!(100), None),
            (json!(101), None),
            (json!(-1), None),
            (json!("9"), None),
        ] {
            assert_eq!(count(&limit, 100), expected, "{limit}");
        }
    }

    #[test]
    fn texts_and_lists_miss_their_limit_by_one() {
        let cases: [(&str, Breaker, Value, Value, Value); 11] = [
            ("too short", too_short, json!(3), json!("abcdef"), json!("ab")),
            ("too short", too_short, json!(1), json!("abcdef"), json!("")),
            ("too long", too_long, json!(3), json!("\u{e9}b"), json!("\u{e9}baa")),
            ("too long", too_long, json!(2), json!(null), json!("aaa")),
            ("too few", too_few, json!(2), json!([1, 2, 3]), json!([1])),
            ("too few", too_few, json!(LONGEST_LIST), json!([1]), json!([])),
            ("too many", too_many, json!(3), json!([7, 8]), json!([7, 8, 7, 7])),
            ("too many", too_many, json!(1), json!([7, 8, 9]), json!([7, 8])),
            ("too many", too_many, json!(2), json!([]), json!([ODD_TEXT, ODD_TEXT, ODD_TEXT])),
            ("twice", twice_the_same, json!(true), json!([1, 2]), json!([1, 1, 2])),
            ("twice", twice_the_same, json!(true), json!([]), json!([ODD_TEXT, ODD_TEXT])),
        ];
        for (name, breaker, said, good, expected) in cases {
            assert_eq!(breaker(&said, Some(&good)), [expected], "{name} {said} {good}");
        }
        assert_eq!(too_long(&json!(LONGEST_TEXT), None), [""; 0], "that is for `oversized`");
        assert_eq!(too_many(&json!(LONGEST_LIST), None), [""; 0]);
        let longest = too_long(&json!(LONGEST_TEXT - 1), None);
        assert_eq!(longest[0].as_str().map(str::len), Some(1 << 20));
    }
}
