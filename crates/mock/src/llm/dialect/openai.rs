//! What the two APIs of OpenAI share.

use mcp_loadtest_core::llm::{Problem, Provider, StopReason, wording};
use serde_json::{Value, json};

use super::Reply;

/// An error as OpenAI writes it.
pub(super) fn problem(
    provider: Provider,
    problem: &Problem,
    number: u64,
) -> (Vec<(String, String)>, Value) {
    let words = wording(provider, problem.status);
    let mut headers = vec![("x-request-id".to_owned(), super::identity("req_", number))];
    if let Some(wait) = problem.retry_after_ms {
        headers.push(("retry-after-ms".into(), wait.to_string()));
        headers.push(("retry-after".into(), wait.div_ceil(1000).to_string()));
    }
    if problem.status == 429 {
        let wait = problem.retry_after_ms.unwrap_or_default();
        headers.push(("x-ratelimit-limit-requests".into(), "100".into()));
        headers.push(("x-ratelimit-remaining-requests".into(), "0".into()));
        headers.push(("x-ratelimit-reset-requests".into(), format!("{wait}ms")));
    }
    let body = json!({ "error": {
        "message": problem.message,
        "type": problem.kind.as_deref().unwrap_or(words.kind),
        "param": null,
        "code": problem.code.as_deref().unwrap_or(words.code),
    }});
    (headers, body)
}

/// Why an answer ended, in OpenAI's words.
pub(super) fn finish_reason(reply: &Reply) -> &str {
    match &reply.answer.stop {
        StopReason::ToolCalls if reply.wrong_finish => "stop",
        StopReason::Done => "stop",
        StopReason::Length => "length",
        StopReason::ToolCalls => "tool_calls",
        // A refusal is an answer that was complete.
        StopReason::Refusal => "stop",
        StopReason::Other(word) => word,
    }
}

/// The names of the tools that were offered, in either form.
pub(super) fn tool_names(body: &Value) -> Vec<String> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let named = tools.filter_map(|tool| {
        tool.get("name").or_else(|| tool.get("function")?.get("name"))?.as_str()
    });
    named.map(str::to_owned).collect()
}
