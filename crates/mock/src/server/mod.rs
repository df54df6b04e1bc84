//! The server behind every transport: what it offers, how it misbehaves, what it writes down.
//!
//! | file       | what it does                                                          |
//! |------------|-----------------------------------------------------------------------|
//! | `begin`    | takes a request: answers it on the spot, or makes it a `Pending`      |
//! | `batch`    | the same for the messages of a batch                                  |
//! | `pending`  | a request that takes its time, because of its tool or of a fault      |
//! | `methods`  | every method that is answered on the spot                             |
//! | `call`     | `tools/call`                                                          |
//! | `listen`   | modern: `subscriptions/listen`                                        |
//! | `notice`   | what clients tell without wanting a reply                             |
//! | `exchange` | what a tool sees of its call                                          |
//! | `session`  | what is remembered about one client                                   |
//! | `flood`    | notifications that nobody asked for                                   |
//! | `origin`   | where a request came from                                             |
//! | `caller`   | who is at the other end of a connection                               |
//! | `record`   | rows of the audit log                                                 |
//!
//! To add a method: an arm in `methods`.

pub(crate) mod batch;
pub(crate) mod begin;
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod exchange;
mod flood;
mod listen;
mod methods;
pub(crate) mod notice;
pub(crate) mod origin;
pub(crate) mod pending;
pub(crate) mod record;
pub(crate) mod session;

use std::sync::Arc;

use mcp_loadtest_core::{
    config::TransportName,
    fault::{Beside, CallView, START, Treatment},
    mcp::{Era, header::MarkedParameter, method},
};
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;

use self::session::{Outbox, Session};
use crate::{
    admin::Controlled,
    audit::{Audit, Redaction},
    catalog::Catalog,
    desk::Desk,
    mcp::{ServerInfo, request::Request},
};

/// Changes that a client may miss without harm: it hears of the next one.
const CHANGES_KEPT: usize = 64;

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    info: ServerInfo,
    catalog: Catalog,
    desk: Arc<Desk>,
    audit: Audit,
    changes: broadcast::Sender<Change>,
    /// Fires whenever a reply has been written.
    replied: Notify,
    /// The exit code of a crash that was asked for.
    crash: watch::Sender<Option<i32>>,
    /// Fires when the server ends, and with it every session.
    end: CancellationToken,
}

/// Something that is offered has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// One resource.
    Resource(String),
}

impl Change {
    /// How it is told.
    pub(crate) fn notification(&self) -> (&'static str, Value) {
        match self {
            Self::Tools => (method::TOOLS_CHANGED, json!({})),
            Self::Prompts => (method::PROMPTS_CHANGED, json!({})),
            Self::Resource(uri) => (method::RESOURCE_UPDATED, json!({ "uri": uri })),
        }
    }
}

impl Server {
    pub(crate) fn new(info: ServerInfo, catalog: Catalog, desk: Desk, audit: Audit) -> Self {
        Self {
            info,
            catalog,
            desk: Arc::new(desk),
            audit,
            changes: broadcast::Sender::new(CHANGES_KEPT),
            replied: Notify::new(),
            crash: watch::Sender::new(None),
            end: CancellationToken::new(),
        }
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    pub(crate) fn redaction(&self) -> &Redaction {
        self.audit.redaction()
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// What an admin interface looks at and changes.
    pub(crate) fn controlled(&self, transport: TransportName) -> Controlled {
        Controlled { desk: self.desk.clone(), audit: self.audit.clone(), transport }
    }

    /// The arguments of a tool call that modern clients repeat in headers.
    pub(crate) fn marked(&self, request: &Request<'_>) -> &[MarkedParameter] {
        let name = match &*request.method {
            method::TOOLS_CALL => request.params.name.as_deref(),
            _ => None,
        };
        name.and_then(|name| self.catalog.tool(name)).map_or(&[], |tool| &tool.marked)
    }

    /// What is to be done with a request.
    fn treat(&self, request: &Request<'_>, session: &Session, era: Era) -> Treatment {
        let faults = self.desk.faults();
        if faults.is_empty() {
            return Treatment::default();
        }
        let tool = match &*request.method {
            method::TOOLS_CALL => request.params.name.as_deref(),
            _ => None,
        };
        faults.decide(&self.view(session, &request.method, tool, era))
    }

    fn view<'a>(
        &self,
        session: &'a Session,
        method: &'a str,
        tool: Option<&'a str>,
        era: Era,
    ) -> CallView<'a> {
        CallView {
            method,
            tool,
            session: (!session.id.is_empty()).then_some(&*session.id),
            server: None,
            elapsed: self.desk.begun().elapsed(),
            transport: session.transport,
            era,
        }
    }

    /// A stream has opened on which what belongs to no request can be sent.
    pub(crate) fn stream_opened(&self, session: &Arc<Session>, outbox: &Outbox, era: Era) {
        for beside in self.desk.faults().decide(&self.view(session, START, None, era)).beside {
            match beside {
                Beside::Flood(rate) => flood::begin(session.clone(), outbox.clone(), rate),
                Beside::ListChanged => self.announce(Change::Tools),
            }
        }
    }

    /// Tells everybody who listens.
    pub(crate) fn announce(&self, change: Change) {
        // Nobody has to listen.
        let _ = self.changes.send(change);
    }

    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// A transport has written a reply.
    pub(crate) fn has_replied(&self) {
        self.replied.notify_waiters();
    }

    /// Whoever fires this ends all sessions.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.end
    }

    /// Ends the server as a crash would.
    pub(crate) fn crash(&self, code: i32) {
        self.crash.send_replace(Some(code));
    }

    /// The exit code of a crash that was asked for.
    pub(crate) fn has_crashed(&self) -> Option<i32> {
        *self.crash.borrow()
    }

    /// Waits for a crash that was asked for.
    pub(crate) async fn crashed(&self) -> i32 {
        let mut crash = self.crash.subscribe();
        loop {
            crash.mark_unchanged();
            if let Some(code) = self.has_crashed() {
                return code;
            }
            // The sender is ours, so it cannot be gone.
            let _ = crash.changed().await;
        }
    }

    /// A session in which nothing was agreed yet.
    pub(crate) fn open_session(&self, id: &str, transport: TransportName) -> Arc<Session> {
        Arc::new(Session::new(id, transport, self.end.child_token()))
    }
}
