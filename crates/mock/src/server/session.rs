//! What is remembered about one client: what the handshake came to, which of its calls are running,
//! what it was asked, and where to reach it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::{config::TransportName, mcp::Revision};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::pending::Ending;

/// Where goes what is sent to a client.
pub(crate) type Outbox = mpsc::Sender<Out>;

/// What a transport has to send.
#[derive(Debug)]
pub(crate) enum Out {
    /// A message that is no reply, without a line end.
    Message(Vec<u8>),
    /// What a request came to.
    Ending(Ending),
}

/// One client, or in the modern era one request of a client.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its name in headers and in the audit log.
    pub(crate) id: Box<str>,
    pub(crate) transport: TransportName,
    /// Fires when the session ends, and with it everything that was begun in it.
    pub(crate) ended: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    agreed: Option<Revision>,
    capabilities: Value,
    log_level: Option<String>,
    subscriptions: BTreeSet<String>,
    /// Calls that can still be cancelled, by their id as written.
    running: HashMap<Box<[u8]>, CancellationToken>,
    /// What the client was asked, by our id.
    asked: HashMap<u64, oneshot::Sender<Value>>,
    last_asked: u64,
    /// How often each tool that answers from a list was called.
    turns: HashMap<String, usize>,
}

impl Session {
    pub(crate) fn new(
        id: impl Into<Box<str>>,
        transport: TransportName,
        ended: CancellationToken,
    ) -> Self {
        Self { id: id.into(), transport, ended, state: Mutex::default() }
    }

    /// The handshake is done.
    pub(crate) fn agree(&self, revision: Revision, capabilities: Value) {
        let mut state = self.lock();
        state.agreed = Some(revision);
        state.capabilities = capabilities;
    }

    /// What the handshake came to, once there was one.
    pub(crate) fn agreed(&self) -> Option<Revision> {
        self.lock().agreed
    }

    /// Whether the client of the handshake can do this.
    pub(crate) fn client_can(&self, capability: &str) -> bool {
        self.lock().capabilities.get(capability).is_some()
    }

    pub(crate) fn set_log_level(&self, level: &str) {
        self.lock().log_level = Some(level.into());
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        self.lock().subscriptions.insert(uri.into());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.lock().subscriptions.remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.lock().subscriptions.contains(uri)
    }

    /// A call begins. The token fires when it is cancelled or the session ends.
    pub(crate) fn begin(&self, id: &[u8]) -> CancellationToken {
        let token = self.ended.child_token();
        self.lock().running.insert(id.into(), token.clone());
        token
    }

    /// A call is over.
    pub(crate) fn finish(&self, id: &[u8]) {
        self.lock().running.remove(id);
    }

    /// The client withdraws a call; `false` if it is not running.
    pub(crate) fn cancel(&self, id: &[u8]) -> bool {
        let token = self.lock().running.remove(id);
        token.inspect(CancellationToken::cancel).is_some()
    }

    /// A new question to the client: its id, and where the answer will arrive.
    pub(crate) fn ask(&self) -> (u64, oneshot::Receiver<Value>) {
        let (answer, answered) = oneshot::channel();
        let mut state = self.lock();
        state.last_asked += 1;
        let id = state.last_asked;
        state.asked.insert(id, answer);
        (id, answered)
    }

    /// The client answers a question; `false` if there was none.
    pub(crate) fn answer(&self, response: Value) -> bool {
        let asked = response.get("id").and_then(Value::as_u64);
        let answer = asked.and_then(|id| self.lock().asked.remove(&id));
        answer.is_some_and(|answer| answer.send(response).is_ok())
    }

    /// How often `tool` was asked before in this session.
    pub(crate) fn turn(&self, tool: &str) -> usize {
        let mut state = self.lock();
        let turn = state.turns.entry(tool.to_owned()).or_default();
        *turn += 1;
        *turn - 1
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every method leaves the state whole, so a panic elsewhere does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session() -> Session {
        Session::new("s", TransportName::Stdio, CancellationToken::new())
    }

    #[test]
    fn a_call_can_be_cancelled_while_it_runs() {
        let session = session();
        let token = session.begin(b"\"a\"");
        assert!(!session.cancel(b"a") && !token.is_cancelled());
        assert!(session.cancel(b"\"a\"") && token.is_cancelled());
        assert!(!session.cancel(b"\"a\""));
        let token = session.begin(b"1");
        session.finish(b"1");
        assert!(!session.cancel(b"1") && !token.is_cancelled());
    }

    #[test]
    fn the_end_of_a_session_cancels_what_runs_in_it() {
        let session = session();
        let token = session.begin(b"1");
        session.ended.cancel();
        assert!(token.is_cancelled());
    }

    #[tokio::test]
    async fn an_answer_finds_its_question() {
        let session = session();
        let (first, _) = session.ask();
        let (second, answered) = session.ask();
        assert!(!session.answer(json!({"id": 77, "result": {}})));
        assert!(session.answer(json!({"id": second, "result": {"a": 1}})));
        assert_eq!(answered.await.unwrap()["result"]["a"], 1);
        assert!(!session.answer(json!({"id": first, "result": {}})), "nobody waits for it");
    }
}
