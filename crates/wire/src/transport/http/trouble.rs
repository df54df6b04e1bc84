//! Why an exchange failed.

use std::io;

use mcp_loadtest_core::{display::visible_bytes, outcome::ErrorCategory};

use super::head::Head;
use crate::session::Break;

/// Why an exchange failed.
pub(crate) struct Trouble {
    pub(crate) category: ErrorCategory,
    pub(crate) code: Option<i64>,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn disconnected(message: impl std::fmt::Display) -> Self {
        Self { category: ErrorCategory::Disconnected, code: None, message: message.to_string() }
    }

    pub(crate) fn connecting(host: &str, error: io::Error) -> Self {
        Self::disconnected(format_args!("cannot connect to {host}: {error}"))
    }

    pub(crate) fn sending(error: io::Error) -> Self {
        Self::disconnected(format_args!("the request could not be sent: {error}"))
    }

    pub(crate) fn receiving(error: io::Error) -> Self {
        Self::disconnected(format_args!("the connection broke before the reply was there: {error}"))
    }

    pub(crate) fn malformed(message: impl std::fmt::Display) -> Self {
        Self { category: ErrorCategory::Malformed, code: None, message: message.to_string() }
    }

    pub(crate) fn into_break(self) -> Break {
        Break { category: self.category, code: self.code, message: self.message.into() }
    }
}

/// What a status that is no success amounts to.
pub(crate) fn status_trouble(head: &Head, body: &[u8]) -> Trouble {
    let message = match (&head.location, head.status) {
        (Some(location), 300..=399) => {
            format!(
                "HTTP {} sends us to {}; redirects are not followed",
                head.status,
                visible_bytes(location.as_bytes(), 200)
            )
        }
        _ => format!("HTTP {}: {}", head.status, visible_bytes(body.trim_ascii(), 120)),
    };
    Trouble { category: ErrorCategory::ServerError, code: Some(i64::from(head.status)), message }
}
