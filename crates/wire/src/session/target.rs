//! Whom to talk to, and with which limits.

use std::{path::PathBuf, rc::Rc, time::Duration};

use super::{Address, OpenError, ProtocolStrictness};
use crate::{
    clock::Clock,
    process::{Launch, Lease},
    sink::Sink,
    transport::MESSAGE_LIMIT,
};

/// Whom to talk to.
#[derive(Debug, Clone)]
pub enum Target {
    /// A process that we start, over its pipes.
    Stdio(Launch),
    /// Streamable HTTP.
    Http(Address),
    /// HTTP+SSE of 2024-11-05.
    Sse(Address),
    /// WebSocket.
    WebSocket(Address),
}

/// Keeps a server that we start and reach by address running between sessions; see
/// [`Target::hold`].
#[must_use = "it lasts only as long as this is kept"]
pub struct Hold {
    pub(super) lease: Option<Lease>,
}

impl Target {
    /// The address, unless it is pipes.
    pub(super) fn address(&self) -> Option<&Address> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(address) | Self::Sse(address) | Self::WebSocket(address) => Some(address),
        }
    }

    /// Starts a server that we start and reach by address, waits until it listens, and keeps it
    /// running for as long as the result is kept. Does nothing for any other.
    pub async fn hold(&self, options: &Options) -> Result<Hold, OpenError> {
        let lease = match self.address() {
            Some(address) => address.hold(options.startup_timeout).await?,
            None => None,
        };
        Ok(Hold { lease })
    }
}

/// What becomes of requests that the server sends us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Questions {
    /// They are answered at once.
    #[default]
    Answered,
    /// They are counted and never answered, as by a client that is about to go.
    Ignored,
}

/// How sessions are opened.
#[derive(Clone)]
pub struct Options {
    /// Which session of the run it is.
    pub index: u32,
    /// Which thread of the generator it lives in.
    pub worker: u16,
    /// Where its events go.
    pub sink: Rc<dyn Sink>,
    /// The clock of the run.
    pub clock: Clock,
    /// How long the start may take.
    pub startup_timeout: Duration,
    /// How long the end may take.
    pub shutdown_timeout: Duration,
    /// What to do when the server answers with another revision.
    pub strictness: ProtocolStrictness,
    /// The longest message that is taken.
    pub message_limit: usize,
    /// Where a server's stderr is kept.
    pub stderr_log: Option<PathBuf>,
    /// Where a server's stdout is kept.
    pub stdout_log: Option<PathBuf>,
    /// What becomes of requests that the server sends us.
    pub questions: Questions,
    /// The shortest deadline that calls will have: it sets how often deadlines are looked at.
    pub shortest_deadline: Duration,
}

impl Options {
    /// Options with the usual limits.
    pub fn new(sink: Rc<dyn Sink>, clock: Clock) -> Self {
        Self {
            index: 0,
            worker: 0,
            sink,
            clock,
            startup_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(5),
            strictness: ProtocolStrictness::default(),
            message_limit: MESSAGE_LIMIT,
            stderr_log: None,
            stdout_log: None,
            questions: Questions::default(),
            shortest_deadline: Duration::from_secs(5),
        }
    }
}
