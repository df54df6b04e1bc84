//! The sessions of one worker. One that broke is opened again for the next test.

use std::{cell::Cell, collections::HashMap, rc::Rc, time::Duration};

use mcp_loadtest_core::suite::{Isolation, expect::Mismatch};
use mcp_loadtest_wire::session::{How, Session};

use super::{
    desk::{Desk, Repeat},
    servers::{Known, Servers},
};
use crate::probe::last_words_of;

/// How long a server may take to show that it lives. Long, because a machine may be busy; who is
/// silent for so long is not blamed for it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// A session that a test may use.
pub(super) struct Lent {
    pub(super) known: Rc<Known>,
    pub(super) session: Session,
    /// The test that used it before, if there was one.
    pub(super) before: Option<Repeat>,
    /// Whether the server has answered what it was asked last.
    pub(super) answered: Cell<bool>,
}

impl Lent {
    /// Whether somebody else used the session before, and it ended in a way that may come from that:
    /// a new one shows whether it does. A connection that was cut is nobody's but who used it then.
    pub(super) fn may_have_been_left_dead(&self) -> bool {
        self.before.is_some() && (is_dead(&self.session) || is_forgotten(&self.session))
    }
}

/// The sessions of one worker.
pub(super) struct Pool {
    desk: Rc<Desk>,
    open: HashMap<(usize, String), Lent>,
}

impl Pool {
    pub(super) fn new(desk: Rc<Desk>) -> Self {
        Self { desk, open: HashMap::new() }
    }

    pub(super) fn servers(&self) -> &Servers {
        &self.desk.servers
    }

    /// A session with a server, for one test. It is given back with [`Pool::back`].
    pub(super) async fn lend(
        &mut self,
        suite: usize,
        server: &str,
        isolation: Isolation,
    ) -> Result<Lent, String> {
        let kept = self.open.remove(&(suite, server.to_owned()));
        match kept {
            Some(lent) if !lent.session.is_broken() => return Ok(lent),
            Some(lent) => self.end_idle(lent).await,
            None => {}
        }
        self.fresh(suite, server, isolation).await
    }

    /// The same, from a server that has seen nothing else yet.
    pub(super) async fn fresh(
        &mut self,
        suite: usize,
        server: &str,
        isolation: Isolation,
    ) -> Result<Lent, String> {
        let known = match isolation {
            Isolation::PerRun => self.desk.servers.get(suite, server).await?,
            Isolation::PerTest => self.desk.servers.find(suite, server).await?,
        };
        let session = known.open().await?;
        Ok(Lent { known, session, before: None, answered: Cell::new(false) })
    }

    /// Keeps a session for the next test, or ends it.
    pub(super) async fn back(
        &mut self,
        suite: usize,
        server: &str,
        lent: Lent,
        used_by: Repeat,
        isolation: Isolation,
    ) {
        let lent = Lent { before: Some(used_by), ..lent };
        // A server that is still busy with what nobody waits for would let the next test wait, too.
        if !lent.answered.get() {
            lent.session.close().await;
        } else if lent.session.is_broken() || isolation == Isolation::PerTest {
            self.end_idle(lent).await;
        } else {
            self.open.insert((suite, server.to_owned()), lent);
        }
    }

    /// Blames a test for a server that was gone after it had answered it.
    fn blame(&self, repeat: Repeat, session: &Session) {
        let what = session.broken().map_or_else(|| "it is gone".into(), |cause| cause.message);
        let why = format!("after the answer: {what}{}", last_words_of(session));
        self.desk.blame(repeat, Mismatch::new("server", why));
    }

    /// Ends a session. If its server has died already, it died of the test that used it before.
    pub(super) async fn end_left(&self, lent: Lent) {
        if let Some(before) = lent.before.filter(|_| is_dead(&lent.session)) {
            self.blame(before, &lent.session);
        }
        lent.session.close().await;
    }

    /// Ends all sessions.
    pub(super) async fn close(mut self) {
        for (_, lent) in std::mem::take(&mut self.open) {
            self.end_idle(lent).await;
        }
    }

    /// Ends a session that nobody was using: a server that is dead died of what it was asked last.
    async fn end_idle(&self, lent: Lent) {
        self.ask_for_life(&lent).await;
        self.end_left(lent).await;
    }

    /// Asks a process of ours something harmless before we end it: one that dies of its last answer
    /// would not be seen to die otherwise.
    async fn ask_for_life(&self, lent: &Lent) {
        let is_ours = lent.session.pid().is_some();
        if is_ours && lent.answered.get() && !lent.session.is_broken() {
            tokio::select! {
                _ = lent.session.control(How::setup(SIGN_OF_LIFE)) => {}
                () = self.desk.stop.stopped() => {}
            }
        }
    }
}

/// Whether a process of ours is gone, with whatever exit code. Of a server at an address nobody knows
/// more than that a connection was closed, which may be for good reasons.
fn is_dead(session: &Session) -> bool {
    session.pid().is_some() && session.is_broken()
}

/// Whether a server at an address has forgotten the session, as it may at any time: MCP has the client
/// begin a new one then.
fn is_forgotten(session: &Session) -> bool {
    session.broken().is_some_and(|cause| cause.code == Some(404))
}
