//! What a person asks for. With rows and a schema it becomes a [`Source`].

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    rows::Rows,
    source::{Order, Source, SourceError},
};
use crate::{generate::Budget, seed::Seed};

/// How the arguments of a tool's calls come about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recipe {
    /// These, with placeholders filled in for every call.
    Given(Value),
    /// One of these for each call, with placeholders.
    List {
        /// The arguments.
        list: Vec<Value>,
        /// Which one is next.
        #[serde(default)]
        order: Order,
    },
    /// One row of a file for each call.
    File {
        /// A CSV or JSONL file.
        path: PathBuf,
        /// Arguments with placeholders for the row; absent when the row is the arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
        /// Which row is next.
        #[serde(default)]
        order: Order,
    },
    /// Others for every call, made from the tool's schema.
    Generated,
}

impl Recipe {
    /// The file whose rows are needed.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Given(_) | Self::List { .. } | Self::Generated => None,
        }
    }

    /// The source. `rows` are those of [`Recipe::file`]; `schema` is the tool's.
    pub fn source(
        &self,
        rows: Option<&Rows>,
        schema: &Value,
        seed: Seed,
    ) -> Result<Source, SourceError> {
        match (self, rows) {
            (Self::Given(args), _) => Source::template(args),
            (Self::List { list, order }, _) => Source::list(list, *order),
            (Self::Generated, _) => Source::generated(schema, Budget::default(), seed),
            (Self::File { .. }, None) => Err(SourceError::NoRows),
            (Self::File { args: Some(args), order, .. }, Some(rows)) => {
                Source::rows(args, rows, *order)
            }
            (Self::File { args: None, order, .. }, Some(rows)) => {
                Source::objects(rows, schema, *order)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::rows::FileKind;
    use serde_json::json;

    #[test]
    fn a_recipe_reads_back_and_knows_its_file() {
        let file = Recipe::File { path: "a.csv".into(), args: None, order: Order::Random };
        for recipe in [
            Recipe::Given(json!({"a": null})),
            Recipe::List { list: vec![json!({})], order: Order::Sequential },
            file.clone(),
            Recipe::Generated,
        ] {
            let json = serde_json::to_value(&recipe).unwrap();
            assert_eq!(serde_json::from_value::<Recipe>(json).unwrap(), recipe);
            assert_eq!(recipe.file().is_some(), recipe == file);
        }
    }

    #[test]
    fn each_recipe_becomes_its_source() {
        let rows = Rows::read(FileKind::Csv, "n\n1\n").unwrap();
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let file = |args| Recipe::File { path: "a.csv".into(), args, order: Order::Sequential };
        let source = |recipe: Recipe, rows| recipe.source(rows, &schema, Seed(1));
        assert!(source(Recipe::Given(json!({})), None).unwrap().fixed().is_some());
        assert_eq!(
            source(Recipe::Generated, None),
            Source::generated(&schema, Budget::default(), Seed(1))
        );
        assert_eq!(
            source(file(None), Some(&rows)),
            Source::objects(&rows, &schema, Order::Sequential)
        );
        let args = json!({"n": "{{row.n}}"});
        assert_eq!(
            source(file(Some(args.clone())), Some(&rows)),
            Source::rows(&args, &rows, Order::Sequential)
        );
        assert_eq!(source(file(None), None), Err(SourceError::NoRows));
    }
}
