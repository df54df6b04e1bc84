//! `[[scenario.tool_call]]`: one of the calls that a scenario may make.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::Arguments, call_arguments::CallArguments, error::ConfigError, path::KeyPath,
};
use crate::{
    arguments::{Order, Recipe},
    scenario::ToolCall,
};

/// One tool call that the scenario may make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallConfig {
    /// The tool's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How often it is chosen, compared with the others. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: Option<f64>,
    /// Its arguments: a table, or the text of a JSON object. Placeholders such as `{{iter}}`,
    /// `{{uuid}}`, `{{nonce}}`, `{{random.int 1 100}}` and `{{row.column}}` are filled in anew for
    /// every call, at any depth; a reply that does not give its `{{nonce}}` back has failed. For two
    /// plain braces write `{{{{`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Arguments>,
    /// Several arguments, of which each call takes one; placeholders work as in `args`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub args_list: Option<Vec<Arguments>>,
    /// A CSV file with a header, or a JSONL file, of which each call takes one row. With `args` its
    /// cells fill the placeholders `{{row.column}}`; without, the row is the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "queries.csv")]
    pub args_file: Option<PathBuf>,
    /// Which entry of `args_list` or row of `args_file` is next. Default: `sequential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_order: Option<Order>,
    /// Whether each call gets arguments of its own, made from the tool's input schema. Default:
    /// false; then they are made once, and only where they are needed and missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<bool>,
}

/// The keys for arguments, which two tables have among others: `serde` refuses unknown keys only in
/// tables without flattened ones.
macro_rules! call_arguments {
    ($table:expr) => {
        CallArguments {
            args: $table.args.clone(),
            args_list: $table.args_list.clone(),
            args_file: $table.args_file.clone(),
            args_order: $table.args_order,
            generate: $table.generate,
        }
    };
}

pub(super) use call_arguments;

impl ToolCallConfig {
    pub(super) fn to_call(&self, at: &KeyPath) -> Result<ToolCall, ConfigError> {
        let arguments = call_arguments!(self);
        let call = ToolCall::new(&self.name).weight(self.weight.unwrap_or(1.0));
        Ok(with_recipe(call, arguments.recipe(at)?))
    }
}

/// The call with the arguments that are made this way.
pub(super) fn with_recipe(call: ToolCall, recipe: Option<Recipe>) -> ToolCall {
    match recipe {
        None => call,
        Some(Recipe::Given(args)) => call.args(args),
        Some(recipe) => call.source(recipe),
    }
}

impl From<&ToolCall> for ToolCallConfig {
    fn from(call: &ToolCall) -> Self {
        let CallArguments { args, args_list, args_file, args_order, generate } =
            (&call.recipe()).into();
        let weight = (call.weight != 1.0).then_some(call.weight);
        let name = call.name.clone();
        Self { name, weight, args, args_list, args_file, args_order, generate }
    }
}
