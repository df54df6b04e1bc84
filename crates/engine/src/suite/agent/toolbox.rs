//! The tools that an agent has, and the servers behind them.

use std::time::Duration;

use mcp_loadtest_core::{
    agent::ToolSpec,
    config::TransportName,
    mcp::{Era, Tool},
    server::Transport,
    suite::{Isolation, recovery::is_non_idempotent},
};
use mcp_loadtest_wire::session::{Reply, Session, ToolListing};

use super::super::{
    choose::Case,
    desk::{Desk, Repeat},
    pool::{Lent, Pool},
    request::is_gone,
};

/// How long a server may take to list its tools.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// A tool as the model knows it.
pub(super) struct Offered {
    /// What the model calls it.
    pub(super) name: String,
    /// The server that has it.
    pub(super) server: String,
    pub(super) tool: Tool,
    at: usize,
}

/// What a server lists, and the session with it.
type Listed = (Result<ToolListing, Reply>, Lent);

/// Lists the tools of a server. As with a request, one that was left dead is asked anew.
async fn list(desk: &Desk, case: Case, pool: &mut Pool, server: &str) -> Result<Listed, String> {
    let isolation = desk.isolation(case);
    let mut lent = pool.lend(case.suite, server, isolation).await?;
    let mut listed = lent.session.list_tools(LIST_LIMIT).await;
    let is_lost = |listed: &Result<_, Reply>| listed.as_ref().is_err_and(is_gone);
    if is_lost(&listed) && lent.may_have_been_left_dead() {
        let fresh = pool.fresh(case.suite, server, isolation).await?;
        listed = fresh.session.list_tools(LIST_LIMIT).await;
        let before = lent.before.filter(|_| !is_lost(&listed));
        pool.end_left(Lent { before, ..lent }).await;
        lent = fresh;
    }
    lent.answered.set(listed.is_ok());
    Ok((listed, lent))
}

/// The tools of an agent.
pub(super) struct Toolbox {
    lent: Vec<(String, Lent)>,
    pub(super) offered: Vec<Offered>,
}

impl Toolbox {
    /// Opens a session with each server and lists what it has.
    pub(super) async fn open(desk: &Desk, case: Case, pool: &mut Pool) -> Result<Self, String> {
        let agent = &desk.suites[case.suite].suite.agents[case.index];
        let mut toolbox = Self { lent: Vec::new(), offered: Vec::new() };
        for server in &agent.servers {
            let (listed, lent) = list(desk, case, pool, server).await?;
            let at = toolbox.lent.len();
            toolbox.lent.push((server.clone(), lent));
            let listing = listed
                .map_err(|reply| format!("`{server}` did not list its tools: {}", reply.message))?;
            let offered = listing.tools.into_iter().map(|tool| Offered {
                name: tool.name.clone(),
                server: server.clone(),
                tool,
                at,
            });
            toolbox.offered.extend(offered);
        }
        toolbox.tell_apart();
        Ok(toolbox)
    }

    /// Tools of several servers may have the same name; then the server's stands before it.
    fn tell_apart(&mut self) {
        let names: Vec<_> = self.offered.iter().map(|offered| offered.name.clone()).collect();
        for offered in &mut self.offered {
            if names.iter().filter(|name| **name == offered.tool.name).count() > 1 {
                offered.name = format!("{}__{}", offered.server, offered.tool.name);
            }
        }
    }

    /// What the model is told of them.
    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        let spec = |offered: &Offered| ToolSpec {
            name: offered.name.clone(),
            description: offered.tool.description.clone().unwrap_or_default(),
            input_schema: offered.tool.input_schema.clone(),
        };
        self.offered.iter().map(spec).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Offered> {
        self.offered.iter().find(|offered| offered.name == name)
    }

    pub(super) fn session(&self, offered: &Offered) -> &Session {
        &self.lent[offered.at].1.session
    }

    /// Keeps that a call was not answered: its session is not used for another test.
    pub(super) fn keep_waiting(&self, offered: &Offered) {
        self.lent[offered.at].1.answered.set(false);
    }

    /// How calls of a tool travel, as faults see it.
    pub(super) fn way(&self, offered: &Offered) -> (TransportName, Era) {
        let (_, lent) = &self.lent[offered.at];
        let transport = match lent.known.server.transport {
            Transport::Stdio => TransportName::Stdio,
            Transport::Http { .. } => TransportName::Http,
            Transport::Sse { .. } => TransportName::Sse,
            Transport::WebSocket { .. } => TransportName::Ws,
        };
        (transport, lent.known.revision.era())
    }

    /// Tools that say themselves that they must not be called twice.
    pub(super) fn non_idempotent(&self) -> Vec<String> {
        let says = |offered: &&Offered| is_non_idempotent(offered.tool.annotations.as_ref());
        self.offered.iter().filter(says).map(|offered| offered.tool.name.clone()).collect()
    }

    /// Gives the sessions back.
    pub(super) async fn give_back(
        self,
        pool: &mut Pool,
        case: Case,
        used_by: Repeat,
        isolation: Isolation,
    ) {
        for (server, lent) in self.lent {
            pool.back(case.suite, &server, lent, used_by, isolation).await;
        }
    }
}
