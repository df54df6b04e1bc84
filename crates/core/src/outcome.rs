//! How a call ended. Every failure falls into exactly one [`ErrorCategory`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The error taxonomy. The order is the precedence of classification, except that a terminal event
/// wins over the hang before it: a call that hangs until the server dies is a [`Self::Crash`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum ErrorCategory {
    /// No reply within the hang threshold, but one came before the grace period ended.
    Hang,
    /// No reply after the hang threshold and the grace period.
    Deadlock,
    /// The caller's own deadline passed (apart from the hang threshold).
    Timeout,
    /// A JSON-RPC error with a code that is not the protocol's, or an HTTP status that is no success.
    ServerError,
    /// A JSON-RPC error of the protocol itself (-32700, -32600 to -32603).
    ProtocolError,
    /// The server process ended during the call.
    Crash,
    /// The reply was not JSON, or not JSON-RPC.
    Malformed,
    /// The transport closed during the call.
    Disconnected,
    /// The caller withdrew the call before a reply.
    Cancelled,
    /// A result with `isError: true`.
    ToolError,
}

impl ErrorCategory {
    /// All categories in order of precedence.
    pub const ALL: [Self; 10] = [
        Self::Hang,
        Self::Deadlock,
        Self::Timeout,
        Self::ServerError,
        Self::ProtocolError,
        Self::Crash,
        Self::Malformed,
        Self::Disconnected,
        Self::Cancelled,
        Self::ToolError,
    ];

    /// The word used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hang => "Hang",
            Self::Deadlock => "Deadlock",
            Self::Timeout => "Timeout",
            Self::ServerError => "ServerError",
            Self::ProtocolError => "ProtocolError",
            Self::Crash => "Crash",
            Self::Malformed => "Malformed",
            Self::Disconnected => "Disconnected",
            Self::Cancelled => "Cancelled",
            Self::ToolError => "ToolError",
        }
    }

    /// Whether the call failed by how long it took, and not by what came back.
    pub const fn is_about_time(self) -> bool {
        matches!(self, Self::Hang | Self::Deadlock | Self::Timeout | Self::Cancelled)
    }

    /// The category of a JSON-RPC error reply. Codes that JSON-RPC leaves to applications count as
    /// server-defined.
    pub const fn from_code(code: i64) -> Self {
        match code {
            -32700 | -32603..=-32600 => Self::ProtocolError,
            _ => Self::ServerError,
        }
    }

    /// Whether the server answered at all: such a call has a response time like a good one.
    pub const fn was_answered(self) -> bool {
        matches!(
            self,
            Self::Hang
                | Self::ServerError
                | Self::ProtocolError
                | Self::ToolError
                | Self::Malformed
        )
    }

    /// One sentence that says what the category means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Hang => "answered only after the hang threshold",
            Self::Deadlock => "never answered within the hang threshold and the grace period",
            Self::Timeout => "given up at the configured call timeout",
            Self::ServerError => {
                "JSON-RPC error with a code that is not the protocol's, or an HTTP status that is no success"
            }
            Self::ProtocolError => {
                "JSON-RPC error of the protocol itself: -32700, or -32600 to -32603"
            }
            Self::Crash => "the server process ended during the call",
            Self::Malformed => "the reply was not valid JSON-RPC, or not that of this call",
            Self::Disconnected => "the transport closed during the call",
            Self::Cancelled => "withdrawn by us before a reply",
            Self::ToolError => "the tool answered with isError",
        }
    }
}

/// How one call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Outcome {
    /// A result without `isError`, in time.
    Ok,
    /// Anything else.
    Failed(ErrorCategory),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_fall_into_the_categories_of_the_taxonomy() {
        for code in [-32600, -32601, -32602, -32603, -32700] {
            assert_eq!(ErrorCategory::from_code(code), ErrorCategory::ProtocolError, "{code}");
        }
        for code in [-32000, -32099, -32020, 0, 7, -32604, -1] {
            assert_eq!(ErrorCategory::from_code(code), ErrorCategory::ServerError, "{code}");
        }
    }

    #[test]
    fn names_are_the_serialized_words() {
        for category in ErrorCategory::ALL {
            assert_eq!(serde_json::to_value(category).unwrap(), category.name());
        }
    }

    #[test]
    fn each_category_has_a_meaning_of_its_own_and_some_were_answered() {
        use ErrorCategory::{Hang, Malformed, ProtocolError, ServerError, ToolError};
        let mut meanings = ErrorCategory::ALL.map(ErrorCategory::meaning).to_vec();
        assert_eq!(meanings[0], "answered only after the hang threshold");
        meanings.sort_unstable();
        meanings.dedup();
        assert_eq!(meanings.len(), ErrorCategory::ALL.len());
        let answered = ErrorCategory::ALL.into_iter().filter(|category| category.was_answered());
        let expected = [Hang, ServerError, ProtocolError, Malformed, ToolError];
        assert_eq!(answered.collect::<Vec<_>>(), expected);
    }
}
