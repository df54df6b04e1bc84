//! The mock before it serves: what it is told to be.

use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    sync::Arc,
};

use mcp_loadtest_core::{
    config::TransportName,
    fault::{Fault, FaultPlan},
    seed::Seed,
};

use crate::{
    audit::Audit,
    catalog::{
        Catalog,
        builtin::{self, Group},
        conformance,
    },
    serve::{
        Served,
        http::{BoundMock, Listening},
        stdio,
    },
    server::Server,
};

/// An MCP server in both eras of MCP, with tools of every kind, healthy or with faults.
///
/// Every setting has a default, so `Mock::new()` is a healthy server.
#[derive(Debug, Clone, Default)]
pub struct Mock {
    faults: Vec<Fault>,
    seed: Seed,
    audit: Audit,
    off: Vec<Group>,
    always_stream: bool,
    conformance: bool,
}

impl Mock {
    /// A healthy server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something that is wrong with it; there may be more.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// What the choices of faults are derived from that bring no seed of their own.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Where every message is written down.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = audit;
        self
    }

    /// Leaves out the tools of a group.
    #[must_use]
    pub fn without(mut self, group: Group) -> Self {
        self.off.push(group);
        self
    }

    /// Over HTTP, even a lone reply is sent as a stream of events.
    #[must_use]
    pub fn always_stream(mut self) -> Self {
        self.always_stream = true;
        self
    }

    /// Also offers what the official conformance suite expects of a server.
    #[must_use]
    pub fn conformance(mut self) -> Self {
        self.conformance = true;
        self
    }

    /// Serves the standard streams of this process until their input ends.
    pub async fn serve_stdio(self) -> io::Result<Served> {
        self.serve_pipes(io::stdin(), io::stdout()).await
    }

    /// The same over any pair of streams, one message a line.
    ///
    /// Two threads of its own read and write. If the future is dropped, they end when their streams
    /// do.
    pub async fn serve_pipes<R, W>(self, input: R, output: W) -> io::Result<Served>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        stdio::serve(self.into_server(), input, output).await
    }

    /// Listens for Streamable HTTP; port 0 is any free one. Only loopback addresses are allowed:
    /// whoever reaches the mock may call it.
    pub async fn bind(self, address: SocketAddr) -> io::Result<BoundMock> {
        self.bind_as(TransportName::Http, address).await
    }

    /// The same for another transport over sockets.
    pub async fn bind_as(
        self,
        transport: TransportName,
        address: SocketAddr,
    ) -> io::Result<BoundMock> {
        let how = Listening { transport, always_stream: self.always_stream };
        BoundMock::new(self.into_server(), address, how).await
    }

    fn into_server(self) -> Arc<Server> {
        let mut catalog = Catalog::default();
        catalog.extend(builtin::tools(&self.off));
        if self.conformance {
            conformance::furnish(&mut catalog);
        }
        Arc::new(Server::new(catalog, FaultPlan::new(self.faults, self.seed), self.audit))
    }
}
