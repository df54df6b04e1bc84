//! What only the caller can start. The mocks are not ours: what misbehaves on purpose does not know
//! the engine, and the engine does not know it.

use std::{any::Any, path::Path, pin::Pin};

use mcp_loadtest_core::{
    agent::Turn,
    suite::{MockEntry, Provider},
};

/// Something that is being started; the text says why it could not be.
pub type Starting<T> = Pin<Box<dyn Future<Output = Result<T, String>>>>;

/// Starts what a suite needs besides servers.
pub trait Stand: Send + Sync {
    /// Our own mock of a server. `dir` is where the suite is.
    fn mock(&self, entry: &MockEntry, dir: &Path) -> Starting<StartedMock>;

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

    fn fixtures(&self, _: &Path) -> Starting<StartedLlm> {
        Self::nothing()
    }

    fn speaker(&self, _: Provider) -> Starting<(StartedLlm, Box<dyn Speaker>)> {
        Self::nothing()
    }
}
