//! From a fixture to an answer, broken where a fault says so.

use mcp_loadtest_core::llm::{
    Answer, Block, CallId, Fixture, Problem, Provider, Request, Response, StopReason, StreamFault,
    ToolFault,
};

/// An answer, and how it is worded otherwise than its API would.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) answer: Answer,
    pub(super) malformed_call: bool,
    pub(super) wrong_finish: bool,
}

/// What a fixture answers to a request. `Err`: a template that cannot be filled in.
pub(super) fn compose(
    fixture: &Fixture,
    request: &Request,
    faults: &[&StreamFault],
) -> Result<Composed, Problem> {
    if let Some(refusal) = &fixture.refusal {
        let blocks = vec![Block::Refusal(refusal.reason.clone())];
        return Ok(plain(Answer::new(blocks, StopReason::Refusal, request.length)));
    }
    let nothing = Response::default();
    let response = fixture.response.as_ref().unwrap_or(&nothing);
    let mut blocks = Vec::new();
    if let Some(text) = content(response, request)? {
        blocks.push(Block::Text(text));
    }
    for call in response.tool_calls.iter().flatten() {
        blocks.push(Block::ToolCall {
            id: call.id.clone().map_or(CallId::MadeUp, CallId::Given),
            name: call.name.clone(),
            arguments: serde_json::to_string(&call.arguments).unwrap_or_default(),
        });
    }
    if let Some(vector) = &response.embedding {
        blocks.push(Block::Embedding(vector.clone()));
    }
    let stop = stop_reason(response);
    let mut composed = plain(Answer::new(blocks, stop, request.length));
    for fault in faults.iter().filter_map(|fault| fault.tool_call) {
        break_call(&mut composed, fault, request.provider);
    }
    if let Some(usage) = response.usage {
        composed.answer.usage = usage;
    }
    Ok(composed)
}

fn plain(answer: Answer) -> Composed {
    Composed { answer, malformed_call: false, wrong_finish: false }
}

fn content(response: &Response, request: &Request) -> Result<Option<String>, Problem> {
    match &response.content_template {
        None => Ok(response.content.clone()),
        Some(template) => template.render(request).map(Some).map_err(|why| Problem::new(500, why)),
    }
}

fn stop_reason(response: &Response) -> StopReason {
    match response.stop_reason.as_deref().or(response.finish_reason.as_deref()) {
        Some("stop" | "end_turn" | "STOP" | "completed") => StopReason::Done,
        Some("length" | "max_tokens" | "MAX_TOKENS" | "max_output_tokens") => StopReason::Length,
        Some("tool_calls" | "tool_use") => StopReason::ToolCalls,
        Some(word) => StopReason::Other(word.to_owned()),
        None if response.tool_calls.is_some() => StopReason::ToolCalls,
        None => StopReason::Done,
    }
}

/// Breaks the first call of a tool, where there is one.
fn break_call(composed: &mut Composed, fault: ToolFault, provider: Provider) {
    let calls = composed.answer.blocks.iter_mut();
    let Some((id, name, arguments)) = calls.filter_map(as_call).next() else { return };
    match fault {
        ToolFault::CutArguments => {
            let half = (arguments.len() / 2..arguments.len())
                .find(|at| arguments.is_char_boundary(*at))
                .unwrap_or_default();
            arguments.truncate(half);
            composed.answer.stop = StopReason::Length;
        }
        ToolFault::InvalidJson => *arguments = not_json(arguments),
        ToolFault::UnknownTool => name.push_str("_that_was_never_offered"),
        ToolFault::MissingId => *id = CallId::Missing,
        ToolFault::WrongFinishReason => composed.wrong_finish = true,
        ToolFault::MalformedFunctionCall if provider == Provider::Gemini => {
            composed.malformed_call = true;
        }
        ToolFault::MalformedFunctionCall => *arguments = not_json(arguments),
    }
}

fn as_call(block: &mut Block) -> Option<(&mut CallId, &mut String, &mut String)> {
    match block {
        Block::ToolCall { id, name, arguments } => Some((id, name, arguments)),
        _ => None,
    }
}

/// What models really write: a comma too many.
fn not_json(arguments: &str) -> String {
    let open = arguments.strip_suffix('}').unwrap_or(arguments);
    format!("{open},}}")
}
