//! A value that is none of those that are listed.

use serde_json::{Value, json};

use super::{Made, ODD_TEXT, Subject};

/// One case for each property with `enum` or `const`.
pub fn enum_miss(subject: &Subject<'_>) -> Made {
    let mut made = Made::default();
    for field in subject.fields() {
        let mut listed: Vec<&Value> = field.each("const").collect();
        listed.extend(field.each("enum").filter_map(Value::as_array).flatten());
        if listed.is_empty() {
            continue;
        }
        let arguments = subject.forbidden(&field, misses(&listed));
        made.place(|| format!("{} is none of its values", field.name()), arguments);
    }
    made
}

/// Values of the kind that is listed, which are not: the type is right, so that it is the list that
/// must refuse them. None of them differs from a listed one by upper and lower case alone.
fn misses(listed: &[&Value]) -> Vec<Value> {
    let largest = listed.iter().filter_map(|value| value.as_f64()).fold(0.0, f64::max);
    let number = json!(largest.min(1e15) as i64 + 1);
    let mut values = match listed.iter().find(|value| !value.is_null()) {
        Some(Value::Number(_)) => vec![number],
        Some(Value::Bool(value)) => vec![json!(!value)],
        Some(Value::Object(_) | Value::Array(_)) => vec![json!({ ODD_TEXT: true })],
        _ => Vec::new(),
    };
    values.push(json!(ODD_TEXT));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_of_the_kind_that_is_listed() {
        let odd = json!(ODD_TEXT);
        for (listed, first) in [
            (json!([1, 7, 2]), json!(8)),
            (json!([null, -5]), json!(1)),
            (json!([1e18]), json!(1_000_000_000_000_001_i64)),
            (json!([true]), json!(false)),
            (json!([null, false]), json!(true)),
            (json!([{"a": 1}]), json!({ ODD_TEXT: true })),
            (json!([[1]]), json!({ ODD_TEXT: true })),
            (json!(["a", 1]), odd.clone()),
            (json!([null]), odd.clone()),
        ] {
            let listed: Vec<&Value> = listed.as_array().into_iter().flatten().collect();
            let values = misses(&listed);
            assert_eq!((values.first(), values.last()), (Some(&first), Some(&odd)), "{listed:?}");
        }
    }
}
