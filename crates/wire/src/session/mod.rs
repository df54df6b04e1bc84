//! One conversation with a server: many calls in flight, replies matched by id.
//!
//! A session lives in one thread (its tasks are `spawn_local`): no lock and no channel stands
//! between a reply and its caller. It reports what happens to a [`Sink`] at the
//! moment it happens, straight from the read buffer.
//!
//! | file        | what it does                                                   |
//! |-------------|----------------------------------------------------------------|
//! | `target`    | whom to talk to, and with which limits                         |
//! | `open`      | start a server or connect to one, find the era, shake hands    |
//! | `open_error`| why there is no session                                        |
//! | `address`   | how to get to a server that is reached by its address          |
//! | `behind`    | the process at that address, and what its end means            |
//! | `losing`    | what is lost while it is not yet clear why                     |
//! | `call`      | send a prepared request; end it without a reply                |
//! | `follow`    | wait for what becomes of it                                    |
//! | `settle`    | take frames from the transport and end the calls they answer   |
//! | `answer`    | answer what the server asks of us, in both eras                |
//! | `forensics` | find out why a call is silent                                  |
//! | `raw`       | send what no client would, and hear all that comes back        |
//! | `tools`     | list the tools, page by page                                   |

mod address;
mod answer;
mod behind;
mod call;
mod era;
mod follow;
mod forensics;
mod handshake;
mod losing;
mod open;
mod open_error;
mod origin;
mod prepared;
mod raw;
mod settle;
mod target;
mod tools;

use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::{
    event::{Event, note},
    mcp::{Lifecycle, Revision},
    outcome::{ErrorCategory, Outcome},
};
use serde_json::Value;
use tokio::time::sleep;

pub use crate::slots::Deadlines;
pub(crate) use address::HTTP;
pub use address::{Address, Owner};
pub use call::{Ending, How};
pub use era::{EraProbe, find_revision};
pub use follow::InFlight;
pub use handshake::{Hello, ProtocolStrictness};
pub use open_error::OpenError;
pub use origin::Origin;
pub(crate) use prepared::prepare;
pub use prepared::{Contract, Prepared};
pub use raw::{Heard, Outgoing, RawHttp, RawReply, Tap};
pub use target::{Hold, Options, Questions, Target};
pub use tools::ToolListing;

use crate::{
    clock::Clock,
    process::{StopReport, TreeState, inspect},
    sink::Sink,
    slots::Slots,
    transport::Link,
};

/// How long a server may take to end that was only tried, or failed to begin.
const DISCARD_PATIENCE: Duration = Duration::from_secs(1);

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Good, or which failure.
    pub outcome: Outcome,
    /// The JSON-RPC error code, where there is one.
    pub code: Option<i64>,
    /// What the server or the transport said; empty for a good reply.
    pub message: String,
    /// The raw `result` or `error`, where it was asked for.
    pub body: Option<Vec<u8>>,
    /// When the call was sent.
    pub started: Duration,
    /// When it ended.
    pub ended: Duration,
}

impl Reply {
    /// A good reply without its body.
    pub(crate) fn good(started: Duration, ended: Duration) -> Self {
        let message = String::new();
        Self { outcome: Outcome::Ok, code: None, message, body: None, started, ended }
    }

    /// How long the call took from its true start.
    pub fn took(&self) -> Duration {
        self.ended.saturating_sub(self.started)
    }

    /// The failure, if it is one.
    pub fn failure(&self) -> Option<ErrorCategory> {
        match self.outcome {
            Outcome::Ok => None,
            Outcome::Failed(category) => Some(category),
        }
    }

    /// The kept body as JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(self.body.as_deref()?).ok()
    }
}

/// Why a connection is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// `Crash` or `Disconnected`, or what an HTTP status amounts to.
    pub category: ErrorCategory,
    /// The HTTP status, where that is the reason.
    pub code: Option<i64>,
    /// What happened.
    pub message: Arc<str>,
}

/// How the session counts what it does not report one by one.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) notifications: Cell<u64>,
    pub(crate) server_requests: Cell<u64>,
    /// What was wrong with the first frame that was no message.
    pub(crate) first_defect: RefCell<Option<String>>,
}

/// The inside of a session, shared by its tasks.
pub(crate) struct Inner {
    me: Weak<Self>,
    pub(crate) index: u32,
    pub(crate) worker: u16,
    pub(crate) lifecycle: Cell<Lifecycle>,
    pub(crate) slots: RefCell<Slots>,
    pub(crate) link: Link,
    pub(crate) behind: behind::Behind,
    pub(crate) sink: Rc<dyn Sink>,
    pub(crate) clock: Clock,
    pub(crate) counters: Counters,
    pub(crate) broken: RefCell<Option<Break>>,
    pub(crate) losing: losing::Losing,
    pub(crate) watch: RefCell<Option<forensics::Watch>>,
    pub(crate) tap: RefCell<Option<Tap>>,
    questions: Questions,
    shutdown_timeout: Duration,
}

/// A conversation with a server. Cheap to clone; all clones are the same session.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Rc<Inner>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("index", &self.inner.index).finish_non_exhaustive()
    }
}

impl Session {
    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.inner.lifecycle.get().revision
    }

    /// Which session of the run this is.
    pub fn index(&self) -> u32 {
        self.inner.index
    }

    /// Why the session is gone, if it is.
    pub fn broken(&self) -> Option<Break> {
        self.inner.broken.borrow().clone()
    }

    /// Whether the session is gone.
    pub fn is_broken(&self) -> bool {
        self.inner.is_broken()
    }

    /// Whether the server holds something open on which it may speak unasked: over Streamable HTTP a stream
    /// that it may refuse, elsewhere the connection itself.
    pub fn is_listening(&self) -> bool {
        match &self.inner.link {
            Link::Http(http) => http.is_listening(),
            Link::Stdio(_) | Link::Sse(_) | Link::WebSocket(_) => !self.is_broken(),
        }
    }

    /// The process tree of the server at this moment, where it is known.
    pub fn process(&self) -> Option<TreeState> {
        self.inner.process_state()
    }

    /// The process id of the server, where it is known.
    pub fn pid(&self) -> Option<u32> {
        self.inner.pid()
    }

    /// The end of what the server said on stderr, where we started it.
    pub fn stderr_tail(&self) -> String {
        self.inner.stderr_tail()
    }

    /// Notifications that came in so far.
    pub fn notifications(&self) -> u64 {
        self.inner.counters.notifications.get()
    }

    /// Requests of the server that came in so far.
    pub fn server_requests(&self) -> u64 {
        self.inner.counters.server_requests.get()
    }

    /// Prepares a request as the revision wants it.
    pub fn prepare(&self, method: &str, params: Value) -> Rc<Prepared> {
        Rc::new(prepare(&self.inner.lifecycle.get(), method, params, &[]))
    }

    /// Prepares a tool call; `schema` may mark parameters that HTTP repeats in headers. For arguments
    /// that change from call to call see [`Prepared::with_arguments`].
    pub fn prepare_tool_call(&self, tool: &str, arguments: &Value, schema: &Value) -> Rc<Prepared> {
        use mcp_loadtest_core::mcp::{header, method};
        let marks = header::marked_parameters(schema).unwrap_or_default();
        let params = serde_json::json!({ "name": tool, "arguments": arguments });
        Rc::new(prepare(&self.inner.lifecycle.get(), method::TOOLS_CALL, params, &marks))
    }

    /// Ends the session. A server of ours that no other session needs is asked to end, then told,
    /// then killed.
    pub async fn close(self) -> Option<StopReport> {
        self.tell_counts();
        self.end(self.inner.shutdown_timeout).await
    }

    async fn end(&self, patience: Duration) -> Option<StopReport> {
        let stopped = self.inner.link.close(&self.inner, patience).await;
        stopped.or(self.inner.leave_process(patience).await)
    }

    /// Cuts the session off in the middle of its calls, which end as cancelled: over stdio the server's
    /// input is closed, over the network its connections are dropped without a goodbye.
    pub async fn cut(self) -> Option<StopReport> {
        self.inner.break_off(Break {
            category: ErrorCategory::Cancelled,
            code: None,
            message: "the session was cut on purpose".into(),
        });
        self.tell_counts();
        match &self.inner.link {
            Link::Stdio(_) => self.inner.link.close(&self.inner, self.inner.shutdown_timeout).await,
            // Nobody holds the connections any more: they close with the session.
            Link::Http(_) | Link::Sse(_) | Link::WebSocket(_) => None,
        }
    }

    fn tell_counts(&self) {
        let told = [
            (note::NOTIFICATIONS, self.notifications()),
            (note::SERVER_REQUESTS, self.server_requests()),
        ];
        for (name, count) in told.into_iter().filter(|(_, count)| *count > 0) {
            self.inner.note(name, format!("{count} in session {}", self.inner.index));
        }
    }

    /// Makes room for so many calls in flight at once.
    pub fn make_room(&self, calls: usize) {
        self.inner.slots.borrow_mut().make_room(calls);
    }

    /// Ends the session with little patience: it was only a trial, or it never began. A server that ends
    /// when it is asked to still has the time to write down what it was asked.
    pub(crate) async fn discard(self) {
        self.end(self.inner.shutdown_timeout.min(DISCARD_PATIENCE)).await;
    }
}

/// Looks at the deadlines now and then, for as long as the session lives.
async fn sweep(inner: Weak<Inner>, shortest_deadline: Duration) {
    let interval =
        (shortest_deadline / 50).clamp(Duration::from_millis(5), Duration::from_millis(50));
    loop {
        sleep(interval).await;
        let Some(inner) = inner.upgrade() else { return };
        inner.slots.borrow_mut().sweep(inner.clock.now());
        if let Link::Stdio(stdio) = &inner.link {
            stdio.notice_exit(&inner);
        } else {
            inner.notice_end();
        }
    }
}

impl Inner {
    /// The session that this is the inside of.
    pub(crate) fn session(&self) -> Option<Session> {
        self.me.upgrade().map(|inner| Session { inner })
    }

    /// The process id of the server, where it is known.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.link.pid().or_else(|| self.behind.pid())
    }

    /// The process tree at this moment.
    pub(crate) fn process_state(&self) -> Option<TreeState> {
        inspect(self.pid()?)
    }

    /// The end of what the server said on stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        match &self.link {
            Link::Stdio(stdio) => stdio.stderr_tail(),
            _ => self.behind.stderr_tail(),
        }
    }

    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.borrow().is_some()
    }

    pub(crate) fn emit(&self, event: &Event<'_>) {
        self.sink.emit(event);
    }

    pub(crate) fn note(&self, name: &'static str, detail: String) {
        self.emit(&Event::note(self.clock.now(), name, detail));
    }

    /// The connection is gone: every call in flight ends with it.
    pub(crate) fn break_off(&self, cause: Break) {
        if self.is_broken() {
            return;
        }
        *self.broken.borrow_mut() = Some(cause.clone());
        let waiting = self.slots.borrow().waiting_ids();
        for id in waiting {
            self.end_call(id, &cause);
        }
    }
}
