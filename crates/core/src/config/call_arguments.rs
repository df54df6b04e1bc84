//! The keys that say which arguments a tool is called with: the same, or others for every call.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    arguments::Arguments,
    error::ConfigError,
    path::{KeyPath, Step},
};
use crate::arguments::{FileKind, Order, Recipe, Template, TemplateError};

/// The arguments of a tool's calls. At most one of `args`, `args_list` and `generate`; `args_file`
/// stands alone or beside `args`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CallArguments {
    /// The arguments: a table, or the text of a JSON object. Placeholders such as `{{iter}}`,
    /// `{{uuid}}`, `{{nonce}}`, `{{random.int 1 100}}` and `{{row.column}}` are filled in anew for
    /// every call, at any depth. For two plain braces write `{{{{`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
    /// Several arguments, of which each call takes one; placeholders work as in `args`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub args_list: Option<Vec<Arguments>>,
    /// A CSV file with a header, or a JSONL file, of which each call takes one row. With `args` its
    /// cells fill the placeholders `{{row.column}}`; without, the row is the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "queries.csv")]
    pub args_file: Option<PathBuf>,
    /// Which entry of `args_list` or row of `args_file` is next. Default: `sequential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args_order: Option<Order>,
    /// Whether each call gets arguments of its own, made from the tool's input schema. Default:
    /// false; then they are made once, and only where they are needed and missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate: Option<bool>,
}

impl CallArguments {
    /// What the keys ask for; nothing when none of them is set. `at` is the table that they stand
    /// in, such as `scenario.tool_call[1]`.
    pub fn recipe(&self, at: &KeyPath) -> Result<Option<Recipe>, ConfigError> {
        self.refuse_conflicts(at)?;
        self.check_placeholders(at)?;
        let order = self.args_order.unwrap_or_default();
        let args = self.args.as_ref().map(|Arguments(args)| args.clone());
        Ok(match (&self.args_file, &self.args_list) {
            (Some(path), _) => Some(Recipe::File { path: path.clone(), args, order }),
            (None, Some(list)) => {
                let list = list.iter().map(|Arguments(args)| args.clone()).collect();
                Some(Recipe::List { list, order })
            }
            (None, None) if self.generates() => Some(Recipe::Generated),
            (None, None) => args.map(Recipe::Given),
        })
    }

    /// The first of the keys that is set.
    pub(super) fn first_key(&self) -> Option<&'static str> {
        let set = [
            ("args", self.args.is_some()),
            ("args_list", self.args_list.is_some()),
            ("args_file", self.args_file.is_some()),
            ("args_order", self.args_order.is_some()),
            ("generate", self.generate.is_some()),
        ];
        set.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
    }

    fn generates(&self) -> bool {
        self.generate == Some(true)
    }

    fn refuse_conflicts(&self, at: &KeyPath) -> Result<(), ConfigError> {
        let set = [
            ("args", self.args.is_some()),
            ("args_list", self.args_list.is_some()),
            ("args_file", self.args_file.is_some()),
            ("generate", self.generates()),
        ];
        let set: Vec<&str> =
            set.into_iter().filter(|(_, is_set)| *is_set).map(|(k, _)| k).collect();
        match set[..] {
            [first, second, ..] if set != ["args", "args_file"] => {
                let beside = if set.starts_with(&["args", "args_file"]) { set[2] } else { second };
                let message = format!("cannot stand beside `{first}`");
                return Err(ConfigError::new(at.key(beside), message)
                    .with_hint("the arguments come from one of `args`, `args_list`, `args_file` and `generate`; only `args` and `args_file` go together"));
            }
            [] | ["args"] | ["generate"] if self.args_order.is_some() => {
                let message = "there is nothing to put in order";
                return Err(ConfigError::new(at.key("args_order"), message)
                    .with_hint("it is for `args_list` and `args_file`"));
            }
            _ => {}
        }
        if self.args_list.as_ref().is_some_and(Vec::is_empty) {
            return Err(ConfigError::new(at.key("args_list"), "has no entry"));
        }
        match &self.args_file {
            Some(path) if FileKind::of(path).is_none() => {
                let message = format!("`{}` is neither CSV nor JSONL", path.display());
                Err(ConfigError::new(at.key("args_file"), message)
                    .with_hint("its name must end in `.csv`, `.jsonl` or `.ndjson`"))
            }
            _ => Ok(()),
        }
    }

    /// What can be said of placeholders before the rows are read.
    fn check_placeholders(&self, at: &KeyPath) -> Result<(), ConfigError> {
        let parse = |args: &Value, key: &KeyPath| {
            Template::parse(args, &KeyPath::default()).map_err(|error| blamed(key, error))
        };
        if let Some(Arguments(args)) = &self.args {
            let key = at.key("args");
            let template = parse(args, &key)?;
            match &self.args_file {
                None => drop(template.without_rows().map_err(|error| blamed(&key, error))?),
                Some(_) if template.wants_rows() => {}
                Some(_) => {
                    let message = "has no placeholder for the rows of `args_file`";
                    return Err(ConfigError::new(key, message).with_hint(
                        "use a column with `{{row.name}}`, or leave out `args` to send whole rows",
                    ));
                }
            }
        }
        for (index, Arguments(args)) in self.args_list.iter().flatten().enumerate() {
            let key = at.key("args_list").index(index);
            parse(args, &key)?.without_rows().map_err(|error| blamed(&key, error))?;
        }
        Ok(())
    }
}

fn blamed(key: &KeyPath, error: TemplateError) -> ConfigError {
    let longer = |path: KeyPath, step: &Step| match step {
        Step::Key(name) => path.key(name),
        Step::Index(index) => path.index(*index),
    };
    let key = error.at.steps().iter().fold(key.clone(), longer);
    let told = ConfigError::new(key, format!("column {}: {}", error.column, error.message));
    match error.hint {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}

/// The keys that ask for the same again, so that a run made in code can be saved.
impl From<&Recipe> for CallArguments {
    fn from(recipe: &Recipe) -> Self {
        match recipe.clone() {
            Recipe::Given(args) => Self { args: Some(Arguments(args)), ..Self::default() },
            Recipe::List { list, order } => Self {
                args_list: Some(list.into_iter().map(Arguments).collect()),
                args_order: Some(order),
                ..Self::default()
            },
            Recipe::File { path, args, order } => Self {
                args: args.map(Arguments),
                args_file: Some(path),
                args_order: Some(order),
                ..Self::default()
            },
            Recipe::Generated => Self { generate: Some(true), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> CallArguments {
        toml::from_str(text).unwrap()
    }

    fn recipe(text: &str) -> Result<Option<Recipe>, ConfigError> {
        read(text).recipe(&"scenario.tool_call[1]".into())
    }

    #[test]
    fn each_way_to_write_arguments_is_a_recipe_and_can_be_saved() {
        let list = vec![json!({"a": 1}), json!({"a": null})];
        for (text, expected) in [
            ("args = { q = 'a {{iter}}' }", Recipe::Given(json!({"q": "a {{iter}}"}))),
            (
                "args_list = [{ a = 1 }, '{\"a\":null}']\nargs_order = 'random'",
                Recipe::List { list, order: Order::Random },
            ),
            (
                "args_file = 'a.csv'",
                Recipe::File { path: "a.csv".into(), args: None, order: Order::Sequential },
            ),
            (
                "args_file = 'a.jsonl'\nargs.q = '{{row.q}}'",
                Recipe::File {
                    path: "a.jsonl".into(),
                    args: Some(json!({"q": "{{row.q}}"})),
                    order: Order::Sequential,
                },
            ),
            ("generate = true", Recipe::Generated),
        ] {
            assert_eq!(recipe(text).unwrap().as_ref(), Some(&expected), "{text}");
            let saved = toml::to_string(&CallArguments::from(&expected)).unwrap();
            assert_eq!(recipe(&saved).unwrap(), Some(expected), "{saved}");
        }
        assert_eq!(recipe("").unwrap(), None);
        assert_eq!(recipe("generate = false").unwrap(), None);
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_its_key() {
        const KEY: &str = "`[scenario] tool_call[1].";
        for (text, message) in [
            ("args = {}\nargs_list = [{}]", "args_list`: cannot stand beside `args`"),
            ("args = {}\ngenerate = true", "generate`: cannot stand beside `args`"),
            ("args_list = [{}]\ngenerate = true", "generate`: cannot stand beside `args_list`"),
            (
                "args_list = [{}]\nargs_file = 'a.csv'",
                "args_file`: cannot stand beside `args_list`",
            ),
            ("args_file = 'a.csv'\ngenerate = true", "generate`: cannot stand beside `args_file`"),
            (
                "args = {}\nargs_file = 'a.csv'\ngenerate = true",
                "generate`: cannot stand beside `args`",
            ),
            ("args_order = 'random'", "args_order`: there is nothing to put in order"),
            ("args = {}\nargs_order = 'random'", "args_order`: there is nothing to put in order"),
            ("args_list = []", "args_list`: has no entry"),
            ("args_file = 'a.json'", "args_file`: `a.json` is neither CSV nor JSONL"),
            (
                "args.a = [{ b = 'x {{itr}}' }]",
                "args.a[0].b`: column 3: there is no placeholder `itr`",
            ),
            (
                "args_list = [{}, { b = '{{now}}' }]",
                "args_list[1].b`: column 1: there is no `{{now}}`: with a clock in it no run could be made again",
            ),
            ("args.a = '{{row.b}}'", "args.a`: column 1: there is no row for `b`"),
            (
                "args.a = 'b'\nargs_file = 'a.csv'",
                "args`: has no placeholder for the rows of `args_file`",
            ),
        ] {
            assert_eq!(recipe(text).unwrap_err().to_string(), format!("{KEY}{message}"), "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_words_are_refused() {
        for text in ["arg = {}", "args_order = 'shuffled'", "args_list = {}", "generate = 'yes'"] {
            assert!(toml::from_str::<CallArguments>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_key_is_documented() {
        let schema = schemars::schema_for!(CallArguments).to_value();
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}");
        }
    }
}
