//! How a session begins: `initialize` in the legacy era, `server/discover` in the modern one.

use std::time::Duration;

use mcp_loadtest_core::{
    event::note,
    mcp::{Era, Revision, lifecycle, lifecycle::Start, method},
    outcome::{ErrorCategory, Outcome},
};
use serde_json::{Value, json};
use tokio::time::timeout;

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

/// The code of a modern server that does not speak the revision of a request; it says which it does.
const UNSUPPORTED_REVISION: i64 = -32022;

/// The newest revision of ours that a server offers in place of the one it refused.
pub(super) fn offered_instead(reply: &Reply) -> Option<Revision> {
    if reply.code != Some(UNSUPPORTED_REVISION) {
        return None;
    }
    let error = reply.json()?;
    let offered = error.get("data")?.get("supported")?.as_array()?;
    offered.iter().filter_map(|date| date.as_str()?.parse().ok()).max()
}

/// What to do when the server answers with another revision than it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolStrictness {
    /// Go on with the server's: an older one is what negotiation is for.
    #[default]
    Adapt,
    /// Warn and go on with the server's.
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
    pub(super) async fn begin(
        &self,
        limit: Duration,
        strictness: ProtocolStrictness,
    ) -> Result<Hello, OpenError> {
        match self.inner.lifecycle.get().start {
            Start::Handshake => self.initialize(limit, strictness).await,
            Start::Discover => self.discover(limit, strictness).await,
        }
    }

    async fn initialize(
        &self,
        limit: Duration,
        strictness: ProtocolStrictness,
    ) -> Result<Hello, OpenError> {
        let asked = self.revision();
        let reply = self.handshake_request(limit).await;
        let result = self.expect_result(method::INITIALIZE, &reply)?;
        let said = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let revision = self.agree(asked, said, strictness)?;
        self.inner.lifecycle.set(lifecycle(revision));
        match &self.inner.link {
            Link::Http(http) => http.agree(&self.inner),
            Link::Sse(sse) => sse.agree(&self.inner),
            Link::Stdio(_) | Link::WebSocket(_) => {}
        }
        let told = timeout(limit, self.notify(method::INITIALIZED, Value::Null)).await;
        if told.is_err() && self.inner.link.is_http() {
            return Err(self.not_accepted(method::INITIALIZED, limit));
        }
        if let Link::Http(http) = &self.inner.link {
            http.listen_unasked(&self.inner).await;
        }
        Ok(hello(revision, &result, &reply))
    }

    /// A server that leaves a notification of the handshake unanswered keeps its clients waiting there.
    fn not_accepted(&self, method: &'static str, limit: Duration) -> OpenError {
        OpenError::Handshake {
            method,
            category: ErrorCategory::Timeout,
            code: None,
            message: format!("its POST was not answered within {:.1} s", limit.as_secs_f64()),
            stderr: self.inner.stderr_tail(),
        }
    }

    /// The revision of the server's answer, if it can be spoken.
    fn agree(
        &self,
        asked: Revision,
        said: &str,
        strictness: ProtocolStrictness,
    ) -> Result<Revision, OpenError> {
        if said == asked.as_str() {
            return Ok(asked);
        }
        let told = format!(
            "asked for {asked}, the server answered {}",
            mcp_loadtest_core::display::visible(said, 40)
        );
        if strictness == ProtocolStrictness::Fail {
            return Err(OpenError::Revision(told));
        }
        let known = said.parse::<Revision>().ok();
        let spoken = known.filter(|revision| revision.era() == Era::Legacy);
        if spoken.is_none() || strictness == ProtocolStrictness::Warn {
            self.inner.note(note::REVISION_MISMATCH, told);
        }
        Ok(spoken.unwrap_or(asked))
    }

    async fn discover(
        &self,
        limit: Duration,
        strictness: ProtocolStrictness,
    ) -> Result<Hello, OpenError> {
        let asked = self.revision();
        let mut reply = self.discover_request(limit).await;
        if let Some(offered) = offered_instead(&reply) {
            if offered != asked && strictness == ProtocolStrictness::Fail {
                return Err(OpenError::Revision(format!(
                    "asked for {asked}, the server offers {offered}"
                )));
            }
            self.inner.lifecycle.set(lifecycle(offered));
            if offered.era() == Era::Legacy {
                return self.initialize(limit, strictness).await;
            }
            reply = self.discover_request(limit).await;
        }
        let result = self.expect_result(method::DISCOVER, &reply)?;
        Ok(hello(self.revision(), &result, &reply))
    }

    async fn discover_request(&self, limit: Duration) -> Reply {
        if let Link::Http(http) = &self.inner.link {
            http.refresh_head(&self.inner);
        }
        self.call(&self.prepare(method::DISCOVER, json!({})), How::setup(limit)).await
    }

    fn expect_result(&self, method: &'static str, reply: &Reply) -> Result<Value, OpenError> {
        let category = match reply.outcome {
            Outcome::Ok => return Ok(reply.json().unwrap_or(Value::Null)),
            Outcome::Failed(category) => category,
        };
        if category == ErrorCategory::Disconnected && self.inner.link.is_remote() {
            return Err(OpenError::Unreachable(reply.message.clone()));
        }
        // What came instead of an answer often says more than the lack of one.
        let instead = self.inner.counters.first_defect.borrow().clone();
        let mut message = reply.message.clone();
        if let Some(instead) = instead {
            message.push_str(&format!("; it wrote something that is no message: {instead}"));
        }
        let stderr = self.inner.stderr_tail();
        Err(OpenError::Handshake { method, category, code: reply.code, message, stderr })
    }
}

fn hello(revision: Revision, result: &Value, reply: &Reply) -> Hello {
    let info =
        result.get("serverInfo").or_else(|| result.get("_meta")?.get(method::META_SERVER_INFO));
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_loadtest_core::outcome::ErrorCategory;

    fn refused(code: i64, data: Value) -> Reply {
        Reply {
            outcome: Outcome::Failed(ErrorCategory::ServerError),
            code: Some(code),
            message: String::new(),
            body: Some(
                json!({ "code": code, "message": "no", "data": data }).to_string().into_bytes(),
            ),
            started: Duration::ZERO,
            ended: Duration::ZERO,
        }
    }

    #[test]
    fn a_refusal_that_names_revisions_is_an_offer() {
        let offers = |supported| {
            offered_instead(&refused(UNSUPPORTED_REVISION, json!({ "supported": supported })))
        };
        assert_eq!(offers(json!(["2026-07-28"])), Some(Revision::V2026_07_28));
        assert_eq!(
            offers(json!(["2025-11-25", "2025-06-18", "2099-01-01"])),
            Some(Revision::V2025_11_25)
        );
        assert_eq!(offers(json!(["2099-01-01", 7])), None);
        assert_eq!(offers(json!("2026-07-28")), None);
        assert_eq!(offered_instead(&refused(-32601, json!({ "supported": ["2026-07-28"] }))), None);
        assert_eq!(offered_instead(&refused(UNSUPPORTED_REVISION, Value::Null)), None);
    }
}
