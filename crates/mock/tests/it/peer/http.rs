//! Streamable HTTP, a connection for each request.

use std::{collections::HashMap, net::SocketAddr};

use mcp_loadtest_core::mcp::{Era, Revision, header, method};
use serde_json::Value;

use super::{Got, bytes::Exchange};

/// Requests that are on their way, by their id.
pub(crate) struct Client {
    pub(super) address: SocketAddr,
    era: Era,
    pub(crate) session: Option<String>,
    running: HashMap<u64, Exchange>,
}

impl Client {
    pub(super) fn new(address: SocketAddr, era: Era) -> Self {
        Self { address, era, session: None, running: HashMap::new() }
    }

    /// The headers that say in this era what the body says, each with its line end.
    fn lines(&self, message: &Value) -> String {
        let mut lines = match self.era {
            Era::Legacy => Vec::new(),
            Era::Modern => vec![
                (header::PROTOCOL_VERSION, Revision::NEWEST_MODERN.as_str()),
                (header::METHOD, message["method"].as_str().unwrap_or_default()),
            ],
        };
        if self.era == Era::Modern && message["method"] == method::TOOLS_CALL {
            lines.push((header::NAME, message["params"]["name"].as_str().unwrap_or_default()));
        }
        lines.extend(self.session.as_deref().map(|session| (header::SESSION_ID, session)));
        lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
    }

    async fn begin(&mut self, id: u64, verb: &str, lines: &str, body: &str) {
        let length = body.len();
        let request = format!(
            "{verb} /mcp HTTP/1.1\r\nHost: localhost\r\n\
             Accept: application/json, text/event-stream\r\n{lines}Content-Length: {length}\r\n\r\n\
             {body}"
        );
        self.running.insert(id, Exchange::begin(self.address, request.as_bytes()).await);
    }

    pub(super) async fn post(&mut self, id: u64, message: &Value) {
        let lines = self.lines(message);
        self.begin(id, "POST", &lines, &message.to_string()).await;
    }

    /// Posts a message that wants no reply but that it was accepted.
    pub(super) async fn tell(&mut self, id: u64, message: &Value) {
        self.post(id, message).await;
        match self.next(id).await {
            Got::Frame(frame) => assert_eq!(frame.status, Some(202), "{frame:?}"),
            other => panic!("not accepted: {other:?}"),
        }
    }

    /// Opens a stream for notifications.
    pub(super) async fn get(&mut self, id: u64) {
        let lines = self.lines(&Value::Null);
        self.begin(id, "GET", &lines, "").await;
    }

    /// Says goodbye, with the status that it gets.
    pub(crate) async fn delete(&mut self) -> Option<u16> {
        let lines = self.lines(&Value::Null);
        self.visit("DELETE", &lines, "").await
    }

    /// Any request, with the status that it gets.
    pub(crate) async fn visit(&mut self, verb: &str, lines: &str, body: &str) -> Option<u16> {
        self.begin(0, verb, lines, body).await;
        match self.next(0).await {
            Got::Frame(frame) => frame.status,
            other => panic!("no reply: {other:?}"),
        }
    }

    pub(super) async fn next(&mut self, id: u64) -> Got {
        self.running.get_mut(&id).expect("it was sent").next().await
    }

    /// Closes the connection on which a reply is awaited.
    pub(crate) fn hang_up(&mut self, id: u64) {
        self.running.remove(&id).expect("it was sent");
    }
}
