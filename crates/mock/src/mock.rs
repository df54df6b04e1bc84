//! The mock before it serves: what it is told to be.

use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    sync::Arc,
};

use mcp_loadtest_core::{
    config::{ConfigError, TransportName},
    fault::Fault,
    seed::Seed,
    tools_file::ToolsFile,
};

use crate::{
    admin::Controlled,
    audit::Audit,
    catalog::{
        Catalog,
        builtin::{self, Group},
        conformance,
    },
    desk::Desk,
    mcp::ServerInfo,
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
    file: Option<ToolsFile>,
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

    /// Offers what a file declares, in place of the built-in tools.
    pub fn tools_from(mut self, file: ToolsFile) -> Result<Self, ConfigError> {
        // Tried now, so that whoever brings a bad file hears of it here.
        Catalog::default().furnish(&file)?;
        self.file = Some(file);
        Ok(self)
    }

    /// Also offers what the official conformance suite expects of a server.
    #[must_use]
    pub fn conformance(mut self) -> Self {
        self.conformance = true;
        self
    }

    /// The tools that it offers.
    pub fn tool_names(&self) -> Vec<String> {
        self.catalog().0.names()
    }

    /// Serves the standard streams of this process until their input ends.
    pub async fn serve_stdio(self) -> io::Result<Served> {
        self.on_stdio().serve().await
    }

    /// On the standard streams, before it serves: an admin interface can be put beside it.
    pub fn on_stdio(self) -> StdioMock {
        StdioMock { server: self.into_server() }
    }

    /// Serves any pair of streams, one message a line.
    ///
    /// Two threads of its own read and write. If the future is dropped, they end when their streams
    /// do.
    pub async fn serve_pipes<R, W>(self, input: R, output: W) -> io::Result<Served>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        self.serve_pipes_until(input, output, std::future::pending()).await
    }

    /// The same until `stop` is done: then calls that still run are cancelled and written down.
    pub async fn serve_pipes_until<R, W>(
        self,
        input: R,
        output: W,
        stop: impl Future<Output = ()>,
    ) -> io::Result<Served>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        stdio::serve(self.into_server(), input, output, stop).await
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
        let (catalog, info) = self.catalog();
        Arc::new(Server::new(info, catalog, Desk::new(self.faults, self.seed), self.audit))
    }

    fn catalog(&self) -> (Catalog, ServerInfo) {
        let mut catalog = Catalog::default();
        let mut info = ServerInfo::default();
        match &self.file {
            None => catalog.extend(builtin::tools(&self.off)),
            Some(file) => {
                catalog.furnish(file).expect("it was tried when it was given");
                info.name = file.name.clone().unwrap_or(info.name);
            }
        }
        if self.conformance {
            conformance::furnish(&mut catalog);
        }
        (catalog, info)
    }
}

/// A mock that is about to serve the standard streams.
#[derive(Debug)]
pub struct StdioMock {
    server: Arc<Server>,
}

impl StdioMock {
    /// What an admin interface looks at and changes.
    pub fn controlled(&self) -> Controlled {
        self.server.controlled(TransportName::Stdio)
    }

    /// Serves until the input ends.
    pub async fn serve(self) -> io::Result<Served> {
        self.serve_until(std::future::pending()).await
    }

    /// The same until `stop` is done: then calls that still run are cancelled and written down.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) -> io::Result<Served> {
        stdio::serve(self.server, io::stdin(), io::stdout(), stop).await
    }
}
