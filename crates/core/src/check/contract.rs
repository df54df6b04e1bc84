//! What each revision asks a server to answer to a call that it must refuse.
//!
//! | call              | up to 2025-06-18               | 2025-11-25, 2026-07-28          |
//! |-------------------|--------------------------------|---------------------------------|
//! | unknown tool      | JSON-RPC error, -32602         | the same                        |
//! | invalid arguments | JSON-RPC error, or `isError`   | `isError` (SEP-1303)            |
//!
//! The text of the older revisions lists "invalid arguments" among protocol errors and "invalid
//! input data" among tool errors, so both are right there. No revision says MUST about either, and
//! official SDKs answer an unknown tool with `isError`: so the class alone is never more than a
//! warning.

use serde_json::Value;

use crate::{mcp::Revision, report::Severity};

/// A call that must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadCall {
    /// The tool does not exist.
    UnknownTool,
    /// The schema of the tool forbids the arguments.
    InvalidArguments,
}

/// How it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// With a JSON-RPC error of this code.
    ProtocolError(i64),
    /// With a result that says `isError`.
    ToolError,
    /// With a status of HTTP, and no JSON-RPC message.
    Status(u16),
    /// With a result whose text speaks of an error, but without `isError`.
    InWords,
}

/// A refusal of the wrong class: how bad it is, and where the right one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deviation {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is written that it should be otherwise.
    pub reference: &'static str,
}

const INVALID_PARAMS: i64 = -32602;
/// 2026-07-28: a header says otherwise than the arguments, which a gateway may find out first.
const HEADER_MISMATCH: i64 = -32020;

const UNKNOWN_TOOL: &str =
    "MCP, server/tools, error handling: an unknown tool is a protocol error, -32602";
const NO_SERVER_FAULT: &str = "MCP, server/tools, error handling: invalid arguments are a protocol error (-32602) or `isError`";
const TOOL_ERROR: &str = "MCP 2025-11-25, server/tools, error handling (SEP-1303): invalid arguments \
                          are a tool error, `isError`, so that a model can correct itself";
const IS_ERROR: &str = "MCP, server/tools, error handling: a tool error says `isError: true`";
const MESSAGE: &str = "MCP, basic/transports: a request is answered with a JSON-RPC message";

/// Whether a deviation is such that a program does not see a refusal at all.
pub fn is_no_refusal(reference: &str) -> bool {
    [IS_ERROR, MESSAGE].contains(&reference)
}

/// What is wrong with the way in which a call was refused, if anything.
pub fn deviation(revision: Revision, call: BadCall, refusal: Refusal) -> Option<Deviation> {
    let is = |severity, reference| Some(Deviation { severity, reference });
    match (call, refusal) {
        (_, Refusal::InWords) => is(Severity::Warning, IS_ERROR),
        // What is too large for the server need not be read to be refused.
        (_, Refusal::Status(413)) => None,
        (_, Refusal::Status(_)) => is(Severity::Warning, MESSAGE),
        (BadCall::UnknownTool, Refusal::ProtocolError(INVALID_PARAMS)) => None,
        (BadCall::UnknownTool, Refusal::ProtocolError(_) | Refusal::ToolError) => {
            is(Severity::Info, UNKNOWN_TOOL)
        }
        (BadCall::InvalidArguments, Refusal::ToolError) => None,
        (BadCall::InvalidArguments, Refusal::ProtocolError(HEADER_MISMATCH)) => None,
        (BadCall::InvalidArguments, Refusal::ProtocolError(code)) => {
            match (revision >= Revision::V2025_11_25, code) {
                (true, _) => is(Severity::Warning, TOOL_ERROR),
                (false, INVALID_PARAMS) => None,
                (false, _) => is(Severity::Warning, NO_SERVER_FAULT),
            }
        }
    }
}

/// Words with which hand-written servers begin a refusal that does not say `isError`.
const BEGINNINGS: [&str; 9] = [
    "error",
    "invalid",
    "missing",
    "failed",
    "validation",
    "exception",
    "traceback",
    "unknown tool",
    "\u{274c}",
];

/// Whether a result that does not say `isError` tells of an error all the same: by the first words
/// of its text, or by JSON in it with an `error` or with `success: false`.
pub fn speaks_of_an_error(result: &Value) -> bool {
    let Some(text) = result["content"][0]["text"].as_str() else { return false };
    let text = text.trim_start();
    let begins = |word: &str| {
        let head = text.get(..word.len());
        head.is_some_and(|head| head.to_lowercase() == word)
    };
    if BEGINNINGS.into_iter().any(begins) {
        return true;
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => {
            map.get("error").is_some_and(|error| !error.is_null() && *error != Value::Bool(false))
                || map.get("success") == Some(&Value::Bool(false))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn severity(revision: Revision, call: BadCall, refusal: Refusal) -> Option<Severity> {
        deviation(revision, call, refusal).map(|deviation| deviation.severity)
    }

    #[test]
    fn an_unknown_tool_is_a_protocol_error_in_every_revision() {
        for revision in Revision::ALL {
            let how = |refusal| severity(revision, BadCall::UnknownTool, refusal);
            assert_eq!(how(Refusal::ProtocolError(-32602)), None);
            assert_eq!(how(Refusal::ProtocolError(-32601)), Some(Severity::Info));
            assert_eq!(how(Refusal::ToolError), Some(Severity::Info));
        }
    }

    #[test]
    fn invalid_arguments_are_tool_errors_since_sep_1303() {
        for revision in Revision::ALL {
            let how = |refusal| severity(revision, BadCall::InvalidArguments, refusal);
            let since = (revision >= Revision::V2025_11_25).then_some(Severity::Warning);
            assert_eq!(how(Refusal::ToolError), None);
            assert_eq!(how(Refusal::ProtocolError(-32602)), since);
            assert_eq!(how(Refusal::ProtocolError(-32603)), Some(Severity::Warning));
            assert_eq!(how(Refusal::ProtocolError(-32020)), None, "a header says otherwise");
            assert_eq!(how(Refusal::ProtocolError(32020)), Some(Severity::Warning));
            assert_eq!(how(Refusal::InWords), Some(Severity::Warning));
            assert_eq!(how(Refusal::Status(413)), None);
            assert_eq!(how(Refusal::Status(400)), Some(Severity::Warning));
        }
    }

    #[test]
    fn refusals_in_words_are_told_from_results() {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        for refusal in [
            "Error: `q` is required",
            " invalid input",
            "\u{274c} no such file",
            r#"{"error": "q"}"#,
            r#"{"success": false}"#,
        ] {
            assert!(speaks_of_an_error(&text(refusal)), "{refusal}");
        }
        for result in [
            "42",
            "",
            "no error",
            r#"{"error": null}"#,
            r#"{"error": false}"#,
            r#"{"success": true}"#,
            r#"["error"]"#,
            "\u{e9}rror",
        ] {
            assert!(!speaks_of_an_error(&text(result)), "{result}");
        }
        assert!(!speaks_of_an_error(&json!({})));
    }
}
