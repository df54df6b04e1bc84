//! Both ends together, as checks use them: calls through the gateway, calls past it, and what the
//! server has seen.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    display::visible,
    mcp::{Revision, method},
};
use mcp_loadtest_wire::session::{
    Address, Hello, Hold, How, OpenError, Options, Prepared, Reply, Session, Target,
};
use serde_json::{Value, json};

use super::{GatewayError, check::Untold, hearing::Hearing, names::Names, upstream::Upstream};
use crate::audit::{Row, Timestamp};

/// How much of what a peer says is shown.
pub(super) const SHOWN: usize = 120;

/// The two ends of the gateway.
pub(super) struct Bench {
    pub(super) upstream: Upstream,
    pub(super) hearing: Rc<Hearing>,
    pub(super) target: Target,
    pub(super) revision: Revision,
    pub(super) names: Names,
    /// How long a client of today waits for an answer.
    pub(super) patience: Duration,
    options: Options,
    /// The wall clock when the clock of the sessions was at zero.
    zero: Timestamp,
    session: RefCell<Option<Session>>,
    /// What keeps a gateway that listens running between sessions.
    hold: Option<Hold>,
    markers: Cell<u64>,
}

/// What a bench is made of.
pub(super) struct Parts {
    pub(super) upstream: Upstream,
    pub(super) hearing: Rc<Hearing>,
    pub(super) target: Target,
    pub(super) revision: Revision,
    pub(super) patience: Duration,
    pub(super) options: Options,
    pub(super) hold: Option<Hold>,
}

impl Bench {
    /// Opens the first session and asks for the tools.
    pub(super) async fn new(parts: Parts) -> Result<(Self, Hello), GatewayError> {
        let Parts { upstream, hearing, target, revision, patience, options, hold } = parts;
        let (session, hello) = Session::open(&target, &options, revision).await?;
        let listing = session.list_tools(options.startup_timeout).await;
        let listing = listing.map_err(|reply| GatewayError::Control {
            why: format!("`tools/list` got {}", told(&reply)),
            stderr: session.stderr_tail(),
        })?;
        let zero = Timestamp(Timestamp::now().0 - micros(options.clock.now()));
        let bench = Self {
            upstream,
            hearing,
            target,
            revision: session.revision(),
            names: Names::new(listing.tools.into_iter().map(|tool| tool.name)),
            patience,
            options,
            zero,
            session: RefCell::new(Some(session)),
            hold,
            markers: Cell::new(0),
        };
        Ok((bench, hello))
    }

    /// A text that stands in one call only.
    pub(super) fn marker(&self) -> String {
        self.markers.set(self.markers.get() + 1);
        format!("gw-{:x}-{}", self.zero.0, self.markers.get())
    }

    /// The session of most checks; a new one, if it is gone.
    pub(super) async fn session(&self) -> Result<Session, Untold> {
        let current = self.session.borrow().clone();
        match current.filter(|session| !session.is_broken()) {
            Some(session) => Ok(session),
            None => {
                let session = self.open().await?;
                *self.session.borrow_mut() = Some(session.clone());
                Ok(session)
            }
        }
    }

    /// A session besides.
    pub(super) async fn open(&self) -> Result<Session, Untold> {
        self.open_at(&self.target).await
    }

    /// A session with a target of the check's own.
    pub(super) async fn open_at(&self, target: &Target) -> Result<Session, Untold> {
        let opened = Session::open(target, &self.options, self.revision).await;
        let told = |error: OpenError| format!("no further session: {}", shown(&error.to_string()));
        opened.map(|(session, _)| session).map_err(|error| Untold(told(error)))
    }

    /// A session with the server, past the gateway.
    pub(super) async fn direct(&self) -> Result<Session, Untold> {
        self.open_at(&Target::Http(Address::new(self.upstream.url()))).await
    }

    /// Ends the session that a check has hurt: the next check begins with a new one.
    pub(super) async fn renew(&self) {
        let session = self.session.borrow_mut().take();
        if let Some(session) = session {
            session.close().await;
        }
    }

    /// A call as the gateway wants it named.
    pub(super) fn prepare(
        &self,
        session: &Session,
        tool: &str,
        arguments: Value,
    ) -> Result<Rc<Prepared>, Untold> {
        let name = self.names.find(tool)?;
        Ok(session.prepare(method::TOOLS_CALL, json!({ "name": name, "arguments": arguments })))
    }

    /// A call through the gateway, awaited as long as a client is patient.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<Reply, Untold> {
        let session = self.session().await?;
        let call = self.prepare(&session, tool, arguments)?;
        Ok(session.call(&call, How::setup(self.patience)).await)
    }

    /// A call past the gateway.
    pub(super) async fn call_direct(
        &self,
        session: &Session,
        tool: &str,
        arguments: Value,
    ) -> Reply {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = session.prepare(method::TOOLS_CALL, params);
        session.call(&call, How::setup(self.patience)).await
    }

    /// The moment of a session's clock.
    pub(super) fn now(&self) -> Duration {
        self.options.clock.now()
    }

    /// When a message arrived at the server, by the clock of the sessions.
    pub(super) fn arrived(&self, row: &Row) -> Duration {
        Duration::from_micros(u64::try_from(row.ts.0 - self.zero.0).unwrap_or(0))
    }

    /// Ends whatever is open.
    pub(super) async fn close(self) {
        self.renew().await;
        drop(self.hold);
    }
}

fn micros(duration: Duration) -> i64 {
    duration.as_micros().try_into().unwrap_or(i64::MAX)
}

/// What a reply says, in a few words.
pub(super) fn told(reply: &Reply) -> String {
    match (reply.failure(), reply.code) {
        (None, _) => "a good result".into(),
        (Some(_), Some(code)) => format!("error {code}: {}", shown(&reply.message)),
        (Some(category), None) => format!("{}: {}", category.name(), shown(&reply.message)),
    }
}

/// Text of a peer, made safe.
pub(super) fn shown(text: &str) -> String {
    visible(text, SHOWN)
}

/// The texts of a tool result.
pub(super) fn texts(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().map(|block| block["text"].as_str().unwrap_or_default()).collect()
}
