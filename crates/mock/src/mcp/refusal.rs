//! Why a request is not served, as JSON-RPC says it.

use mcp_loadtest_core::mcp::Era;
use serde::Serialize;
use serde_json::Value;

/// The codes that the mock sends.
pub(crate) mod code {
    /// Not JSON.
    pub(crate) const PARSE_ERROR: i64 = -32700;
    /// JSON, but no request.
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// A method that is not there, or not in this era.
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    /// Parameters that the method cannot take.
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    /// Something went wrong inside.
    pub(crate) const INTERNAL_ERROR: i64 = -32603;
    /// Legacy: there is no such resource.
    pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
    /// Modern: the client lacks what the call needs.
    pub(crate) const MISSING_CAPABILITY: i64 = -32021;
    /// Modern HTTP: headers and body disagree.
    pub(crate) const HEADER_MISMATCH: i64 = -32020;
    /// Modern: a revision that is not spoken.
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
    /// Legacy HTTP: a request outside a session, with the code that SDKs use for it.
    pub(crate) const NO_SESSION: i64 = -32000;
    /// Legacy HTTP: a session that is not there, with the code that SDKs use for it.
    pub(crate) const UNKNOWN_SESSION: i64 = -32001;
}

/// The `error` member of a reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }
}

/// The statuses that replies travel with over HTTP.
pub(crate) const OK: u16 = 200;
pub(crate) const ACCEPTED: u16 = 202;
const BAD_REQUEST: u16 = 400;
const NOT_FOUND: u16 = 404;

/// In the legacy era errors travel with 200; in the modern one the status tells them apart.
pub(crate) fn status_of(era: Era, code: Option<i64>) -> u16 {
    match (era, code) {
        (Era::Modern, Some(code::METHOD_NOT_FOUND)) => NOT_FOUND,
        (
            Era::Modern,
            Some(
                code::INVALID_REQUEST
                | code::INVALID_PARAMS
                | code::MISSING_CAPABILITY
                | code::UNSUPPORTED_VERSION,
            ),
        ) => BAD_REQUEST,
        _ => OK,
    }
}
