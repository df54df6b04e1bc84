//! Streamable HTTP, both eras, over HTTP/1.1; on the same sockets the older HTTP+SSE and WebSocket.
//!
//! | file         | what it does                                                      |
//! |--------------|-------------------------------------------------------------------|
//! | `connection` | moves bytes: one request after the other, with limits             |
//! | `head`       | reads the head of a request                                       |
//! | `guard`      | who may ask: `Host` and `Origin`                                  |
//! | `endpoint`   | decides what a request gets: pure, but for the list of sessions   |
//! | `mirror`     | modern: headers must say what the body says                       |
//! | `sessions`   | legacy: who has shaken hands                                      |
//! | `response`   | replies in one piece                                              |
//! | `reply`      | replies that take their time: JSON, events, and broken ones       |
//! | `ending`     | what a request comes to, and what that means for its session      |
//! | `batch`      | replies to a batch                                                |
//! | `listen`     | legacy: the GET stream                                            |
//! | `sse`, `ws`  | the two other transports                                          |

mod batch;
mod connection;
mod ending;
mod endpoint;
pub(crate) mod guard;
mod head;
mod listen;
mod mirror;
mod reply;
mod response;
mod sessions;
mod sse;
mod ws;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use mcp_loadtest_core::config::TransportName;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;

use self::{
    response::{Response, status},
    sessions::Sessions,
};
use super::Served;
use crate::{
    admin::Controlled,
    server::{Server, session::Session},
};

/// Where the MCP endpoint is.
const PATH: &str = "/mcp";
/// How long to wait when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a client may take to read a reply.
const WRITE_DEADLINE: Duration = Duration::from_secs(60);
/// How many messages may wait for a client that does not read.
const OUTBOX: usize = 64;
/// How long calls have to notice that the mock ends.
const FAREWELL: Duration = Duration::from_millis(700);

/// What all connections share.
#[derive(Debug)]
struct Hub {
    server: Arc<Server>,
    transport: TransportName,
    always_stream: bool,
    sessions: Sessions<Session>,
    clients: Sessions<sse::Client>,
    /// Calls that go on although their connection may be gone.
    tasks: TaskTracker,
}

/// How the mock listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listening {
    pub(crate) transport: TransportName,
    pub(crate) always_stream: bool,
}

/// A mock that has its address. Connections wait until it serves.
#[derive(Debug)]
pub struct BoundMock {
    listener: TcpListener,
    address: SocketAddr,
    server: Arc<Server>,
    how: Listening,
}

impl BoundMock {
    pub(crate) async fn new(
        server: Arc<Server>,
        address: SocketAddr,
        how: Listening,
    ) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = format!(
                "the mock listens on loopback addresses only, not on {address}; use `127.0.0.1:0`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(address).await?;
        Ok(Self { address: listener.local_addr()?, listener, server, how })
    }

    /// The URL of its MCP endpoint.
    pub fn url(&self) -> String {
        let (scheme, path) = match self.how.transport {
            TransportName::Sse => ("http", sse::PATH),
            TransportName::Ws => ("ws", ws::PATH),
            TransportName::Http | TransportName::Stdio => ("http", PATH),
        };
        format!("{scheme}://{}{path}", self.address)
    }

    /// What an admin interface looks at and changes.
    pub fn controlled(&self) -> Controlled {
        self.server.controlled(self.how.transport)
    }

    /// Serves until the future is dropped, which also ends all connections. Only a fault ends it by
    /// itself.
    pub async fn serve(self) -> io::Result<Served> {
        self.serve_until(std::future::pending()).await
    }

    /// The same until `stop` is done: then calls that still run are cancelled and written down.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) -> io::Result<Served> {
        let hub = Arc::new(Hub {
            server: self.server.clone(),
            transport: self.how.transport,
            always_stream: self.how.always_stream,
            sessions: Sessions::default(),
            clients: Sessions::default(),
            tasks: TaskTracker::new(),
        });
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        let served = loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, from)) => {
                        connections.spawn(connect(stream, from, hub.clone()));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
                Some(_) = connections.join_next() => {}
                code = self.server.crashed() => break Served::Crashed(code),
                () = &mut stop => break Served::Gone,
            }
        };
        // Whatever ended it: what still runs is cancelled and has a moment to be written down.
        self.server.end().cancel();
        hub.tasks.close();
        // A log that cannot keep up must not hold up the end.
        let _ = timeout(FAREWELL, hub.tasks.wait()).await;
        Ok(served)
    }

    /// Serves in the background, until the handle is dropped.
    pub fn spawn(self) -> RunningMock {
        RunningMock { url: self.url(), task: tokio::spawn(self.serve()) }
    }
}

async fn connect(stream: TcpStream, from: SocketAddr, hub: Arc<Hub>) {
    // A reply is one write; waiting for more would only add latency. If the option cannot be set,
    // the connection is gone, and reading from it says so.
    let _ = stream.set_nodelay(true);
    connection::serve(stream, from, &hub).await;
}

/// Says where the endpoint is.
fn elsewhere(transport: TransportName) -> Response {
    let why = match transport {
        TransportName::Sse => format!("the stream is `{}`", sse::PATH),
        TransportName::Ws => format!("the socket is `{}`", ws::PATH),
        TransportName::Http | TransportName::Stdio => format!("the endpoint is `{PATH}`"),
    };
    Response::refuse(status::NOT_FOUND, why)
}

/// A mock that serves in the background and stops when this is dropped.
#[derive(Debug)]
pub struct RunningMock {
    url: String,
    task: JoinHandle<io::Result<Served>>,
}

impl RunningMock {
    /// The URL of its MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for RunningMock {
    fn drop(&mut self) {
        self.task.abort();
    }
}
