//! The tools that `serve --mcp` offers. To add one: one file here with its `ENTRY`, and one line in
//! [`TOOLS`].
//!
//! A tool gives a sentence or two of our own words, and the figures as structured content under its
//! output schema. Whatever may quote the server under test stands in the member `untrusted`.

mod compare_runs;
mod deadlock_probe;
mod explain;
mod list_recent_runs;
mod load;
mod negative_path;
mod probe;
mod probing;
mod report_summary;
mod sustained_load;

use std::{pin::Pin, sync::Arc};

use mcp_loadtest::{History, Secrets};
use rmcp::model::JsonObject;
use schemars::Schema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    allow::{Policy, Who},
    client::Client,
    desk::{Desk, Seat},
    pin::settle,
};
use crate::error::CliError;

/// All tools.
pub(crate) static TOOLS: &[Tool] = &[
    probe::ENTRY,
    deadlock_probe::ENTRY,
    sustained_load::ENTRY,
    negative_path::ENTRY,
    compare_runs::ENTRY,
    report_summary::ENTRY,
    list_recent_runs::ENTRY,
    explain::ENTRY,
];

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it does, for the model that chooses among tools.
    pub(crate) about: &'static str,
    pub(crate) does: Does,
    pub(crate) input: fn() -> Schema,
    pub(crate) output: fn() -> Schema,
    pub(crate) call: fn(Call) -> Calling,
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// It tests a server that the call names.
    Tests,
    /// It reads what is there.
    Reads,
}

pub(crate) type Calling = Pin<Box<dyn Future<Output = Result<Answer, CliError>> + Send>>;

/// What all calls share.
pub(crate) struct Office {
    pub(crate) policy: Policy,
    pub(crate) runs: History,
    pub(crate) desk: Desk,
    /// What the servers are given that clients must not learn.
    pub(crate) secrets: Secrets,
}

/// One call of a tool.
pub(crate) struct Call {
    pub(crate) office: Arc<Office>,
    pub(crate) client: Client,
    /// How the server to test was named, for tools that test one.
    pub(crate) who: Who,
    /// All other arguments.
    pub(crate) arguments: JsonObject,
}

impl Call {
    /// The server that the call may test, and the seat to do it. Nothing is looked up for those who
    /// would have to wait.
    async fn server(&self) -> Result<(mcp_loadtest::Server, Seat), CliError> {
        let admitted = self.office.policy.admit(&self.who)?;
        let seat = self.office.desk.take()?;
        Ok((settle(admitted).await?, seat))
    }

    /// The arguments of the tool itself.
    fn read<T: DeserializeOwned>(&mut self) -> Result<T, CliError> {
        let arguments = Value::Object(std::mem::take(&mut self.arguments));
        serde_json::from_value(arguments).map_err(|error| {
            CliError::usage(format!("the arguments are wrong: {error}"), "see the input schema")
        })
    }
}

/// What a tool gives.
pub(crate) struct Answer {
    /// In our own words.
    pub(crate) text: String,
    /// Under the output schema.
    pub(crate) structured: Value,
}

impl Answer {
    fn new(text: impl Into<String>, result: &impl Serialize) -> Result<Self, CliError> {
        let structured = serde_json::to_value(result).map_err(std::io::Error::from)?;
        Ok(Self { text: text.into(), structured })
    }
}
