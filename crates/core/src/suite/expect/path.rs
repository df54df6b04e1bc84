//! `result.content[0].text`: the way to a value.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The way to a value. At the end `length` counts a list, an object or the characters of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Target {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

const LENGTH: &str = "length";

impl Target {
    /// The key that the way begins with.
    pub fn root(&self) -> &str {
        match self.steps.first() {
            Some(Step::Key(name)) => name,
            _ => "",
        }
    }

    /// The value there, or nothing.
    pub fn find(&self, document: &Value) -> Option<Value> {
        let mut at = document;
        for (depth, step) in self.steps.iter().enumerate() {
            let next = match step {
                Step::Key(name) => at.get(name),
                Step::Index(index) => at.get(index),
            };
            match next {
                Some(value) => at = value,
                None if depth + 1 == self.steps.len() && *step == Step::Key(LENGTH.into()) => {
                    return length(at).map(Value::from);
                }
                None => return None,
            }
        }
        Some(at.clone())
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(list) => Some(list.len()),
        Value::Object(map) => Some(map.len()),
        Value::String(text) => Some(text.chars().count()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

impl TryFrom<String> for Target {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside)?,
                None => name(rest.strip_prefix('.').filter(|_| !steps.is_empty()).unwrap_or(rest))?,
            };
            steps.push(step);
            rest = after;
        }
        match steps.first() {
            Some(Step::Key(_)) => Ok(Self { text, steps }),
            _ => Err("a target begins with a name, such as `result.content[0].text`".into()),
        }
    }
}

/// What stands behind an opening bracket: a number, or a name in quotes.
fn bracket(inside: &str) -> Result<(Step, &str), String> {
    if let Some(quoted) = inside.strip_prefix('"') {
        let (name, after) = quoted.split_once("\"]").ok_or("a quoted name ends with `\"]`")?;
        return Ok((Step::Key(name.to_owned()), after));
    }
    let (number, after) = inside.split_once(']').ok_or("a bracket is not closed")?;
    let index = number.parse().map_err(|_| format!("`{number}` is no place in a list"))?;
    Ok((Step::Index(index), after))
}

fn name(text: &str) -> Result<(Step, &str), String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    match name {
        "" => Err("a name is missing between two dots".into()),
        name if name.chars().any(|c| c.is_whitespace() || c == ']') => {
            Err(format!("`{name}` is no name; write `[\"{name}\"]`"))
        }
        name => Ok((Step::Key(name.to_owned()), after)),
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.text
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn find(path: &str, document: &Value) -> Option<Value> {
        Target::try_from(path.to_owned()).unwrap().find(document)
    }

    #[test]
    fn values_are_found() {
        let document = json!({"a": {"b c": [1, {"d": "äb"}]}, "length": 9, "n": null});
        assert_eq!(find(r#"a["b c"][1].d"#, &document), Some(json!("äb")));
        assert_eq!(find(r#"a["b c"].length"#, &document), Some(json!(2)));
        assert_eq!(find(r#"a["b c"][1].d.length"#, &document), Some(json!(2)));
        assert_eq!(find("length", &document), Some(json!(9)));
        assert_eq!(find("a.length", &document), Some(json!(1)));
        assert_eq!(find("n", &document), Some(Value::Null));
        for nothing in ["a.b", "a[0]", "n.length", "a.length.length", r#"a["b c"][2]"#] {
            assert_eq!(find(nothing, &document), None, "{nothing}");
        }
    }

    #[test]
    fn what_is_no_way_is_told() {
        for wrong in ["", "[0]", "a..b", "a[", "a[x]", "a b", "a[\"b]", ".", "a."] {
            assert!(Target::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([.]|[\\[]|[\\]]|\"|[0-9]|\\PC){0,12}") {
            if let Ok(target) = Target::try_from(text.clone()) {
                let _ = target.find(&json!({"a": [1]}));
                prop_assert_eq!(target.to_string(), text);
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_way_is_said() {
        let begins = "a target begins with a name, such as `result.content[0].text`";
        let missing = "a name is missing between two dots";
        for (wrong, told) in [
            ("", begins),
            ("[0]", begins),
            ("[\"\"", "a quoted name ends with `\"]`"),
            (".a", missing),
            ("a..b", missing),
            ("a[0", "a bracket is not closed"),
            ("a[x]", "`x` is no place in a list"),
            ("a b", "`a b` is no name; write `[\"a b\"]`"),
            ("a]", "`a]` is no name; write `[\"a]\"]`"),
        ] {
            assert_eq!(Target::try_from(wrong.to_owned()), Err(told.to_owned()), "{wrong}");
        }
        let target = Target::try_from("a.b[0]".to_owned()).unwrap();
        assert_eq!((target.root(), String::from(target.clone())), ("a", "a.b[0]".to_owned()));
    }
}
