//! What only the caller can start. The mocks are not ours: what misbehaves on purpose does not know
//! the engine, and the engine does not know it.

use std::{any::Any, path::Path, pin::Pin};

use mcp_loadtest_core::{
    agent::Turn,
    fault::Fault,
    seed::Seed,
    server::Server,
    suite::{MockEntry, Provider, recovery::WireCall},
};
use serde_json::Value;
use tokio::time::Instant;

/// Something that is being started; the text says why it could not be.
pub type Starting<T> = Pin<Box<dyn Future<Output = Result<T, String>>>>;

/// Starts what a suite needs besides servers.
pub trait Stand: Send + Sync {
    /// Our own mock of a server. `dir` is where the suite is.
    fn mock(&self, entry: &MockEntry, dir: &Path) -> Starting<StartedMock>;

    /// The same with faults of a test, and with an eye on what reaches it.
    fn watched(
        &self,
        entry: &MockEntry,
        faults: Vec<Fault>,
        seed: Seed,
        dir: &Path,
    ) -> Starting<Box<dyn Watched>>;

    /// A proxy before a server, with faults of a test and an eye on what passes. One before a server
    /// that speaks over pipes is started by the agent.
    fn proxied(
        &self,
        server: &Server,
        faults: Vec<Fault>,
        seed: Seed,
    ) -> Starting<Box<dyn Watched>>;

    /// Our own mock of a model's API that answers with the fixtures of a file.
    fn fixtures(&self, file: &Path) -> Starting<StartedLlm>;

    /// Our own mock of a model's API that says what it is told to say.
    fn speaker(&self, provider: Provider) -> Starting<(StartedLlm, Box<dyn Speaker>)>;
}

/// A mock that listens for as long as this is kept.
pub struct StartedMock {
    /// Its MCP endpoint.
    pub url: String,
    /// What keeps it going.
    pub keep: Box<dyn Any>,
}

/// A mock or a proxy whose calls are written down.
pub trait Watched {
    /// Its MCP endpoint, if it has an address.
    fn url(&self) -> Option<&str>;

    /// Its entry in the `mcpServers` of a client.
    fn entry(&self) -> Value;

    /// Ends it and gives all calls that reached it, with their moments since `zero`.
    fn end(self: Box<Self>, zero: Instant) -> Starting<Vec<WireCall>>;
}

/// A mock of a model's API that listens for as long as this is kept.
pub struct StartedLlm {
    /// Its base URL.
    pub url: String,
    /// What keeps it going.
    pub keep: Box<dyn Any>,
}

/// Puts words into the mouth of a mock of a model's API.
pub trait Speaker {
    /// The next request is answered with this.
    fn say(&self, turn: &Turn) -> Result<(), String>;
}

/// Starts nothing: for suites without mocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStand;

impl NoStand {
    fn nothing<T: 'static>() -> Starting<T> {
        Box::pin(async { Err("nobody is here to start a mock".to_owned()) })
    }
}

impl Stand for NoStand {
    fn mock(&self, _: &MockEntry, _: &Path) -> Starting<StartedMock> {
        Self::nothing()
    }

    fn watched(
        &self,
        _: &MockEntry,
        _: Vec<Fault>,
        _: Seed,
        _: &Path,
    ) -> Starting<Box<dyn Watched>> {
        Self::nothing()
    }

    fn proxied(&self, _: &Server, _: Vec<Fault>, _: Seed) -> Starting<Box<dyn Watched>> {
        Self::nothing()
    }

    fn fixtures(&self, _: &Path) -> Starting<StartedLlm> {
        Self::nothing()
    }

    fn speaker(&self, _: Provider) -> Starting<(StartedLlm, Box<dyn Speaker>)> {
        Self::nothing()
    }
}
