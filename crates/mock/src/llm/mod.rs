//! A mock of the APIs of models, which fails as it is told to.
//!
//! ```
//! use mcp_loadtest_mock::llm::MockLlm;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let llm = MockLlm::start("fixtures:\n  - response: {content: hello}\n").await?;
//! assert!(llm.url().starts_with("http://127.0.0.1:"));
//! drop(llm); // It no longer listens.
//! # Ok(())
//! # }
//! ```
//!
//! | file      | what it does                                                          |
//! |-----------|-----------------------------------------------------------------------|
//! | `dialect` | the APIs: what is asked, and the form of an answer                    |
//! | `compose` | from a fixture to an answer                                           |
//! | `pieces`  | an answer, cut into what is streamed, with places that faults have    |
//! | `frame`   | events of a stream; `serve` writes them                               |
//! | `desk`    | the fixtures in force, the limits and the journal                     |
//! | `limits`  | buckets of requests and tokens                                        |
//! | `oauth`   | tokens that clients need, where fixtures say so                       |
//! | `journal` | what each client asked and got                                        |
//! | `record`  | what is kept of a request until somebody wants to read it             |
//! | `serve`   | sockets                                                               |
//! | `admin`   | control while it runs                                                 |

mod admin;
mod compose;
mod desk;
mod dialect;
mod frame;
mod journal;
mod limits;
mod oauth;
mod pieces;
mod record;
mod serve;

use std::{io, net::SocketAddr, path::PathBuf};

use mcp_loadtest_core::{
    config::ConfigError,
    hint::Hint,
    llm::{FixtureFile, Provider},
    seed::Seed,
};
use mcp_loadtest_wire::session::OpenError;
use thiserror::Error;

use self::desk::DeskSettings;
pub use self::{
    desk::Desk,
    journal::Journal,
    serve::{BoundLlm, RunningLlm},
};

/// The APIs that are served: whose it is, its verb, and its path for people.
pub fn apis() -> impl Iterator<Item = (Provider, &'static str, &'static str)> {
    dialect::DIALECTS.iter().map(|dialect| (dialect.provider, dialect.verb, dialect.path))
}

/// Where tokens are handed out if fixtures ask for them: the verb, the path, and what is there.
pub fn token_endpoints() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    oauth::ENDPOINTS.iter().map(|endpoint| (endpoint.verb, endpoint.path, endpoint.about))
}

/// A mock of the APIs of models that is not listening yet.
#[derive(Debug)]
pub struct MockLlm {
    files: Vec<FixtureFile>,
    seed: Seed,
    replay_speed: f64,
    record: Option<(String, PathBuf)>,
}

/// Why a mock did not start.
#[derive(Debug, Error)]
pub enum LlmError {
    /// The fixtures cannot be used.
    #[error(transparent)]
    Fixtures(#[from] ConfigError),
    /// It cannot listen.
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
    /// Whoever reaches the mock may use what is behind it.
    #[error("the mock listens on loopback addresses only, not on {0}")]
    NotLoopback(SocketAddr),
    /// What is recorded is the mock itself.
    #[error("the server at {0} is the mock itself")]
    Loop(SocketAddr),
    /// The server that is to be recorded cannot be found.
    #[error(transparent)]
    Upstream(#[from] OpenError),
    /// The file for recordings cannot be made.
    #[error("cannot write {path}: {source}")]
    Recording {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Hint for LlmError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Fixtures(error) => error.hint(),
            Self::NotLoopback(_) => Some("listen on `127.0.0.1:0`".into()),
            Self::Loop(_) => Some("listen on another port than the server".into()),
            Self::Upstream(error) => error.hint(),
            Self::Listen(_) | Self::Recording { .. } => None,
        }
    }
}

impl Default for MockLlm {
    fn default() -> Self {
        Self { files: Vec::new(), seed: Seed::default(), replay_speed: 1.0, record: None }
    }
}

impl MockLlm {
    /// A mock without fixtures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the fixtures of a file.
    #[must_use]
    pub fn file(mut self, file: FixtureFile) -> Self {
        self.files.push(file);
        self
    }

    /// Adds fixtures as text, YAML or JSON.
    pub fn fixtures(self, text: &str) -> Result<Self, ConfigError> {
        Ok(self.file(FixtureFile::parse(text, "fixtures")?))
    }

    /// Sets what all chances come from that have no seed of their own.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how much faster recordings are told than they were; 0: at once.
    #[must_use]
    pub fn replay_speed(mut self, speed: f64) -> Self {
        self.replay_speed = speed;
        self
    }

    /// Stands in front of a real server in place of answering, and writes all down to a file.
    #[must_use]
    pub fn record(mut self, url: impl Into<String>, to: impl Into<PathBuf>) -> Self {
        self.record = Some((url.into(), to.into()));
        self
    }

    /// Takes an address; connections wait until it serves.
    pub async fn bind(self, address: SocketAddr) -> Result<BoundLlm, LlmError> {
        let recorder = match self.record {
            Some((url, path)) => Some(serve::Recorder::new(&url, path).await?),
            None => None,
        };
        let Self { files, seed, replay_speed, .. } = self;
        let desk = Desk::new(DeskSettings { files, seed, replay_speed, recorder });
        BoundLlm::new(desk, address).await
    }

    /// Starts a mock with these fixtures on a port that the system chooses. It stops when it is
    /// dropped.
    pub async fn start(fixtures: &str) -> Result<RunningLlm, LlmError> {
        Self::new().fixtures(fixtures)?.spawn().await
    }

    /// Starts it on a port that the system chooses. It stops when it is dropped.
    pub async fn spawn(self) -> Result<RunningLlm, LlmError> {
        Ok(self.bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?.spawn())
    }
}

/// Sixty-four bits that depend on nothing but these bytes (FNV-1a): ids and made-up vectors are the
/// same on every machine.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
