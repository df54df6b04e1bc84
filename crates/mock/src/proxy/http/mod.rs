//! The proxy over HTTP: it listens, and sends every request on to one server.
//!
//! | file       | what it does                                                       |
//! |------------|--------------------------------------------------------------------|
//! | `exchange` | one request: what it says, and who answers it                      |
//! | `call`     | one call: passed on, treated, or answered                          |
//! | `batch`    | the response to a batch                                            |
//! | `array`    | the replies to a batch in one body                                 |
//! | `sort`     | the messages of a batch, by who answers them                       |
//! | `refuse`   | requests that never get as far as the server                       |
//! | `replies`  | sends treated replies, as JSON or as events                        |
//! | `pump`     | passes a stream of events on, and treats the replies in it         |
//! | `sources`  | where such a stream gets what it sends                             |
//! | `channel`  | HTTP+SSE: replies that come on another connection than their calls |
//! | `memory`   | what is remembered between requests                                |
//! | `upstream` | the server                                                         |
//! | `head`     | headers of one connection only, loops, and who may ask             |
//! | `events`   | server-sent events                                                 |
//! | `body`     | bodies                                                             |
//! | `io`       | sockets, and how one is reset                                      |
//!
//! Every path is sent on as it is, so relative addresses, such as those in the `endpoint` event of
//! HTTP+SSE, lead through the proxy by themselves; an absolute one of the server is made relative.

mod array;
mod batch;
mod body;
mod call;
mod channel;
mod events;
mod exchange;
mod head;
mod io;
mod memory;
mod pump;
mod refuse;
mod replies;
mod sort;
mod sources;
pub(crate) mod upstream;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use mcp_loadtest_wire::session::{Address, Origin};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::sleep,
};

use self::{
    exchange::Exchange,
    io::{Client, Io, ResetFlag},
};
use super::{ProxyError, judge::Judge};

/// How long to wait when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A proxy that has its address. Connections wait until it serves.
pub struct BoundProxy {
    listener: TcpListener,
    url: String,
    exchange: Arc<Exchange>,
    crashed: mpsc::Receiver<i32>,
}

impl BoundProxy {
    pub(super) async fn new(
        judge: Judge,
        listen: SocketAddr,
        upstream: &Address,
    ) -> Result<Self, ProxyError> {
        if !listen.ip().is_loopback() {
            return Err(ProxyError::NotLoopback(listen));
        }
        let origin = Origin::find(upstream).await?;
        let listener = TcpListener::bind(listen).await?;
        let ours = listener.local_addr()?;
        if origin.addresses().contains(&ours) {
            return Err(ProxyError::Loop(ours));
        }
        let url = format!("http://{ours}{}", origin.path());
        let (crash, crashed) = mpsc::channel(1);
        let exchange = Arc::new(Exchange::new(judge, origin, crash));
        Ok(Self { listener, url, exchange, crashed })
    }

    /// The URL that stands for that of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until the future is dropped, which also ends all connections, or until a fault ends
    /// the process; then this is its exit code.
    pub async fn serve(mut self) -> i32 {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, from)) => {
                        connections.spawn(connect(stream, from, self.exchange.clone()));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
                Some(_) = connections.join_next() => {}
                Some(code) = self.crashed.recv() => return code,
            }
        }
    }
}

async fn connect(stream: TcpStream, from: SocketAddr, exchange: Arc<Exchange>) {
    // Events are small; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let reset = ResetFlag::default();
    let client = Client { stream, reset: reset.clone() };
    let service = service_fn(|request| exchange.clone().answer(request, from, reset.clone()));
    let mut builder = http1::Builder::new();
    builder.preserve_header_case(true).auto_date_header(false);
    // However the connection ended, nobody is left to be told.
    let _ = builder.serve_connection(Io(client), service).await;
}
