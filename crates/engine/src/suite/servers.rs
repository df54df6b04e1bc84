//! The servers of a run, each started when it is first needed.

use std::{any::Any, cell::RefCell, collections::HashMap, rc::Rc, sync::Arc, time::Duration};

use mcp_loadtest_core::{
    mcp::{Era, Revision, Tool},
    server::{Server, Transport},
};
use mcp_loadtest_wire::session::{Options, Session, Target};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{loaded::LoadedSuite, stand::Stand};
use crate::{
    conductor::choose_revision,
    target::{Logs, TeeStderr, target, unrecorded},
};

/// A server that can be reached.
pub(super) struct Known {
    pub(super) server: Server,
    target: Target,
    options: Options,
    pub(super) revision: Revision,
    /// What it lists, asked for once where it matters.
    tools: OnceCell<Vec<Tool>>,
    /// Keeps a mock of ours going.
    _mock: Option<Box<dyn Any>>,
}

impl Known {
    /// Opens a session.
    pub(super) async fn open(&self) -> Result<Session, String> {
        let opened = Session::open(&self.target, &self.options, self.revision).await;
        opened.map(|(session, _)| session).map_err(|error| error.to_string())
    }

    /// The schema of a tool, where it says which parameters HTTP repeats in headers. Elsewhere nobody
    /// needs it, and nobody asks for it.
    pub(super) async fn schema(&self, session: &Session, tool: &str, limit: Duration) -> Value {
        let is_http = matches!(self.server.transport, Transport::Http { .. });
        if !is_http || self.revision.era() != Era::Modern {
            return Value::Null;
        }
        let list = async { session.list_tools(limit).await.unwrap_or_default().tools };
        let tools = self.tools.get_or_init(|| list).await;
        let listed = tools.iter().find(|listed| listed.name == tool);
        listed.map_or(Value::Null, |tool| tool.input_schema.clone())
    }
}

type Slot = Rc<OnceCell<Result<Rc<Known>, String>>>;

/// All servers of a run. What cannot be started is tried once.
pub(super) struct Servers {
    suites: Rc<Vec<LoadedSuite>>,
    stand: Arc<dyn Stand>,
    shortest_deadline: Duration,
    slots: RefCell<HashMap<(usize, String), Slot>>,
}

impl Servers {
    pub(super) fn new(
        suites: Rc<Vec<LoadedSuite>>,
        stand: Arc<dyn Stand>,
        shortest_deadline: Duration,
    ) -> Self {
        Self { suites, stand, shortest_deadline, slots: RefCell::default() }
    }

    /// The server with this name in this suite, started or found if need be.
    pub(super) async fn get(&self, suite: usize, name: &str) -> Result<Rc<Known>, String> {
        let key = (suite, name.to_owned());
        let slot = self.slots.borrow_mut().entry(key).or_default().clone();
        slot.get_or_init(|| self.find(suite, name)).await.clone()
    }

    /// The same, started anew, for tests that want one of their own.
    pub(super) async fn find(&self, suite: usize, name: &str) -> Result<Rc<Known>, String> {
        let loaded = &self.suites[suite];
        let (server, mock) = match (loaded.servers.get(name), loaded.suite.servers.0.get(name)) {
            (Some(server), _) => (server.clone(), None),
            (None, Some(entry)) => {
                let entry = entry.mock.clone().unwrap_or_default();
                let mock = self.stand.mock(&entry, &loaded.dir).await?;
                (Server::http(mock.url).build(), Some(mock.keep))
            }
            (None, None) => return Err(format!("there is no server `{name}`")),
        };
        let target =
            target(&server, TeeStderr::Off, Logs::default()).map_err(|error| error.to_string())?;
        let options =
            Options { shortest_deadline: self.shortest_deadline, ..unrecorded(&server, false) };
        let revision = choose_revision(&server, &target, &options).await;
        let revision = revision.map_err(|error| format!("{server}: {error}"))?;
        let tools = OnceCell::new();
        Ok(Rc::new(Known { server, target, options, revision, tools, _mock: mock }))
    }
}
