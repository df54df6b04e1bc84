//! The sessions of one worker. One that broke is opened again for the next test.

use std::{collections::HashMap, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    outcome::ErrorCategory,
    suite::{Isolation, expect::Mismatch},
};
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
    pub(super) answered: bool,
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
        Ok(Lent { known, session, before: None, answered: false })
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
        if lent.session.is_broken() {
            lent.session.close().await;
        } else if isolation == Isolation::PerTest {
            self.end_idle(lent).await;
        } else {
            self.open.insert((suite, server.to_owned()), lent);
        }
    }

    /// Blames a test for a server that was gone after it had answered it.
    pub(super) fn blame(&self, repeat: Repeat, session: &Session) {
        let what = session.broken().map_or_else(|| "it is gone".into(), |cause| cause.message);
        let why = format!("after the answer: {what}{}", last_words_of(session));
        self.desk.blame(repeat, Mismatch::new("server", why));
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
        if let Some(before) = lent.before.filter(|_| is_dead(&lent.session)) {
            self.blame(before, &lent.session);
        }
        lent.session.close().await;
    }

    /// Asks a process of ours something harmless before we end it: one that dies of its last answer
    /// would not be seen to die otherwise.
    async fn ask_for_life(&self, lent: &Lent) {
        let is_ours = lent.session.pid().is_some();
        if is_ours && lent.answered && !lent.session.is_broken() {
            tokio::select! {
                _ = lent.session.control(How::setup(SIGN_OF_LIFE)) => {}
                () = self.desk.stop.stopped() => {}
            }
        }
    }
}

/// Whether the process has ended. A connection may be closed for good reasons.
pub(super) fn is_dead(session: &Session) -> bool {
    session.broken().is_some_and(|cause| cause.category == ErrorCategory::Crash)
}
