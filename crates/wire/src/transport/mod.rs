//! How frames travel. To add a transport: one file here and one variant of [`Link`]; the compiler
//! then names every place that has to know.

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stdio;
mod tls;
pub(crate) mod websocket;

use std::time::Duration;

use mcp_loadtest_core::jsonrpc::write;
use serde_json::Value;

use crate::{
    process::StopReport,
    session::{Inner, Prepared},
};

pub use tls::{CaCertError, Trust};

/// One message may not be longer than this, unless the options say otherwise.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// A session's way to its server.
pub(crate) enum Link {
    /// The pipes of a child process.
    Stdio(Box<stdio::StdioLink>),
    /// Streamable HTTP.
    Http(http::HttpLink),
    /// HTTP+SSE of 2024-11-05.
    Sse(Box<sse::SseLink>),
    /// WebSocket frames.
    WebSocket(websocket::WsLink),
}

impl Link {
    /// Streamable HTTP, where each call has an exchange of its own.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Whether the server is reached by address.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self, Self::Stdio(_))
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Stdio(stdio) => Some(stdio.pid()),
            Self::Http(_) | Self::Sse(_) | Self::WebSocket(_) => None,
        }
    }

    /// Puts a call on its way. Over HTTP its exchange does that, over pipes it is written in place.
    pub(crate) fn send_call(&self, inner: &Inner, id: u64, prepared: &Prepared) {
        match self {
            Self::Sse(sse) => sse.send(inner, Some(id), prepared.frame(id)),
            Self::WebSocket(ws) => ws.send(prepared.frame(id)),
            Self::Stdio(_) | Self::Http(_) => {}
        }
    }

    /// Sends a notification and, over HTTP, waits until it is accepted.
    pub(crate) async fn notify(&self, inner: &Inner, method: &str, params: &Value) {
        let frame = write::notification(method, params);
        match self {
            Self::Stdio(stdio) => stdio.send(|out| out.extend_from_slice(&frame)),
            Self::Http(http) => http.post(inner, frame).await,
            Self::Sse(sse) => sse.post(inner, None, frame).await,
            Self::WebSocket(ws) => ws.send(frame),
        }
    }

    /// Sends a notification without waiting.
    pub(crate) fn notify_detached(&self, inner: &Inner, method: &str, params: &Value) {
        self.send_detached(inner, write::notification(method, params));
    }

    /// Sends a frame that has no reply, without waiting.
    pub(crate) fn send_detached(&self, inner: &Inner, frame: Vec<u8>) {
        match self {
            Self::Stdio(stdio) => stdio.send_unasked(inner, &frame),
            Self::Http(http) => http.post_detached(inner, frame),
            Self::Sse(sse) => sse.send(inner, None, frame),
            Self::WebSocket(ws) => ws.send_unasked(inner, frame),
        }
    }

    /// Ends the connection, and the server where it is ours alone.
    pub(crate) async fn close(&self, inner: &Inner, patience: Duration) -> Option<StopReport> {
        match self {
            Self::Stdio(stdio) => return stdio.close(inner, patience).await,
            Self::Http(http) => http.close(inner).await,
            Self::Sse(sse) => sse.close(),
            Self::WebSocket(ws) => ws.close().await,
        }
        None
    }
}
