//! A property of a wrong type.
//!
//! Some servers turn `"5"` into 5 and 1 into `true`, and mean well; a finding must not rest on that.
//! So a text takes the place of numbers only where it reads like none, and all else gets an object,
//! which no sane reading turns into a text, a number or a truth value.

use serde_json::{Value, json};

use super::{Made, ODD_TEXT, Subject};
use crate::report::Severity;

/// Two cases for each typed property: a value of another type, and null.
pub fn wrong_type(subject: &Subject<'_>) -> Made {
    let mut made = Made::default();
    for field in subject.fields() {
        let types = field.types();
        if types.is_empty() {
            continue;
        }
        let wrong = wrong_values(&types)
            .filter_map(|(name, value)| Some((name, subject.forbidden(&field, [value])?)))
            .next();
        let (name, arguments) = wrong.unzip();
        made.place(
            || format!("{} as {}", field.name(), name.unwrap_or("something else")),
            arguments,
        );
        if !types.contains(&"null") {
            // Null for what may be left out is often read as left out: wrong, but seldom harmful.
            let if_taken = if field.required { Severity::Critical } else { Severity::Warning };
            let arguments = subject.forbidden(&field, [Value::Null]);
            made.graded(|| format!("{} as null", field.name()), arguments, if_taken);
        }
    }
    made
}

/// Values of types that are not allowed, the least mistakable first.
fn wrong_values(types: &[&str]) -> impl Iterator<Item = (&'static str, Value)> {
    let number = types.iter().any(|name| ["number", "integer"].contains(name));
    let mut values = vec![
        ("object", "an object", json!({ ODD_TEXT: [ODD_TEXT] })),
        ("string", "a text", json!(ODD_TEXT)),
        // A list of one may be made of anything but this.
        ("boolean", "a truth value", json!(true)),
        ("array", "a list", json!([[ODD_TEXT]])),
    ];
    if number {
        values.swap(0, 1);
    }
    let allowed: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
    values
        .into_iter()
        .filter(move |(kind, ..)| !allowed.iter().any(|name| name == kind))
        .map(|(_, name, value)| (name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(types: &[&str]) -> &'static str {
        wrong_values(types).next().unwrap().0
    }

    #[test]
    fn nothing_that_could_be_read_as_the_right_type_is_chosen() {
        assert_eq!(first(&["string"]), "an object");
        assert_eq!(first(&["boolean"]), "an object");
        assert_eq!(first(&["integer", "null"]), "a text");
        assert_eq!(first(&["string", "number"]), "an object");
        assert_eq!(first(&["object"]), "a text");
        assert_eq!(first(&["array"]), "an object");
        assert_eq!(first(&["array", "object", "string"]), "a truth value");
        assert_eq!(wrong_values(&["object", "string", "boolean", "array"]).count(), 0);
    }
}
