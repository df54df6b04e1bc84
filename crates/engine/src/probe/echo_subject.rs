//! A tool that gives back a text it is given: only such a tool shows whose answer one has.

use mcp_loadtest_core::mcp::Tool;
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{at_once::prepared, bench::Bench};

/// So many tools are tried in search of one.
const MOST_TRIED: usize = 8;
/// What is sent to see whether it comes back.
const MARKER: &str = "mcp-loadtest-echo-4711";

/// A tool that gives back what its parameter holds.
#[derive(Debug, Clone)]
pub(crate) struct EchoSubject {
    pub(crate) tool: Tool,
    arguments: Value,
    parameter: String,
}

impl EchoSubject {
    /// Arguments with this text to give back.
    pub(crate) fn saying(&self, text: &str) -> Value {
        let mut arguments = self.arguments.clone();
        arguments[self.parameter.as_str()] = json!(text);
        arguments
    }
}

impl Bench {
    /// The first tool that was seen to give back a text.
    pub(crate) async fn echo_subject(&self, session: &Session) -> Option<EchoSubject> {
        let candidates = self.subjects().filter_map(|(tool, good)| {
            let (tool, arguments) = (tool.clone(), good.clone());
            Some(EchoSubject { parameter: free_text(&tool)?, tool, arguments })
        });
        for subject in candidates.take(MOST_TRIED) {
            let call = prepared(session, &subject.tool, &subject.saying(MARKER));
            let reply = session.call(&call, self.how()).await;
            let body = reply.body.as_deref().unwrap_or_default();
            if reply.failure().is_none() && String::from_utf8_lossy(body).contains(MARKER) {
                return Some(subject);
            }
        }
        None
    }
}

/// A parameter that takes any text, as far as the schema says.
fn free_text(tool: &Tool) -> Option<String> {
    let properties = tool.input_schema["properties"].as_object()?;
    let is_free = |schema: &Value| {
        let limits = ["enum", "const", "format", "pattern", "maxLength"];
        schema["type"] == "string" && limits.iter().all(|limit| schema.get(limit).is_none())
    };
    let named = properties.iter().find(|(_, schema)| is_free(schema))?;
    Some(named.0.clone())
}
