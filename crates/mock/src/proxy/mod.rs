//! The proxy: between any client and any server, with faults.
//!
//! | file      | what it does                                                            |
//! |-----------|-------------------------------------------------------------------------|
//! | `message` | reads what a client says, as far as faults ask for it                   |
//! | `judge`   | asks the faults about a call                                            |
//! | `record`  | notes every message in the audit log                                    |
//! | `open`    | a row while it is not complete                                          |
//! | `sent`    | notes when events leave                                                 |
//! | `notice`  | the notifications that faults send                                      |
//! | `stdio`   | the pipes of a process that it starts                                   |
//! | `http`    | requests to a server that runs                                          |
//!
//! Without a fault it changes nothing. A call that a fault answers never reaches the server; a fault
//! that only spoils, delays or adds lets the server answer and works on its reply.

mod http;
mod judge;
mod message;
mod notice;
mod open;
mod record;
mod sent;
mod stdio;

pub use crate::mcp::batch::BATCH_LIMIT;
pub use http::BoundProxy;
pub(crate) use http::upstream;
pub use stdio::ProxyEnd;

use std::{
    io::{Read, Write},
    net::SocketAddr,
    sync::Arc,
};

use mcp_loadtest_core::{
    config::TransportName,
    fault::{Fault, Impossible},
    hint::Hint,
    seed::Seed,
};
use mcp_loadtest_wire::{
    process::{Launch, SpawnError},
    session::{Address, OpenError},
};
use thiserror::Error;

use crate::{admin::Controlled, audit::Audit, desk::Desk};

/// Why a proxy cannot do its work.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// A fault that can never happen on this transport.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The server did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The server's address cannot be used.
    #[error(transparent)]
    Upstream(#[from] OpenError),
    /// Whoever reaches the proxy may use the server.
    #[error("the proxy listens on loopback addresses only, not on {0}")]
    NotLoopback(SocketAddr),
    /// The server is the proxy itself.
    #[error("the server at {0} is the proxy itself")]
    Loop(SocketAddr),
    /// Something of the system failed.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl Hint for ProxyError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Impossible(error) => error.hint(),
            Self::Spawn(error) => error.hint(),
            Self::Upstream(error) => error.hint(),
            Self::NotLoopback(_) => Some("listen on `127.0.0.1:0`".into()),
            Self::Loop(_) => Some("listen on another port than the server".into()),
            Self::System(_) => None,
        }
    }
}

/// A proxy before it serves: what it does to calls, and where it writes them down.
///
/// Every setting has a default, so `Proxy::new()` changes nothing and records nothing.
#[derive(Debug, Default)]
pub struct Proxy {
    faults: Vec<Fault>,
    seed: Seed,
    audit: Audit,
    desk: Option<Arc<Desk>>,
}

impl Proxy {
    /// A proxy without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// What goes wrong, one after the other.
    #[must_use]
    pub fn faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.faults.extend(faults);
        self
    }

    /// Where chance comes from, for faults that bring no seed of their own.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Where messages are written down.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = audit;
        self
    }

    /// What an admin interface looks at and changes; to be called when all else is set. From now on
    /// messages are looked at even while there is no fault.
    pub fn controlled(&mut self, transport: TransportName) -> Controlled {
        let desk = Arc::new(Desk::new(std::mem::take(&mut self.faults), self.seed));
        self.desk = Some(desk.clone());
        Controlled { desk, audit: self.audit.clone(), transport }
    }

    /// Starts a server and is that server to whoever holds our standard streams.
    pub async fn serve_stdio(self, launch: &Launch) -> Result<ProxyEnd, ProxyError> {
        self.serve_pipes(launch, std::io::stdin(), std::io::stdout()).await
    }

    /// The same over any pair of streams. Nothing of the server is left when this returns or is
    /// dropped; the thread that reads `input` ends when its input does.
    pub async fn serve_pipes<R, W>(
        self,
        launch: &Launch,
        input: R,
        output: W,
    ) -> Result<ProxyEnd, ProxyError>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let judge = self.judge(TransportName::Stdio)?;
        stdio::serve(judge, launch, input, output).await
    }

    /// Listens for clients of a server that is reached over Streamable HTTP or HTTP+SSE; port 0 is
    /// any free one.
    pub async fn bind(
        self,
        listen: SocketAddr,
        upstream: &Address,
        transport: TransportName,
    ) -> Result<BoundProxy, ProxyError> {
        BoundProxy::new(self.judge(transport)?, listen, upstream).await
    }

    fn judge(self, transport: TransportName) -> Result<judge::Judge, ProxyError> {
        let is_controlled = self.desk.is_some();
        let own = || Arc::new(Desk::new(self.faults, self.seed));
        let desk = self.desk.unwrap_or_else(own);
        for fault in desk.faults().faults() {
            fault.check(transport, None)?;
        }
        let recorder = record::Recorder::new(self.audit, transport);
        Ok(judge::Judge::new(desk, transport, recorder, is_controlled))
    }
}
