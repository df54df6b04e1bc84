//! The file behind `mock --tools-from`: tools with canned answers, resources and prompts.
//!
//! Three forms are read: the keys at the top, the same under `mock_server:`, and the plain result of
//! a `tools/list`, whose tools then answer with a sample of their output schema.

mod arm;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{config::ConfigError, yaml};

pub use arm::{Answer, Arm, ErrorAnswer, Match};

/// What a mock offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mcp-loadtest mock: tools, resources and prompts")]
pub struct ToolsFile {
    /// The same keys may stand one level down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mock_server: Option<Box<ToolsFile>>,
    /// Who the server says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What can be called.
    pub tools: Vec<ToolEntry>,
    /// What can be read.
    pub resources: Vec<ResourceEntry>,
    /// Families of resources: a URI with one part in braces.
    pub resource_templates: Vec<TemplateEntry>,
    /// What can be filled in.
    pub prompts: Vec<PromptEntry>,
    /// Of a saved `tools/list`: nothing is done with it.
    #[serde(rename = "nextCursor", skip_serializing)]
    next_cursor: Option<Value>,
    /// Of a saved `tools/list`: nothing is done with it.
    #[serde(rename = "resultType", skip_serializing)]
    result_type: Option<Value>,
    /// Of a saved `tools/list`: nothing is done with it.
    #[serde(rename = "ttlMs", skip_serializing)]
    ttl_ms: Option<Value>,
    /// Of a saved `tools/list`: nothing is done with it.
    #[serde(rename = "cacheScope", skip_serializing)]
    cache_scope: Option<Value>,
    /// Of a saved `tools/list`: nothing is done with it.
    #[serde(rename = "_meta", skip_serializing)]
    meta: Option<Value>,
}

/// A tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolEntry {
    /// What `tools/call` names.
    pub name: String,
    /// For people and models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the arguments must look like; without one, any object will do.
    #[serde(default, alias = "inputSchema", skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// What the structured content looks like.
    #[serde(default, alias = "outputSchema", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints such as `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Listed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Value>,
    /// Listed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Value>,
    /// Listed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Value>,
    /// Listed as it is.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// The answer, whatever the arguments are: a text, a `CallToolResult`, or any other value, which
    /// becomes structured content. `${args.x}` stands for the argument `x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// Answers by arguments; the first that matches is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Arm>,
}

impl ToolEntry {
    /// What is listed beside the members that every tool has.
    pub fn extra(&self) -> Map<String, Value> {
        let members = [
            ("title", &self.title),
            ("icons", &self.icons),
            ("execution", &self.execution),
            ("_meta", &self.meta),
        ];
        let given = members.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// A resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceEntry {
    /// What it is read by.
    pub uri: String,
    /// For people.
    pub name: String,
    /// For people and models.
    #[serde(default)]
    pub description: String,
    /// What it is.
    #[serde(default, alias = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What is in it, if that is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is in it, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// A family of resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TemplateEntry {
    /// A URI with one part in braces, such as `file:///{name}`.
    #[serde(alias = "uriTemplate")]
    pub uri_template: String,
    /// For people.
    pub name: String,
    /// For people and models.
    #[serde(default)]
    pub description: String,
    /// What its members are.
    #[serde(default, alias = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What is in each; the part in braces is filled in here, too.
    pub text: String,
}

/// A prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptEntry {
    /// What `prompts/get` names.
    pub name: String,
    /// For people and models.
    #[serde(default)]
    pub description: String,
    /// What can be filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// One message of the user; `${args.x}` stands for the argument `x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The messages as they go over the wire, if one text is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Value>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// For people and models.
    #[serde(default)]
    pub description: String,
    /// Whether it must be there.
    #[serde(default)]
    pub required: bool,
}

impl ToolsFile {
    /// Reads and judges a file. `file` is only what errors call it.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let mut read: Self = yaml::read(text, file)?;
        if let Some(inner) = read.mock_server.take() {
            let outer = std::mem::replace(&mut read, *inner);
            if outer != Self::default() {
                let error = ConfigError::new("mock_server", "stands beside the keys that it holds");
                return Err(in_file(error.with_hint("put everything under `mock_server`"), file));
            }
        }
        read.check().map_err(|error| in_file(error, file))?;
        Ok(read)
    }

    fn check(&self) -> Result<(), ConfigError> {
        for (index, tool) in self.tools.iter().enumerate() {
            let key = |name: &str| format!("tools[{index}].{name}");
            if self.tools[..index].iter().any(|other| other.name == tool.name) {
                return Err(ConfigError::new(key("name"), "another tool has this name")
                    .with_hint(format!("rename one of the two called `{}`", tool.name)));
            }
            if tool.response.is_some() && !tool.responses.is_empty() {
                return Err(ConfigError::new(key("response"), "stands beside `responses`")
                    .with_hint("make it the last of `responses`, with `default: true`"));
            }
            for (arm, answer) in tool.responses.iter().enumerate() {
                answer.check().map_err(|(name, why, hint)| {
                    ConfigError::new(key(&format!("responses[{arm}].{name}")), why).with_hint(hint)
                })?;
            }
        }
        for (index, resource) in self.resources.iter().enumerate() {
            if resource.text.is_some() == resource.blob.is_some() {
                let key = format!("resources[{index}].text");
                return Err(ConfigError::new(key, "`text` or `blob` is needed, and only one"));
            }
        }
        for (index, prompt) in self.prompts.iter().enumerate() {
            if prompt.text.is_some() == prompt.messages.is_some() {
                let key = format!("prompts[{index}].text");
                return Err(ConfigError::new(key, "`text` or `messages` is needed, and only one"));
            }
        }
        Ok(())
    }
}

fn in_file(mut error: ConfigError, file: &str) -> ConfigError {
    error.file = Some(file.to_owned());
    error.key = error.key.plain();
    error
}

/// The JSON Schema of the file.
pub fn schema() -> Value {
    schemars::schema_for!(ToolsFile).to_value()
}

#[cfg(test)]
mod tests;
