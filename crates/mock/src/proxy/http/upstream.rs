//! The server behind the proxy: connections to it, and requests over them.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use http::{Request, Response, request::Parts};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1::{self, SendRequest},
};
use mcp_loadtest_wire::session::Origin;

pub(crate) use super::body::next as next_piece;
use super::{body::Outgoing, io::Io};

/// How many idle connections are kept.
const KEPT: usize = 32;

/// The server, and connections that may be used again.
pub(crate) struct Upstream {
    pub(crate) origin: Origin,
    idle: Mutex<Vec<SendRequest<Outgoing>>>,
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("host", &self.origin.authority()).finish_non_exhaustive()
    }
}

impl Upstream {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, idle: Mutex::default() }
    }

    /// Sends a request. Dropped before the reply has come, it closes the connection.
    pub(crate) async fn send(&self, head: &Parts, body: Bytes) -> io::Result<Response<Incoming>> {
        // A server may close an idle connection at any moment; then the request was not sent.
        while let Some(kept) = self.take() {
            match attempt(kept, head, body.clone()).await {
                Ok((response, connection)) => return Ok(self.keep(response, connection)),
                Err(error) if error.is_canceled() => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        let stream = self.origin.connect().await?;
        let mut builder = http1::Builder::new();
        builder.preserve_header_case(true);
        let (sender, connection) = builder.handshake(Io(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        let (response, connection) = attempt(sender, head, body).await.map_err(io::Error::other)?;
        Ok(self.keep(response, connection))
    }

    fn take(&self) -> Option<SendRequest<Outgoing>> {
        let mut idle = self.idle();
        idle.retain(|connection| !connection.is_closed());
        let at = idle.iter().position(SendRequest::is_ready)?;
        Some(idle.swap_remove(at))
    }

    /// It is ready again when the reply has been read.
    fn keep(
        &self,
        response: Response<Incoming>,
        connection: SendRequest<Outgoing>,
    ) -> Response<Incoming> {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(connection);
        }
        response
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SendRequest<Outgoing>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Answered = (Response<Incoming>, SendRequest<Outgoing>);

async fn attempt(
    mut connection: SendRequest<Outgoing>,
    head: &Parts,
    body: Bytes,
) -> hyper::Result<Answered> {
    let request = Request::from_parts(head.clone(), Outgoing::whole(body));
    let response = connection.send_request(request).await?;
    Ok((response, connection))
}
