//! How a client reaches the mock, whichever transport it is.

use std::net::SocketAddr;

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::{Mock, Served};
use serde_json::Value;
use tokio::{sync::oneshot, task::JoinHandle};

use super::{Got, http, sse, stdio, ws};

/// How the client reaches the mock.
pub(super) enum Line {
    Stdio(stdio::Pipes),
    Http(http::Client),
    Sse(sse::Client),
    Ws(ws::Client),
}

/// The mock, which is told when to end; over pipes it ends with its input, too.
pub(super) struct Serving {
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) task: JoinHandle<Served>,
}

impl Line {
    /// Starts the mock.
    pub(super) async fn to(mock: Mock, transport: TransportName, era: Era) -> (Self, Serving) {
        if transport == TransportName::Stdio {
            let (pipes, stop, task) = stdio::start(mock);
            return (Self::Stdio(pipes), Serving { stop: Some(stop), task });
        }
        let (address, serving) = listen(mock, transport).await;
        (Self::open(transport, era, address).await, serving)
    }

    pub(super) async fn open(transport: TransportName, era: Era, address: SocketAddr) -> Self {
        match transport {
            TransportName::Sse => Self::Sse(sse::Client::open(address).await),
            TransportName::Ws => Self::Ws(ws::Client::open(address).await),
            _ => Self::Http(http::Client::new(address, era)),
        }
    }

    /// Sends a request.
    pub(super) async fn ask(&mut self, id: u64, message: &Value) {
        match self {
            Self::Stdio(pipes) => pipes.send(message),
            Self::Http(client) => client.post(id, message).await,
            Self::Sse(client) => client.send(id, message).await,
            Self::Ws(client) => client.send(message).await,
        }
    }

    /// Sends what wants no reply.
    pub(super) async fn tell(&mut self, id: u64, message: &Value) {
        match self {
            Self::Http(client) => client.tell(id, message).await,
            other => other.ask(id, message).await,
        }
    }

    pub(super) async fn next(&mut self, id: u64) -> Got {
        match self {
            Self::Stdio(pipes) => pipes.next().await,
            Self::Http(client) => client.next(id).await,
            Self::Sse(client) => client.next(id).await,
            Self::Ws(client) => client.next().await,
        }
    }
}

async fn listen(mock: Mock, transport: TransportName) -> (SocketAddr, Serving) {
    let bound = mock.bind_as(transport, "127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().parse().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stopped = async move {
        // Whoever forgets to stop it wants it to go on.
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let task = tokio::spawn(async { bound.serve_until(stopped).await.unwrap() });
    (address, Serving { stop: Some(stop), task })
}
