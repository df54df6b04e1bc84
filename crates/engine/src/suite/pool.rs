//! The sessions of one worker. One that broke is opened again for the next test.

use std::{collections::HashMap, rc::Rc};

use mcp_loadtest_core::suite::Isolation;
use mcp_loadtest_wire::session::Session;

use super::servers::{Known, Servers};

/// A session that a test may use.
pub(super) struct Lent {
    pub(super) known: Rc<Known>,
    pub(super) session: Session,
    /// The test that used it before, if there was one.
    pub(super) before: Option<usize>,
}

/// The sessions of one worker.
pub(super) struct Pool {
    servers: Rc<Servers>,
    open: HashMap<(usize, String), Lent>,
}

impl Pool {
    pub(super) fn new(servers: Rc<Servers>) -> Self {
        Self { servers, open: HashMap::new() }
    }

    pub(super) fn servers(&self) -> &Servers {
        &self.servers
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
            Some(lent) => end(lent.session).await,
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
            Isolation::PerRun => self.servers.get(suite, server).await?,
            Isolation::PerTest => self.servers.find(suite, server).await?,
        };
        let session = known.open().await?;
        Ok(Lent { known, session, before: None })
    }

    /// Keeps a session for the next test, or ends it.
    pub(super) async fn back(
        &mut self,
        suite: usize,
        server: &str,
        lent: Lent,
        used_by: usize,
        isolation: Isolation,
    ) {
        if lent.session.is_broken() || isolation == Isolation::PerTest {
            return end(lent.session).await;
        }
        let lent = Lent { before: Some(used_by), ..lent };
        self.open.insert((suite, server.to_owned()), lent);
    }

    /// Ends all sessions.
    pub(super) async fn close(self) {
        for (_, lent) in self.open {
            end(lent.session).await;
        }
    }
}

async fn end(session: Session) {
    session.close().await;
}
