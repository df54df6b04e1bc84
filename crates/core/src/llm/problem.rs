//! What is said when something is wrong: one table from a status to each provider's own words.

use super::Provider;

/// Something is wrong, and the client is told so in its provider's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong.
    pub message: String,
    /// The provider's type or status word, where it is not that of the table.
    pub kind: Option<String>,
    /// The provider's code, where it is not that of the table.
    pub code: Option<String>,
    /// How long to wait before the next try, where that helps.
    pub retry_after_ms: Option<u64>,
    /// Headers besides, or in place of, those that belong to the status.
    pub headers: Vec<(String, String)>,
}

impl Problem {
    /// A problem in the words of the table.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            kind: None,
            code: None,
            retry_after_ms: None,
            headers: Vec::new(),
        }
    }
}

/// A provider's words for a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wording {
    /// OpenAI's and Anthropic's `type`, Gemini's `status`.
    pub kind: &'static str,
    /// OpenAI's `code`.
    pub code: &'static str,
}

/// The words of a provider for a status.
pub const fn wording(provider: Provider, status: u16) -> Wording {
    match provider {
        Provider::Openai | Provider::Responses => openai(status),
        Provider::Anthropic => Wording { kind: anthropic(status), code: "" },
        Provider::Gemini => Wording { kind: gemini(status), code: "" },
    }
}

const fn openai(status: u16) -> Wording {
    let (kind, code) = match status {
        400 => ("invalid_request_error", "invalid_request"),
        401 => ("authentication_error", "invalid_api_key"),
        403 => ("permission_denied_error", "permission_denied"),
        404 => ("not_found_error", "not_found"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        500 => ("server_error", "server_error"),
        502 => ("server_error", "bad_gateway"),
        503 => ("server_error", "service_unavailable"),
        529 => ("server_error", "overloaded"),
        504 => ("server_error", "gateway_timeout"),
        405..=499 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "error"),
    };
    Wording { kind, code }
}

const fn anthropic(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

const fn gemini(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_providers_words() {
        let table = [
            (
                400,
                "invalid_request_error",
                "invalid_request",
                "invalid_request_error",
                "INVALID_ARGUMENT",
            ),
            (
                401,
                "authentication_error",
                "invalid_api_key",
                "authentication_error",
                "UNAUTHENTICATED",
            ),
            (
                403,
                "permission_denied_error",
                "permission_denied",
                "permission_error",
                "PERMISSION_DENIED",
            ),
            (404, "not_found_error", "not_found", "not_found_error", "NOT_FOUND"),
            (413, "invalid_request_error", "invalid_request", "request_too_large", "UNKNOWN"),
            (
                429,
                "rate_limit_error",
                "rate_limit_exceeded",
                "rate_limit_error",
                "RESOURCE_EXHAUSTED",
            ),
            (500, "server_error", "server_error", "api_error", "INTERNAL"),
            (502, "server_error", "bad_gateway", "api_error", "UNKNOWN"),
            (503, "server_error", "service_unavailable", "api_error", "UNAVAILABLE"),
            (504, "server_error", "gateway_timeout", "timeout_error", "DEADLINE_EXCEEDED"),
            (529, "server_error", "overloaded", "overloaded_error", "UNKNOWN"),
        ];
        for (status, kind, code, anthropic, gemini) in table {
            for provider in [Provider::Openai, Provider::Responses] {
                assert_eq!(wording(provider, status), Wording { kind, code }, "{status}");
            }
            assert_eq!(wording(Provider::Anthropic, status).kind, anthropic, "{status}");
            assert_eq!(wording(Provider::Gemini, status).kind, gemini, "{status}");
        }
        assert_eq!(wording(Provider::Openai, 599), Wording { kind: "server_error", code: "error" });
        assert_eq!(wording(Provider::Anthropic, 402).kind, "billing_error");
        for (status, kind) in [(409, "ABORTED"), (499, "CANCELLED"), (501, "UNIMPLEMENTED")] {
            assert_eq!(wording(Provider::Gemini, status).kind, kind);
        }
    }
}
