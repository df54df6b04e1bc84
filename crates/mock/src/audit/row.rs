//! One line of the log: a message that reached the server, together with its reply.

use std::{fmt, str::FromStr};

use mcp_loadtest_core::{
    config::TransportName,
    hint::{Hint, nearest},
    mcp::Era,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{headers::Headers, redaction::Redaction, time::Timestamp, word::Word};

/// How many messages before a reply are kept with their times. All of them are counted.
pub const EVENT_LIMIT: usize = 100;

/// A message that reached the server, and what became of it.
///
/// Everything has a default: who builds a row fills in what it knows.
///
/// ```
/// use mcp_loadtest_mock::audit::{Kind, Row};
///
/// let row = Row { kind: Kind::Request, method: Some("tools/list".into()), ..Row::default() };
/// assert!(row.tool.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The order of arrival. Unique in a log.
    pub seq: u64,
    /// When the message arrived.
    pub ts: Timestamp,
    /// What it was.
    pub kind: Kind,
    /// What it came over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportName>,
    /// The protocol that it spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// The revision that it spoke or asked for, known or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Word>,
    /// The session, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The JSON-RPC id exactly as it was sent, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpc_id: Option<String>,
    /// The JSON-RPC method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Word>,
    /// The tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Word>,
    /// Its arguments as JSON, masked and cut; see [`Row::set_arguments`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Whether the arguments were cut.
    #[serde(skip_serializing_if = "is_false")]
    pub arguments_truncated: bool,
    /// The HTTP method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_verb: Option<Word>,
    /// The path that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_path: Option<Word>,
    /// The header lines, masked; see [`Row::set_headers`].
    #[serde(skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// The HTTP status of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The code of the JSON-RPC error that was the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<i64>,
    /// The text of the error, of the protocol's or of the tool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// A word for the sort of error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_category: Option<Word>,
    /// Whether it went well.
    pub success: bool,
    /// Whether the client gave it up before there was a reply.
    #[serde(skip_serializing_if = "is_false")]
    pub cancelled: bool,
    /// What was done to it on purpose, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// How often the same call has come, this one included; 0 where nobody counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// The size of the message.
    pub bytes_in: u64,
    /// The size of all that was sent for it.
    pub bytes_out: u64,
    /// From its arrival until its reply was written, in microseconds.
    pub duration_us: u64,
    /// What was sent before the reply, the first [`EVENT_LIMIT`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SentEvent>,
    /// How many messages were sent before the reply.
    #[serde(skip_serializing_if = "is_zero")]
    pub event_count: u32,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A message that was sent to the client before a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentEvent {
    /// When, in microseconds since the request arrived.
    pub at_us: u64,
    /// Its method.
    pub method: Word,
}

impl Row {
    /// Notes the arguments of a call, given as JSON: secrets are masked, then the text is cut.
    pub fn set_arguments(&mut self, json: &str, redaction: &Redaction) {
        let (text, truncated) = redaction.arguments(json);
        self.arguments = Some(text);
        self.arguments_truncated = truncated;
    }

    /// Notes header lines; the values of secret ones are masked.
    pub fn set_headers<'a>(
        &mut self,
        lines: impl IntoIterator<Item = (&'a str, &'a str)>,
        redaction: &Redaction,
    ) {
        self.headers = redaction.headers(lines);
    }

    /// Counts a message that is sent before the reply, and keeps it unless there are too many.
    pub fn push_event(&mut self, at_us: u64, method: impl Into<Word>) {
        self.event_count = self.event_count.saturating_add(1);
        if self.events.len() < EVENT_LIMIT {
            self.events.push(SentEvent { at_us, method: method.into() });
        }
    }

    /// Has every text that others may have written looked at, and replaced where `other` gives another.
    pub(super) fn each_text(&mut self, other: &dyn Fn(&str) -> Option<String>) {
        let texts = [
            &mut self.session,
            &mut self.rpc_id,
            &mut self.arguments,
            &mut self.error_message,
            &mut self.fault,
            &mut self.note,
        ];
        for text in texts.into_iter().flatten() {
            if let Some(other) = other(text) {
                *text = other;
            }
        }
        let words = [&mut self.revision, &mut self.method, &mut self.tool, &mut self.http_path];
        let words = words.into_iter().flatten();
        for word in words.chain(self.events.iter_mut().map(|event| &mut event.method)) {
            if let Some(other) = other(word) {
                *word = other.into();
            }
        }
        if let Some(other) = other(self.headers.as_str()) {
            self.headers = Headers::from_lines(other);
        }
    }

    /// About how much memory the row takes.
    pub(super) fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        size_of::<Self>()
            + text(&self.arguments)
            + text(&self.error_message)
            + text(&self.fault)
            + text(&self.note)
            + text(&self.session)
            + text(&self.rpc_id)
            + self.headers.as_str().len()
            + self.events.len() * size_of::<SentEvent>()
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A request, with its reply.
    #[default]
    Request,
    /// A notification.
    Notification,
    /// A notification that gives a request up.
    Cancellation,
    /// A client's reply to a request of the server.
    Response,
    /// A stream that a client opened to listen.
    Stream,
    /// A session that a client ended.
    SessionEnd,
    /// Not a message at all.
    Refused,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Request,
        Self::Notification,
        Self::Cancellation,
        Self::Response,
        Self::Stream,
        Self::SessionEnd,
        Self::Refused,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Cancellation => "cancellation",
            Self::Response => "response",
            Self::Stream => "stream",
            Self::SessionEnd => "session_end",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no kind of row.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no kind of audit row")]
pub struct UnknownKind(pub String);

impl Hint for UnknownKind {
    fn hint(&self) -> Option<String> {
        let known = Kind::ALL.map(Kind::as_str);
        Some(match nearest(&self.0, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", known.join(", ")),
        })
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_json_is_the_word_in_the_code() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }

    #[test]
    fn events_beyond_the_limit_are_counted_but_not_kept() {
        let mut row = Row::default();
        for at in 0..250 {
            row.push_event(at, "notifications/progress");
        }
        assert_eq!((row.events.len(), row.event_count), (EVENT_LIMIT, 250));
        assert_eq!(row.events[EVENT_LIMIT - 1].at_us, 99, "the first are kept");
    }
}
