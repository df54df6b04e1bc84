//! One request that takes its time, and all that may be said before its reply.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::mcp::{Era, Revision, method};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{
    Server,
    origin::Facts,
    session::{Out, Outbox, Session},
};
use crate::mcp::{
    refusal::{Refusal, code},
    write,
};

/// How long a client may think about a question.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// How many messages of one exchange are told apart in the audit log.
const KEPT_EVENTS: usize = 100;

/// A request on its way. Clones are the same exchange.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: Arc<Server>,
    session: Arc<Session>,
    id: Box<[u8]>,
    params: Value,
    revision: Revision,
    facts: Facts,
    outbox: Outbox,
    begun: Instant,
    said: Mutex<Said>,
}

/// What was sent before the reply.
#[derive(Debug, Default, Clone)]
pub(crate) struct Said {
    /// How long after the request, and what.
    pub(crate) events: Vec<(Duration, String)>,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

/// What an exchange is made of.
pub(crate) struct Parts {
    pub(crate) server: Arc<Server>,
    pub(crate) session: Arc<Session>,
    pub(crate) id: Box<[u8]>,
    pub(crate) params: Value,
    pub(crate) revision: Revision,
    pub(crate) facts: Facts,
    pub(crate) outbox: Outbox,
    pub(crate) begun: Instant,
}

impl Exchange {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { server, session, id, params, revision, facts, outbox, begun } = parts;
        let said = Mutex::default();
        let inner = Inner { server, session, id, params, revision, facts, outbox, begun, said };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.inner.server
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.inner.session
    }

    pub(crate) fn id(&self) -> &[u8] {
        &self.inner.id
    }

    pub(crate) fn params(&self) -> &Value {
        &self.inner.params
    }

    /// The arguments of a tool call.
    pub(crate) fn arguments(&self) -> &Value {
        &self.inner.params["arguments"]
    }

    pub(crate) fn revision(&self) -> Revision {
        self.inner.revision
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.inner.facts
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.inner.outbox
    }

    fn is_modern(&self) -> bool {
        self.revision().era() == Era::Modern
    }

    fn meta(&self, key: &str) -> Option<&Value> {
        self.params().get("_meta")?.get(key)
    }

    /// Tells the client something that belongs to this request.
    pub(crate) async fn notify(&self, method: &str, params: &Value) {
        self.send(method, write::notification(method, params)).await;
    }

    async fn send(&self, method: &str, frame: Vec<u8>) {
        self.remember(method, frame.len());
        // A client that is gone misses nothing.
        let _ = self.inner.outbox.send(Out::Message(frame)).await;
    }

    fn remember(&self, method: &str, bytes: usize) {
        let mut said = self.inner.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.events.len() < KEPT_EVENTS {
            said.events.push((self.inner.begun.elapsed(), method.into()));
        }
        said.count += 1;
        said.bytes += bytes as u64;
    }

    /// What was sent so far.
    pub(crate) fn said(&self) -> Said {
        self.inner.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells how far the call is, if the client wants to know; whether it does.
    pub(crate) async fn progress(&self, progress: f64, total: f64, message: Option<&str>) -> bool {
        let Some(token) = self.meta("progressToken") else { return false };
        let mut params = json!({ "progressToken": token, "progress": progress, "total": total });
        if let Some(message) = message {
            params["message"] = message.into();
        }
        self.notify(method::PROGRESS, &params).await;
        true
    }

    /// Writes to the client's log. Modern clients have to ask for it, request by request.
    pub(crate) async fn log(&self, level: &str, data: &str) {
        if self.is_modern() && self.meta(method::META_LOG_LEVEL).is_none() {
            return;
        }
        let params = json!({ "level": level, "logger": "mock", "data": data });
        self.notify(method::LOG_MESSAGE, &params).await;
    }

    /// Whether the client can do this, as it said in its handshake or in this request.
    pub(crate) fn client_can(&self, capability: &str) -> bool {
        if self.is_modern() {
            self.meta(method::META_CAPABILITIES).is_some_and(|can| can.get(capability).is_some())
        } else {
            self.session().client_can(capability)
        }
    }

    /// Asks the client and waits for its answer. Only the legacy era has such questions.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Result<Value, Refusal> {
        let (id, answered) = self.session().ask();
        self.send(method, write::request(id, method, params)).await;
        let failed = |why: &str| Refusal::new(code::INTERNAL_ERROR, format!("`{method}` {why}"));
        let mut response = match timeout(ANSWER_LIMIT, answered).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => return Err(failed("was not answered: the session has ended")),
            Err(_) => return Err(failed("was not answered in time")),
        };
        match response.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(failed(&format!("was refused: {}", response["error"]["message"]))),
        }
    }
}
