//! Sockets: written by hand, because the faults are in what no library would send: a length that is
//! not kept, a chunk that does not end, a reset in the middle.
//!
//! | file         | what it does                                              |
//! |--------------|-----------------------------------------------------------|
//! | `incoming`   | reads requests, with limits                               |
//! | `asking`     | what is known of a request, for the journal               |
//! | `route`      | which API a request is for                                |
//! | `exchange`   | decides what a request gets                               |
//! | `play`       | an answer as a fixture says                               |
//! | `refusal`    | errors in each provider's form                            |
//! | `breaks`     | where a body in one piece breaks                          |
//! | `outgoing`   | sends an answer in one piece, and breaks it               |
//! | `stream`     | sends an answer piece by piece, and breaks it             |
//! | `sse`        | writes frames, in the usual form or an odd one            |
//! | `recorder`   | stands in front of a real server and writes down          |
//! | `replay`     | tells again what was recorded                             |

mod asking;
mod breaks;
mod exchange;
mod incoming;
mod outgoing;
mod play;
mod recorder;
mod refusal;
mod replay;
mod route;
mod sse;
mod stream;

pub(super) use recorder::Recorder;

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use mcp_loadtest_core::llm::Entry;

use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet, yield_now},
    time::sleep,
};

use self::incoming::Incoming;
use super::{LlmError, admin, desk::Desk, journal::Journal};
use crate::admin::Routes;

/// How long to wait when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a client has to read what came before a reset.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// Who holds on to the company of the connections while there is one: it and the listener.
const ALONE: usize = 2;

/// How often to look for the next request of a client that is alone: for some tens of microseconds.
const LOOKS: usize = 64;

/// What becomes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// It takes another request.
    Open,
    /// It is closed.
    Closed,
    /// It is reset.
    Reset,
    /// It stays open, and nothing comes any more.
    Silent,
}

/// A mock that has its address. Connections wait until it serves.
#[derive(Debug)]
pub struct BoundLlm {
    listener: TcpListener,
    address: SocketAddr,
    desk: Arc<Desk>,
}

impl BoundLlm {
    pub(super) async fn new(desk: Desk, address: SocketAddr) -> Result<Self, LlmError> {
        if !address.ip().is_loopback() {
            return Err(LlmError::NotLoopback(address));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        if desk.recorder().is_some_and(|recorder| recorder.is_loop(address)) {
            return Err(LlmError::Loop(address));
        }
        Ok(Self { address, listener, desk: Arc::new(desk) })
    }

    /// Where it is, without a path: what SDKs call a base URL, but for `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it answers with, and what it has seen.
    pub fn desk(&self) -> Arc<Desk> {
        self.desk.clone()
    }

    /// What an admin interface looks at and changes.
    pub fn controlled(&self) -> Routes {
        admin::routes(self.desk())
    }

    /// Serves until the future is dropped, which also ends all connections.
    pub async fn serve(self) {
        self.serve_until(std::future::pending()).await;
    }

    /// Serves until something happens. When this returns, every request is in the journal.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let company = Arc::new(());
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return connections.shutdown().await,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(connect(stream, self.desk.clone(), company.clone()));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }

    /// Serves in the background until the result is dropped.
    pub fn spawn(self) -> RunningLlm {
        let (url, desk) = (self.url(), self.desk());
        RunningLlm { url, desk, task: tokio::spawn(self.serve()) }
    }
}

/// A mock that serves in the background; it stops when this is dropped.
#[derive(Debug)]
pub struct RunningLlm {
    url: String,
    desk: Arc<Desk>,
    task: JoinHandle<()>,
}

impl Drop for RunningLlm {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RunningLlm {
    /// Where it is, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What each client asked and got.
    pub fn journal(&self) -> &Journal {
        self.desk.journal()
    }

    /// What it answers with, and what it has seen.
    pub fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// Fails the test unless a fixture answered at least one request whose model or path holds this
    /// text.
    ///
    /// # Panics
    ///
    /// When no such request was answered.
    #[track_caller]
    pub fn assert_matched(&self, text: &str) -> Entry {
        let entries = self.journal().entries();
        let found = entries.iter().find(|entry| {
            entry.fixture.is_some() && (entry.model.contains(text) || entry.path.contains(text))
        });
        match found {
            Some(entry) => entry.clone(),
            None => panic!("no fixture answered a request for `{text}`; there were {entries:#?}"),
        }
    }
}

async fn connect(stream: TcpStream, desk: Arc<Desk>, company: Arc<()>) {
    // Without it the small writes of a stream wait for the client's acknowledgements.
    let _ = stream.set_nodelay(true);
    let mut connection = Connection { stream, incoming: Incoming::default(), desk };
    loop {
        match connection.turn().await {
            Ok(After::Open) => attend(&connection.stream, &company).await,
            Ok(After::Reset) => {
                // What was sent must arrive first: a reset throws away what waits to be read.
                sleep(BEFORE_RESET).await;
                // Without it the system would say goodbye in the usual way.
                let _ = connection.stream.set_zero_linger();
                return;
            }
            // Whatever went wrong with the socket, nobody is left to be told.
            Ok(After::Closed | After::Silent) | Err(_) => return,
        }
    }
}

/// Stays awake for a moment, so that the only client, if it asks again at once, need not wait until the
/// machine has woken up.
async fn attend(stream: &TcpStream, company: &Arc<()>) {
    if Arc::strong_count(company) > ALONE {
        return;
    }
    let mut readable = pin!(stream.readable());
    for _ in 0..LOOKS {
        tokio::select! { biased;
            _ = &mut readable => return,
            () = yield_now() => {}
        }
    }
}

struct Connection {
    stream: TcpStream,
    incoming: Incoming,
    desk: Arc<Desk>,
}
