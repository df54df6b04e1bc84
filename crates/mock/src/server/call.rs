//! `tools/call`: finds the tool, holds the arguments against its schema, and writes what came of it.

use mcp_loadtest_core::mcp::Revision;
use serde_json::{Map, Value};

use super::{Server, session::Session};
use crate::{
    catalog::tool::{Call, Run, Tool},
    mcp::{
        refusal::Refusal,
        request::{Params, Request},
        result::{CallResult, Content, Outcome},
        write,
    },
};

/// What a reply said, for the status line and the audit log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// Of a JSON-RPC error.
    pub(crate) code: Option<i64>,
    /// A result that says that it is none.
    pub(crate) is_error: bool,
    pub(crate) message: Option<String>,
    pub(crate) category: Option<&'static str>,
}

impl Told {
    /// Appends a JSON-RPC error.
    pub(crate) fn refuse(out: &mut Vec<u8>, id: &[u8], refusal: &Refusal) -> Self {
        write::error(out, id, refusal);
        Self { code: Some(refusal.code), message: Some(refusal.message.clone()), ..Self::default() }
    }

    pub(crate) fn is_success(&self) -> bool {
        self.code.is_none() && !self.is_error
    }
}

/// The tool that a call is for.
pub(super) fn find<'a>(server: &'a Server, params: &Params<'_>) -> Result<&'a Tool, Refusal> {
    let name =
        params.name.as_deref().ok_or_else(|| Refusal::invalid_params("`name` is not a string"))?;
    server
        .catalog
        .tool(name)
        .ok_or_else(|| Refusal::invalid_params(format!("there is no tool `{name}`")))
}

/// The arguments of a call, or what is wrong with them.
pub(super) fn arguments(tool: &Tool, params: &Params<'_>) -> Result<Value, Outcome> {
    let raw = params.arguments.unwrap_or("{}");
    let arguments = match serde_json::from_str::<Map<String, Value>>(raw) {
        Ok(arguments) => Value::Object(arguments),
        Err(_) => {
            return Err(Refusal::invalid_params("`arguments` is not an object").into());
        }
    };
    match tool.check(&arguments) {
        Ok(()) => Ok(arguments),
        Err(wrong) => Err(Outcome::BadArguments(wrong)),
    }
}

/// Since 2025-11-25 a model is to read what is wrong with its arguments, so it is a tool error.
fn refuse_arguments(why: String, revision: Revision) -> Outcome {
    if revision >= Revision::V2025_11_25 {
        CallResult::error(why).into()
    } else {
        Refusal::invalid_params(why).into()
    }
}

/// The reply of a tool that answers on the spot, or to a call that no tool can take; `None` for one
/// that takes its time.
pub(super) fn now(
    server: &Server,
    session: &Session,
    request: &Request<'_>,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Option<Told> {
    let outcome = match find(server, &request.params) {
        Err(refusal) => refusal.into(),
        Ok(tool) => match (arguments(tool, &request.params), &tool.run) {
            (Err(outcome), _) => outcome,
            (Ok(_), Run::Later(_)) => return None,
            (Ok(arguments), Run::Now(run)) => {
                let raw = request.params.arguments.unwrap_or("{}");
                run(&Call { session, arguments: &arguments, raw })
            }
        },
    };
    Some(tell(server, &outcome, request.id, revision, out))
}

/// Appends what a call came to.
pub(super) fn tell(
    server: &Server,
    outcome: &Outcome,
    id: &[u8],
    revision: Revision,
    out: &mut Vec<u8>,
) -> Told {
    match outcome {
        Outcome::Refused(refusal, category) => {
            Told { category: *category, ..Told::refuse(out, id, refusal) }
        }
        Outcome::BadArguments(wrong) => {
            let refused = refuse_arguments(wrong.told.clone(), revision);
            let told = tell(server, &refused, id, revision, out);
            Told { message: Some(wrong.logged.clone()), ..told }
        }
        Outcome::InputRequired(asked) => {
            write::bare_result(out, id, asked);
            Told::default()
        }
        Outcome::Result(result) => {
            write::result(out, id, revision.era(), &server.info, &result.written(revision));
            let message = result.is_error.then(|| first_text(result)).flatten();
            Told { code: None, is_error: result.is_error, message, category: result.category }
        }
    }
}

fn first_text(result: &CallResult) -> Option<String> {
    result.content.iter().find_map(|content| match content {
        Content::Text(text) => Some(text.to_string()),
        Content::Written(_) => None,
    })
}
