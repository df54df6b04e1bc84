//! `${VAR}` and `${VAR:-default}` in any text of a suite. Numbers and names of keys are not filled
//! in; what is no name of a variable, such as `${args.x}`, stays as it is.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::file::Suite;
use crate::{
    clients::expand_braced,
    config::{ConfigError, KeyPath},
};

/// Fills in all variables. A variable that has no value and no default is an error.
pub(super) fn fill(
    suite: Suite,
    text: &str,
    vars: &dyn Fn(&str) -> Option<String>,
) -> Result<Suite, ConfigError> {
    if !text.contains("${") {
        return Ok(suite);
    }
    let mut document = serde_json::to_value(&suite).unwrap_or_default();
    fill_value(&mut document, &KeyPath::default(), vars)?;
    again(document)
}

/// A filled-in value may break a rule of its type, such as that of a path.
fn again<T: DeserializeOwned>(document: Value) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(document).map_err(|error| {
        ConfigError::new(KeyPath::from(error.path()), error.inner().to_string())
            .with_hint("look at the values of the variables in it")
    })
}

fn fill_value(
    value: &mut Value,
    key: &KeyPath,
    vars: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    match value {
        Value::String(text) => {
            let filled = expand_braced(text, |name, default| {
                let set = vars(name).filter(|value| !value.is_empty());
                set.or_else(|| default.map(str::to_owned)).ok_or_else(|| {
                    ConfigError::new(key.clone(), format!("the variable `{name}` is not set"))
                        .with_hint(format!("set it, or write `${{{name}:-default}}`"))
                })
            })?;
            *text = filled;
            Ok(())
        }
        Value::Array(list) => {
            let numbered = list.iter_mut().enumerate();
            numbered.into_iter().try_for_each(|(at, value)| fill_value(value, &key.index(at), vars))
        }
        Value::Object(map) => {
            map.iter_mut().try_for_each(|(name, value)| fill_value(value, &key.key(name), vars))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
