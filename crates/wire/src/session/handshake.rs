//! How a session begins: `initialize` in the legacy era, `server/discover` in the modern one.

use std::time::Duration;

use mcp_loadtest_core::{
    event::note,
    mcp::{Era, Revision, lifecycle, lifecycle::Start, method},
    outcome::Outcome,
};
use serde_json::{Value, json};

use super::{How, OpenError, Reply, Session, prepared};
use crate::transport::Link;

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Hello {
    /// The era that is spoken.
    pub era: Era,
    /// The revision that is spoken.
    pub revision: Revision,
    /// The name that the server gives itself.
    pub name: Option<String>,
    /// The version that the server gives itself.
    pub version: Option<String>,
    /// What it offers.
    pub capabilities: Value,
    /// How long it took.
    pub took: Duration,
}

impl Hello {
    /// Whether it offers tools.
    pub fn has_tools(&self) -> bool {
        self.capabilities.get("tools").is_some()
    }
}

/// What to do when the server answers with another revision than it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolStrictness {
    /// Warn and go on with the server's.
    #[default]
    Warn,
    /// Fail.
    Fail,
}

impl Session {
    /// Sends `initialize` and waits for its answer.
    pub(super) async fn handshake_request(&self, limit: Duration) -> Reply {
        let asked = match self.revision().era() {
            Era::Legacy => self.revision(),
            Era::Modern => Revision::NEWEST_LEGACY,
        };
        let params = json!({
            "protocolVersion": asked,
            "capabilities": prepared::client_capabilities(),
            "clientInfo": prepared::client_info(),
        });
        let request = prepared::prepare(&lifecycle(asked), method::INITIALIZE, params, &[]);
        self.call(&request.into(), How::setup(limit)).await
    }

    /// Begins the session in the way that its revision asks for.
    pub(super) async fn begin(&self, limit: Duration, strictness: ProtocolStrictness) -> Result<Hello, OpenError> {
        match self.inner.lifecycle.get().start {
            Start::Handshake => self.initialize(limit, strictness).await,
            Start::Discover => self.discover(limit).await,
        }
    }

    async fn initialize(&self, limit: Duration, strictness: ProtocolStrictness) -> Result<Hello, OpenError> {
        let asked = self.revision();
        let reply = self.handshake_request(limit).await;
        let result = self.expect_result(method::INITIALIZE, &reply)?;
        let said = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let revision = self.agree(asked, said, strictness)?;
        self.inner.lifecycle.set(lifecycle(revision));
        if let Link::Http(http) = &self.inner.link {
            http.agree(&self.inner);
        }
        self.notify(method::INITIALIZED, Value::Null).await;
        self.listen_unasked();
        Ok(hello(revision, &result, &reply))
    }

    /// The revision of the server's answer, if it can be spoken.
    fn agree(&self, asked: Revision, said: &str, strictness: ProtocolStrictness) -> Result<Revision, OpenError> {
        if said == asked.as_str() {
            return Ok(asked);
        }
        let told = format!("asked for {asked}, the server answered {}", mcp_loadtest_core::display::visible(said, 40));
        if strictness == ProtocolStrictness::Fail {
            return Err(OpenError::Revision(told));
        }
        match said.parse::<Revision>() {
            // An older revision is what negotiation is for; only what is unknown is worth a warning.
            Ok(revision) if revision.era() == Era::Legacy => Ok(revision),
            _ => {
                self.inner.note(note::REVISION_MISMATCH, told);
                Ok(asked)
            }
        }
    }

    async fn discover(&self, limit: Duration) -> Result<Hello, OpenError> {
        if let Link::Http(http) = &self.inner.link {
            http.refresh_head(&self.inner);
        }
        let request = self.prepare(method::DISCOVER, json!({}));
        let reply = self.call(&request, How::setup(limit)).await;
        let result = self.expect_result(method::DISCOVER, &reply)?;
        Ok(hello(self.revision(), &result, &reply))
    }

    fn expect_result(&self, method: &'static str, reply: &Reply) -> Result<Value, OpenError> {
        match reply.outcome {
            Outcome::Ok => Ok(reply.json().unwrap_or(Value::Null)),
            Outcome::Failed(category) => Err(OpenError::Handshake {
                method,
                category,
                code: reply.code,
                message: reply.message.clone(),
                stderr: self.inner.link.stderr_tail(),
            }),
        }
    }

    /// Legacy HTTP: a stream on which the server may speak unasked.
    fn listen_unasked(&self) {
        let session = self.clone();
        if matches!(self.inner.link, Link::Http(_)) {
            tokio::task::spawn_local(async move {
                // The task must not keep the session alive: it ends with the thread's runtime, and
                // closing the session ends the stream at the server's side.
                if let Link::Http(http) = &session.inner.link {
                    http.listen_unasked(&session.inner).await;
                }
            });
        }
    }
}

fn hello(revision: Revision, result: &Value, reply: &Reply) -> Hello {
    let info = result.get("serverInfo").or_else(|| result.get("_meta")?.get(method::META_SERVER_INFO));
    let text = |key: &str| {
        let text = info?.get(key)?.as_str()?;
        Some(mcp_loadtest_core::display::visible(text, 100))
    };
    Hello {
        era: revision.era(),
        revision,
        name: text("name"),
        version: text("version"),
        capabilities: result.get("capabilities").cloned().unwrap_or(Value::Null),
        took: reply.took(),
    }
}
