//! What a server made of a request, in the few words that checks need.

use std::time::Duration;

use mcp_loadtest_core::{
    display::visible,
    jsonrpc::{self, Body, Id, Message, ResultKind},
    outcome::{ErrorCategory, Outcome},
};
use mcp_loadtest_wire::session::{Break, RawReply, Reply};
use serde_json::Value;

/// So much of what a server says is shown.
const SHOWN: usize = 160;

/// What a server made of a request.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// A result, and not one that says `isError`.
    Taken { result: Value },
    /// A result that says `isError`.
    ToolError { text: String },
    /// A JSON-RPC error.
    Refused { code: i64, message: String },
    /// An HTTP status without a JSON-RPC message.
    Status { status: u16, body: String },
    /// An answer that is no valid message.
    Garbled { why: String },
    /// No answer in time.
    Silent { waited: Duration },
    /// The connection or the process has ended.
    Gone(Break),
}

impl Seen {
    /// Whether the request was refused in any way.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::ToolError { .. } | Self::Refused { .. })
            || matches!(self, Self::Status { status: 400..=499, .. })
    }

    /// Whether an answer came.
    pub(crate) fn is_answer(&self) -> bool {
        !matches!(self, Self::Silent { .. } | Self::Gone(_))
    }

    /// In words, for a report.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Taken { result, .. } => format!("result {}", visible(&result.to_string(), SHOWN)),
            Self::ToolError { text, .. } => format!("isError: {}", visible(text, SHOWN)),
            Self::Refused { code, message, .. } => {
                format!("error {code}: {}", visible(message, SHOWN))
            }
            Self::Status { status, body } => format!("HTTP {status}: {}", visible(body, SHOWN)),
            Self::Garbled { why } => format!("no valid reply: {}", visible(why, SHOWN)),
            Self::Silent { waited } => format!("no answer in {:.1} s", waited.as_secs_f64()),
            Self::Gone(cause) => visible(&cause.message, 2 * SHOWN),
        }
    }

    /// What became of a call; its body must have been kept.
    pub(crate) fn of_reply(reply: &Reply, broken: Option<Break>) -> Self {
        match reply.outcome {
            Outcome::Ok => Self::Taken { result: reply.json().unwrap_or(Value::Null) },
            Outcome::Failed(category) => match category {
                ErrorCategory::ToolError => Self::ToolError { text: text_of(reply) },
                // A status that came without a message has no body to keep.
                ErrorCategory::ServerError
                    if reply.body.is_none() && http_status(reply.code).is_some() =>
                {
                    Self::Status {
                        status: http_status(reply.code).unwrap_or_default(),
                        body: reply.message.clone(),
                    }
                }
                ErrorCategory::ServerError | ErrorCategory::ProtocolError => Self::Refused {
                    code: reply.code.unwrap_or_default(),
                    message: reply.message.clone(),
                },
                ErrorCategory::Malformed => Self::Garbled { why: reply.message.clone() },
                ErrorCategory::Hang
                | ErrorCategory::Deadlock
                | ErrorCategory::Timeout
                | ErrorCategory::Cancelled => Self::Silent { waited: reply.took() },
                ErrorCategory::Crash | ErrorCategory::Disconnected => {
                    Self::Gone(broken.unwrap_or_else(|| Break {
                        category,
                        code: reply.code,
                        message: reply.message.as_str().into(),
                    }))
                }
            },
        }
    }

    /// What became of raw bytes: the answer to `id`, or to nobody.
    pub(crate) fn of_raw(reply: &RawReply, id: Option<u64>, waited: Duration) -> Self {
        Self::of_raw_to(reply, &|theirs| is_ours(theirs, id), waited)
    }

    /// The same where the answer is known in another way than by a number.
    pub(crate) fn of_raw_to(
        reply: &RawReply,
        ours: &dyn Fn(&Id<'_>) -> bool,
        waited: Duration,
    ) -> Self {
        for heard in &reply.frames {
            let reading = jsonrpc::read(&heard.frame);
            if let Some(Message::Response { id: theirs, body }) = reading.message
                && ours(&theirs)
            {
                return Self::of_body(&body);
            }
        }
        match (&reply.gone, reply.status, reply.frames.last()) {
            (Some(cause), ..) => Self::Gone(cause.clone()),
            (None, Some(status @ 300..), frame) => Self::Status {
                status,
                body: frame
                    .map(|heard| String::from_utf8_lossy(&heard.frame).into_owned())
                    .unwrap_or_default(),
            },
            _ => Self::Silent { waited },
        }
    }

    fn of_body(body: &Body<'_>) -> Self {
        match body {
            Body::Error { raw, code } => {
                let error: Value = serde_json::from_slice(raw).unwrap_or_default();
                let message = error["message"].as_str().unwrap_or_default().to_owned();
                Self::Refused { code: *code, message }
            }
            Body::Result { raw, kind: ResultKind::ToolError } => {
                Self::ToolError { text: first_text(raw) }
            }
            Body::Result { raw, .. } => {
                Self::Taken { result: serde_json::from_slice(raw).unwrap_or_default() }
            }
            Body::Unclear => Self::Garbled { why: "neither result nor error".into() },
        }
    }
}

/// Whether a response is to this id, or to nobody in particular.
pub(crate) fn is_ours(theirs: &Id<'_>, id: Option<u64>) -> bool {
    match theirs {
        Id::Number(number) => Some(*number) == id,
        Id::Other(other) => *other == b"null",
    }
}

/// Whether a frame is a response to this id, or to nobody in particular.
pub(crate) fn answers(frame: &[u8], id: Option<u64>) -> bool {
    match jsonrpc::read(frame).message {
        Some(Message::Response { id: theirs, .. }) => is_ours(&theirs, id),
        _ => false,
    }
}

fn http_status(code: Option<i64>) -> Option<u16> {
    u16::try_from(code?).ok().filter(|status| (100..600).contains(status))
}

fn text_of(reply: &Reply) -> String {
    match &reply.body {
        Some(body) => first_text(body),
        None => reply.message.clone(),
    }
}

fn first_text(raw: &[u8]) -> String {
    let result: Value = serde_json::from_slice(raw).unwrap_or_default();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}
