//! Streamable HTTP, both eras, over HTTP/1.1 with JSON replies.
//!
//! | file         | what it does                                                      |
//! |--------------|-------------------------------------------------------------------|
//! | `connection` | moves bytes: one request after the other, with limits             |
//! | `head`       | reads the head of a request                                       |
//! | `endpoint`   | decides what a request gets: pure, but for the list of sessions   |
//! | `guard`      | who may ask: `Host` and `Origin`                                  |
//! | `mirror`     | modern: headers must say what the body says                       |
//! | `sessions`   | legacy: who has shaken hands                                      |
//! | `response`   | status lines and bodies                                           |

mod connection;
mod endpoint;
mod guard;
mod head;
mod mirror;
mod response;
mod sessions;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::sleep,
};

use self::{connection::Ended, endpoint::Endpoint};
use crate::mcp::handler::Handler;

/// Where the MCP endpoint is.
const PATH: &str = "/mcp";
/// How long to wait when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A mock that has its address. Connections wait until it serves.
#[derive(Debug)]
pub struct BoundMock {
    listener: TcpListener,
    address: SocketAddr,
    handler: Handler,
}

impl BoundMock {
    pub(crate) async fn new(handler: Handler, address: SocketAddr) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = format!(
                "the mock listens on loopback addresses only, not on {address}; use `127.0.0.1:0`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(address).await?;
        Ok(Self { address: listener.local_addr()?, listener, handler })
    }

    /// The URL of its MCP endpoint.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until the future is dropped, which also ends all connections.
    ///
    /// Only a wedged mock ends by itself: it fails with [`io::ErrorKind::TimedOut`] when it was
    /// forgotten for ten minutes.
    pub async fn serve(self) -> io::Result<()> {
        let endpoint = Arc::new(Endpoint::new(self.handler));
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(connect(stream, endpoint.clone()));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
                Some(ended) = connections.join_next() => {
                    if let Ok(Ended::Forgotten(error)) = ended {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Serves in the background, until the handle is dropped.
    pub fn spawn(self) -> RunningMock {
        RunningMock { url: self.url(), task: tokio::spawn(self.serve()) }
    }
}

async fn connect(stream: TcpStream, endpoint: Arc<Endpoint>) -> Ended {
    // A reply is one write; waiting for more would only add latency. If the option cannot be set,
    // the connection is gone, and reading from it says so.
    let _ = stream.set_nodelay(true);
    connection::serve(stream, &endpoint).await
}

/// A mock that serves in the background and stops when this is dropped.
#[derive(Debug)]
pub struct RunningMock {
    url: String,
    task: JoinHandle<io::Result<()>>,
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
