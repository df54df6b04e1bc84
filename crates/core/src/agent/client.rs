//! What an MCP client shows a model of a call that went wrong. A model under test sees these words
//! and no others: they are those of the usual SDKs, and none of them speaks of a test.

use crate::fault::{Instead, Mangle, Treatment};
use serde_json::Value;

/// What the agent's client makes of an injected fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Nothing but a delay, in milliseconds: the call is made as usual.
    Delay(u64),
    /// The call does not come back within the client's patience.
    Silence,
    /// The call fails at once with this text.
    Failure(String),
    /// The connection ends: what became of the call is not known.
    Cut(String),
}

/// What a client that waits for `patience_ms` makes of it.
pub fn effect(treatment: &Treatment, patience_ms: u64) -> Effect {
    let delay = u64::try_from(treatment.delay.as_millis()).unwrap_or(u64::MAX);
    if delay >= patience_ms {
        return Effect::Silence;
    }
    // A client cannot tell whose reply an unreadable one was: it waits on.
    let unreadable = |mangle: &Mangle| {
        matches!(mangle, Mangle::Malformed | Mangle::Truncate(_) | Mangle::WrongId)
    };
    match &treatment.instead {
        None if treatment.mangles.iter().any(unreadable) => Effect::Silence,
        None => Effect::Delay(delay),
        Some(Instead::Hang | Instead::LazyInit) => Effect::Silence,
        Some(Instead::Error { code, message, .. }) => Effect::Failure(error(*code, message)),
        Some(Instead::ToolError { text }) => Effect::Failure(text.clone()),
        Some(Instead::Http { status, retry_after, .. }) => {
            Effect::Failure(refused(*status, *retry_after))
        }
        Some(Instead::SessionLost) => Effect::Failure(refused(404, None)),
        Some(Instead::Cut(_) | Instead::Crash(_)) => Effect::Cut(closed()),
    }
}

/// The call was not answered in time.
pub fn timed_out() -> String {
    error(-32001, "Request timed out")
}

/// The connection ended before the reply.
pub fn closed() -> String {
    error(-32000, "Connection closed")
}

/// A JSON-RPC error.
pub fn error(code: i64, message: &str) -> String {
    format!("MCP error {code}: {message}")
}

fn refused(status: u16, retry_after: Option<u64>) -> String {
    let reason = match status {
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Session not found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "the server refused the request",
    };
    let later = retry_after.map_or_else(String::new, |s| format!("; retry after {s} s"));
    format!("Error POSTing to endpoint (HTTP {status}): {reason}{later}")
}

/// The text of a tool's result, as a model is shown it.
pub fn result_text(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().map(|block| match block.get("text") {
        Some(Value::String(text)) => text.clone(),
        _ => block.to_string(),
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    match result.get("structuredContent") {
        Some(structured) if text.is_empty() => structured.to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{
        config::TransportName,
        fault::{CallView, Fault, FaultPlan},
        mcp::{Era, method},
    };

    fn seen(fault: &str) -> Effect {
        let plan = FaultPlan::new([fault.parse::<Fault>().unwrap()], Default::default());
        let call = CallView {
            method: method::TOOLS_CALL,
            tool: Some("search"),
            session: None,
            server: Some("api"),
            elapsed: Duration::ZERO,
            transport: TransportName::Http,
            era: Era::Legacy,
        };
        effect(&plan.decide(&call), 3_000)
    }

    #[test]
    fn every_fault_has_the_effect_that_a_client_would_see() {
        for silent in [
            "hang",
            "wedged",
            "slow:3000",
            "recover-after:1",
            "malformed",
            "truncate:5",
            "wrong-id",
        ] {
            assert_eq!(seen(silent), Effect::Silence, "{silent}");
        }
        assert_eq!(seen("slow:2999"), Effect::Delay(2_999));
        assert_eq!(seen("recover-after:0"), Effect::Delay(0));
        for cut in ["disconnect", "reset", "crash"] {
            assert_eq!(
                seen(cut),
                Effect::Cut("MCP error -32000: Connection closed".into()),
                "{cut}"
            );
        }
        for (fault, part) in [
            ("error:-32603", "MCP error -32603: Internal error"),
            ("tool-error", "The tool failed"),
            ("http:429", "Too Many Requests; retry after 1 s"),
            ("auth-expired", "Unauthorized"),
            ("session-lost", "Session not found"),
        ] {
            let Effect::Failure(text) = seen(fault) else { panic!("{fault}") };
            assert!(text.contains(part), "{fault}: {text}");
        }
    }

    #[test]
    fn no_word_speaks_of_a_test() {
        let mut texts = vec![timed_out(), closed()];
        for fault in ["error", "tool-error", "http:429", "auth-expired", "session-lost", "crash"] {
            match seen(fault) {
                Effect::Failure(text) | Effect::Cut(text) => texts.push(text),
                other => panic!("{fault}: {other:?}"),
            }
        }
        for text in texts {
            let lower = text.to_lowercase();
            for word in ["test", "inject", "fault", "synthe", "virtual", "mock", "loadtest"] {
                assert!(!lower.contains(word), "`{text}` says `{word}`");
            }
        }
    }

    #[test]
    fn results_are_shown_as_text() {
        let blocks = json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}]});
        assert_eq!(result_text(&blocks), "a\n{\"type\":\"image\"}");
        assert_eq!(result_text(&json!({"structuredContent": {"a": 1}})), "{\"a\":1}");
    }

    #[test]
    fn a_refusal_says_its_status_and_when_to_come_back() {
        for (status, reason) in [
            (401, "Unauthorized"),
            (403, "Forbidden"),
            (404, "Session not found"),
            (429, "Too Many Requests"),
            (500, "Internal Server Error"),
            (502, "Bad Gateway"),
            (503, "Service Unavailable"),
            (504, "Gateway Timeout"),
            (418, "the server refused the request"),
        ] {
            let text = format!("Error POSTing to endpoint (HTTP {status}): {reason}");
            assert_eq!(refused(status, None), text);
            assert_eq!(refused(status, Some(7)), format!("{text}; retry after 7 s"));
        }
        assert_eq!(timed_out(), "MCP error -32001: Request timed out");
    }

    #[test]
    fn a_text_goes_before_what_is_structured() {
        let both = json!({"content": [{"type": "text", "text": "a"}], "structuredContent": 1});
        assert_eq!(result_text(&both), "a");
        assert_eq!(result_text(&json!({"content": [], "structuredContent": 1})), "1");
        assert_eq!(result_text(&json!({})), "");
    }
}
