//! How frames travel. To add a transport: one file here and one variant of [`Link`]; the compiler
//! then names every place that has to know.

pub(crate) mod http;
pub(crate) mod stdio;

use std::time::Duration;

use mcp_loadtest_core::jsonrpc::write;
use serde_json::Value;

use crate::{
    process::{StopReport, TreeState, inspect},
    session::Inner,
};

/// One message may not be longer than this, unless the options say otherwise.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// A session's way to its server.
pub(crate) enum Link {
    /// The pipes of a child process.
    Stdio(Box<stdio::StdioLink>),
    /// Streamable HTTP.
    Http(http::HttpLink),
}

impl Link {
    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Stdio(stdio) => Some(stdio.pid()),
            Self::Http(_) => None,
        }
    }

    /// The process tree at this moment.
    pub(crate) fn process_state(&self) -> Option<TreeState> {
        inspect(self.pid()?)
    }

    /// The end of what the server said on stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        match self {
            Self::Stdio(stdio) => stdio.stderr_tail(),
            Self::Http(_) => String::new(),
        }
    }

    /// Sends a notification and, over HTTP, waits until it is accepted.
    pub(crate) async fn notify(&self, inner: &Inner, method: &str, params: &Value) {
        let frame = write::notification(method, params);
        match self {
            Self::Stdio(stdio) => stdio.send(|out| out.extend_from_slice(&frame)),
            Self::Http(http) => http.post(inner, frame).await,
        }
    }

    /// Sends a notification without waiting.
    pub(crate) fn notify_detached(&self, inner: &Inner, method: &str, params: &Value) {
        self.send_detached(inner, write::notification(method, params));
    }

    /// Sends a frame that has no reply, without waiting.
    pub(crate) fn send_detached(&self, inner: &Inner, frame: Vec<u8>) {
        match self {
            Self::Stdio(stdio) => stdio.send(|out| out.extend_from_slice(&frame)),
            Self::Http(_) => {
                if let Some(session) = inner.session() {
                    tokio::task::spawn_local(async move {
                        if let Self::Http(http) = &session.inner.link {
                            http.post(&session.inner, frame).await;
                        }
                    });
                }
            }
        }
    }

    /// Ends the connection, and the server where it is ours.
    pub(crate) async fn close(&self, inner: &Inner, patience: Duration) -> Option<StopReport> {
        match self {
            Self::Stdio(stdio) => stdio.close(inner, patience).await,
            Self::Http(http) => {
                http.close(inner).await;
                None
            }
        }
    }
}
