//! What the mock offers: tools, resources and prompts.
//!
//! | room          | what is in it                                               |
//! |---------------|-------------------------------------------------------------|
//! | `tool`        | what a tool is: how it is listed, checked and run           |
//! | `resource`    | what can be read                                            |
//! | `prompt`      | what can be filled in                                       |
//! | `builtin`     | the tools that are there when no file is given, one each    |
//! | `conformance` | what the official conformance suite expects of a server     |
//! | `file`        | what a file of the user declares                            |

pub(crate) mod builtin;
pub(crate) mod conformance;
mod file;
pub(crate) mod fill;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod tool;

use std::collections::HashMap;

use mcp_loadtest_core::mcp;
use serde::Serialize;
use serde_json::{Map, Value};

use self::{
    prompt::Prompt,
    resource::{Resource, Template},
    tool::Tool,
};

/// Everything that is offered.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<Template>,
    pub(crate) prompts: Vec<Prompt>,
}

impl Catalog {
    /// Offers another tool. One of the same name takes the place of the former.
    pub(crate) fn add(&mut self, tool: Tool) {
        match self.by_name.get(&tool.listing.name) {
            Some(&index) => self.tools[index] = tool,
            None => {
                self.by_name.insert(tool.listing.name.clone(), self.tools.len());
                self.tools.push(tool);
            }
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.listing.name.clone()).collect()
    }

    /// A tool by its name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|&index| &self.tools[index])
    }

    /// The tools as `tools/list` tells them, in the order in which they were added.
    pub(crate) fn listings(&self) -> Vec<Listed<'_>> {
        let tools = self.tools.iter();
        tools.map(|tool| Listed { listing: &tool.listing, extra: &tool.extra }).collect()
    }
}

/// A tool as `tools/list` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct Listed<'a> {
    #[serde(flatten)]
    listing: &'a mcp::Tool,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

impl Extend<Tool> for Catalog {
    fn extend<T: IntoIterator<Item = Tool>>(&mut self, tools: T) {
        for tool in tools {
            self.add(tool);
        }
    }
}
