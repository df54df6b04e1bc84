//! Streamable HTTP, a connection for each request.

use std::{collections::HashMap, net::SocketAddr};

use mcp_loadtest_core::mcp::{Era, Revision, header, method};
use serde_json::Value;

use super::{Got, bytes::Exchange};

/// Requests that are on their way, by their id.
pub(crate) struct Client {
    address: SocketAddr,
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

    pub(super) async fn next(&mut self, id: u64) -> Got {
        self.running.get_mut(&id).expect("it was sent").next().await
    }

    pub(super) fn hang_up_all(&mut self) {
        self.running.clear();
    }
}
