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
//! | `journal` | what each client asked and got                                        |
//! | `serve`   | sockets                                                               |

mod compose;
mod desk;
mod dialect;
mod frame;
mod journal;
mod limits;
mod pieces;
mod serve;

use std::{io, net::SocketAddr};

use mcp_loadtest_core::{
    config::ConfigError,
    llm::{Book, FixtureFile},
    seed::Seed,
};
use thiserror::Error;

pub use self::{
    desk::Desk,
    journal::{Entry, Journal},
    serve::{BoundLlm, RunningLlm},
};

/// A mock of the APIs of models that is not listening yet.
#[derive(Debug, Default)]
pub struct MockLlm {
    files: Vec<FixtureFile>,
    seed: Seed,
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

    /// Takes an address; connections wait until it serves.
    pub async fn bind(self, address: SocketAddr) -> io::Result<BoundLlm> {
        let limits = self.files.iter().find_map(|file| file.limits.clone());
        let book = Book::new(self.files, self.seed);
        BoundLlm::new(Desk::new(book, limits.unwrap_or_default(), self.seed), address).await
    }

    /// Starts a mock with these fixtures on a port that the system chooses. It stops when it is
    /// dropped.
    pub async fn start(fixtures: &str) -> Result<RunningLlm, LlmError> {
        let mock = Self::new().fixtures(fixtures)?;
        Ok(mock.bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?.spawn())
    }
}

/// Sixty-four bits that depend on nothing but these bytes (FNV-1a): ids and made-up vectors are the
/// same on every machine.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
