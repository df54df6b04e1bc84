//! Why there is no session, and what to do about it.

use std::{io, time::Duration};

use mcp_loadtest_core::{hint::Hint, outcome::ErrorCategory};
use thiserror::Error;

use crate::{
    process::{FROM_US, Lease, SpawnError},
    transport::CaCertError,
};

/// Why there is no session.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The process could not be started.
    #[error("the server could not be started: {0}")]
    Spawn(#[from] SpawnError),
    /// The URL cannot be used.
    #[error("`{url}` is not a usable URL: {why}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The host could not be found or TLS could not be set up.
    #[error("cannot reach {host}: {source}")]
    Reach {
        /// Which host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// Nobody answers at the address.
    #[error("{0}")]
    Unreachable(String),
    /// The server that we started ended before it could be reached.
    #[error("the server ended with {exit} before it could be reached")]
    Ended {
        /// How it ended.
        exit: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// The server that we started does not listen where it should.
    #[error("the server was started, but nothing listens at {host} after {patience:?}")]
    NotListening {
        /// Where it should.
        host: String,
        /// How long was waited.
        patience: Duration,
        /// The end of its stderr.
        stderr: String,
    },
    /// Somebody else listens where the server that we start should.
    #[error("something listens at {0} already, so the server cannot be started there")]
    Occupied(String),
    /// There is no process with the number that was given.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The file with certificates cannot be used.
    #[error(transparent)]
    CaCert(#[from] CaCertError),
    /// The event stream or the socket could not be opened.
    #[error("the server did not open {what}: {message}")]
    Opening {
        /// Which.
        what: &'static str,
        /// The HTTP status, where that is the reason.
        code: Option<i64>,
        /// What it did instead.
        message: String,
    },
    /// The address speaks the older transport.
    #[error("`{0}` speaks HTTP+SSE of 2024-11-05, not Streamable HTTP")]
    IsSse(String),
    /// The handshake failed.
    #[error("the server did not answer `{method}`: {}", describe(*category, *code, message))]
    Handshake {
        /// The request that failed.
        method: &'static str,
        /// How.
        category: ErrorCategory,
        /// The JSON-RPC code or HTTP status.
        code: Option<i64>,
        /// What was said.
        message: String,
        /// The end of the server's stderr.
        stderr: String,
    },
    /// The server speaks another revision, and that was not allowed.
    #[error("protocol revision: {0}")]
    Revision(String),
}

fn describe(category: ErrorCategory, code: Option<i64>, message: &str) -> String {
    match (category, code) {
        (ErrorCategory::Timeout, _) => message.replace("call timeout", "start-up timeout"),
        (_, Some(code)) => format!("{message} ({code})"),
        (_, None) => message.to_owned(),
    }
}

impl Hint for OpenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Spawn(error) => error.hint(),
            Self::Url { .. } => Some("write it like `http://127.0.0.1:3000/mcp`".into()),
            Self::Unreachable(_) | Self::Reach { .. } => Some("check that the server runs and that host and port are right".into()),
            Self::Ended { exit: text, .. } | Self::Handshake { message: text, .. }
                if text.contains(FROM_US) =>
            {
                Some("look for what starts it again and again, before you run it by hand".into())
            }
            Self::Ended { .. } => Some("run its command by hand and look at what it says".into()),
            Self::NotListening { .. } => Some("check that host and port are those that it listens on, or give it more time with `--startup-timeout`".into()),
            Self::Occupied(_) => Some("end the other one, or leave out the command to test that one".into()),
            Self::NoProcess(_) => Some("name the process that answers at the address, or leave out `--pid`".into()),
            Self::CaCert(error) => error.hint(),
            Self::IsSse(_) => Some("try `--transport sse`".into()),
            Self::Opening { code, what, .. } => opening_hint(*code, what),
            Self::Revision(_) => Some("leave out `--strict-protocol`, or name the server's revision with `--protocol`".into()),
            Self::Handshake { category: ErrorCategory::Timeout, .. } => {
                Some("give it more time with `--startup-timeout`, or look at its stderr with `--tee-stderr`".into())
            }
            Self::Handshake { code: Some(401 | 403), .. } => Some(WANTS_CREDENTIALS.into()),
            Self::Handshake { code: Some(300..=399), .. } => Some(IS_ELSEWHERE.into()),
            Self::Handshake { code: Some(404 | 405), .. } => Some(
                "check the path; if it is that of an event stream (often `/sse`), try `--transport sse`".into(),
            ),
            Self::Handshake { code: Some(400..=599), .. } => {
                Some("check the path: this does not look like an MCP endpoint".into())
            }
            Self::Handshake { code: Some(-32601 | -32602 | -32022), method, .. } => Some(format!(
                "the server does not know `{method}` in this revision; try `--protocol auto`"
            )),
            Self::Handshake { stderr, .. } if !stderr.trim().is_empty() => {
                Some("the end of its stderr is above; `--tee-stderr` shows all of it".into())
            }
            Self::Handshake { .. } => Some("run the server by hand and look at what it says".into()),
        }
    }
}

const WANTS_CREDENTIALS: &str =
    "the server wants credentials: pass them with `--header 'Authorization: Bearer …'`";
const IS_ELSEWHERE: &str = "if you trust it, use the address that it names";

fn opening_hint(code: Option<i64>, what: &str) -> Option<String> {
    Some(match code {
        Some(401 | 403) => WANTS_CREDENTIALS.into(),
        Some(300..=399) => IS_ELSEWHERE.into(),
        _ => format!("check the path and the transport: {what} is what `--transport` asked for"),
    })
}

impl OpenError {
    /// A server of ours that ended before it could be reached.
    pub(super) fn ended(lease: &Lease) -> Self {
        let ended = lease.running.ended();
        let stderr = ended.as_ref().map(|ended| ended.stderr.clone()).unwrap_or_default();
        let exit = ended.map_or_else(String::new, |ended| ended.exit.to_string());
        Self::Ended { exit, stderr }
    }

    /// The end of the server's stderr, where that may explain the error.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Handshake { stderr, .. }
            | Self::Ended { stderr, .. }
            | Self::NotListening { stderr, .. } => {
                Some(stderr.as_str()).filter(|stderr| !stderr.trim().is_empty())
            }
            _ => None,
        }
    }

    /// Whether a server that was just started may answer better in a moment.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Reach { .. } => true,
            Self::Handshake { code, .. } | Self::Opening { code, .. } => {
                matches!(code, Some(502..=504))
            }
            _ => false,
        }
    }
}
