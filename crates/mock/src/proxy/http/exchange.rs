//! One request: passed on, treated, or answered.

use std::{net::SocketAddr, sync::Arc};

use http::{
    Method, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    request::Parts,
};
use hyper::body::{Bytes, Incoming};
use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, header},
};
use mcp_loadtest_wire::session::Origin;
use tokio::sync::mpsc;

use super::{
    body::{self, NotWhole, Outgoing, Torn},
    channel::Channels,
    head,
    io::ResetFlag,
    memory::Memory,
    pump,
    replies::{Turn, plain, status},
    upstream::Upstream,
};
use crate::{
    audit::Kind,
    mcp::batch::Batch,
    proxy::{judge::Judge, message::Said, notice::Flood, open::Open, record::Envelope},
};

/// What all connections share.
pub(super) struct Exchange {
    pub(super) judge: Judge,
    pub(super) upstream: Upstream,
    /// What a request that came through here is known by.
    mark: String,
    pub(super) crash: mpsc::Sender<i32>,
    pub(super) memory: Memory,
    pub(super) turn: Turn,
    pub(super) channels: Channels,
}

/// A POST or DELETE without its head.
pub(super) struct Letter {
    pub(super) body: Vec<u8>,
    pub(super) session: Option<String>,
    pub(super) envelope: Option<Envelope>,
}

pub(super) type Reply = Result<Response<Outgoing>, Torn>;

impl Exchange {
    pub(super) fn new(judge: Judge, origin: Origin, crash: mpsc::Sender<i32>) -> Self {
        Self {
            judge,
            upstream: Upstream::new(origin),
            mark: format!("mcp-loadtest-{}", ulid::Ulid::generate()),
            crash,
            memory: Memory::default(),
            turn: Turn::default(),
            channels: Channels::default(),
        }
    }

    /// Answers one request; an error ends the connection.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        from: SocketAddr,
        reset: ResetFlag,
    ) -> Reply {
        let (mut head, body) = request.into_parts();
        let envelope = self.judge.recorder.envelope(&head, from);
        if !head::is_local(&head.headers) {
            let words = "`Host` does not name this machine";
            return Ok(self.refuse(StatusCode::FORBIDDEN, words, envelope).await);
        }
        if head::has_passed(&head.headers, &self.mark) {
            let words = "the proxy's server is the proxy itself";
            return Ok(self.refuse(StatusCode::LOOP_DETECTED, words, envelope).await);
        }
        head::readdress(&mut head.headers, self.upstream.origin.authority(), &self.mark);
        let body = match body::whole(body).await {
            Ok(body) => body,
            Err(NotWhole::TooLarge) => {
                let words = "the body is too long";
                return Ok(self.refuse(StatusCode::PAYLOAD_TOO_LARGE, words, envelope).await);
            }
            Err(NotWhole::Broken) => return Err(Torn),
        };
        let session = self.session(&head);
        if self.memory.is_lost(session.as_deref()) {
            let letter = Letter { body, session, envelope };
            return Ok(self.refuse_lost(&head.method, letter).await);
        }
        if head.method == Method::GET {
            let open = self.judge.recorder.open_bare(Kind::Stream, session.as_deref());
            let open = addressed(open, envelope);
            return Ok(self.stream(head, session, open).await);
        }
        let letter = Letter { body, session, envelope };
        self.message(head, letter, reset).await
    }

    /// What a POST or DELETE says.
    async fn message(self: Arc<Self>, head: Parts, letter: Letter, reset: ResetFlag) -> Reply {
        let Letter { body, session, envelope } = letter;
        if self.judge.is_blind() {
            return Ok(self.pass(&head, body.into()).await);
        }
        if head.method == Method::POST
            && let Some(members) = Batch::members(&body)
        {
            let sorted = self.sort(&members, session.as_deref(), envelope.as_ref()).await;
            return self.batch(sorted, head, body, reset).await;
        }
        let said = Said::read(&body);
        let open = match head.method {
            Method::DELETE => self.judge.recorder.open_bare(Kind::SessionEnd, session.as_deref()),
            _ => self.judge.recorder.open(&said, body.len(), session.as_deref()),
        };
        let open = addressed(open, envelope);
        match said {
            Said::Request(call) => {
                let errand = self.treat(call, session, open);
                let body = self.judge.first_page(&errand.call, &body).unwrap_or(body);
                self.call(errand, head, body.into(), reset).await
            }
            Said::Cancelled(id) if !self.memory.withdraw(session.as_deref(), &id) => {
                Ok(self.answered(open, status(StatusCode::ACCEPTED, None)).await)
            }
            _ => {
                let response = self.pass(&head, body.into()).await;
                Ok(self.answered(open, response).await)
            }
        }
    }

    /// A request whose response says it all.
    pub(super) async fn answered(
        &self,
        mut open: Option<Open>,
        response: Response<Outgoing>,
    ) -> Response<Outgoing> {
        if let Some(open) = &mut open {
            open.status(response.status());
        }
        self.judge.recorder.close(open).await;
        response
    }

    /// Passes a request and its reply on.
    pub(super) async fn pass(&self, head: &Parts, body: Bytes) -> Response<Outgoing> {
        match self.upstream.send(head, body).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                head::strip(&mut head.headers);
                Response::from_parts(head, Outgoing::Through(body))
            }
            Err(error) => unreachable(&error),
        }
    }

    /// A stream that a client opens to listen. Its row is complete when it ends.
    async fn stream(
        self: Arc<Self>,
        head: Parts,
        session: Option<String>,
        mut open: Option<Open>,
    ) -> Response<Outgoing> {
        let flood = self.judge.flood(session.as_deref(), Era::Legacy);
        let response = match self.upstream.send(&head, Bytes::new()).await {
            Ok(response) => response,
            Err(error) => return self.answered(open, unreachable(&error)).await,
        };
        let (mut head, body) = response.into_parts();
        head::strip(&mut head.headers);
        if !is_stream(&head) {
            let response = Response::from_parts(head, Outgoing::Through(body));
            return self.answered(open, response).await;
        }
        if flood.is_none() && open.is_none() && !self.is_sse() {
            return Response::from_parts(head, Outgoing::Through(body));
        }
        if let Some(open) = &mut open {
            open.status(head.status);
        }
        let (pieces, outgoing) = Outgoing::pieces();
        tokio::spawn(pump::listen(self, body, pieces, open, flood.map(Flood::new)));
        Response::from_parts(unmeasured(head), outgoing)
    }

    /// The session of a request. Over HTTP+SSE that is the address that the server gave out for it.
    fn session(&self, head: &Parts) -> Option<String> {
        if self.is_sse() {
            return head.uri.path_and_query().map(|path| path.as_str().to_owned());
        }
        let value = head.headers.get(header::SESSION_ID)?;
        value.to_str().ok().map(str::to_owned)
    }

    /// An absolute address of the server without its origin; nothing for any other.
    pub(super) fn relative<'a>(&self, address: &'a str) -> Option<&'a str> {
        let rest = address.split_once("://")?.1;
        let (authority, _) = rest.split_once('/')?;
        let same = authority.eq_ignore_ascii_case(self.upstream.origin.authority());
        same.then(|| &rest[authority.len()..])
    }

    pub(super) fn is_sse(&self) -> bool {
        self.judge.transport == TransportName::Sse
    }

    pub(super) async fn note(&self, mut open: Option<Open>, why: &'static str) {
        if let Some(open) = &mut open {
            open.unanswered(why);
        }
        self.judge.recorder.close(open).await;
    }
}

pub(super) fn addressed(mut open: Option<Open>, envelope: Option<Envelope>) -> Option<Open> {
    if let (Some(open), Some(envelope)) = (&mut open, envelope) {
        open.came_in(envelope);
    }
    open
}

pub(super) fn is_stream(head: &http::response::Parts) -> bool {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

/// The head of a stream that passes through our hands. What is sent is not what came, so it has no
/// length that could be told.
pub(super) fn unmeasured(mut head: http::response::Parts) -> http::response::Parts {
    head.headers.remove(CONTENT_LENGTH);
    head
}

pub(super) fn unreachable(error: &std::io::Error) -> Response<Outgoing> {
    plain(StatusCode::BAD_GATEWAY, &format!("the server cannot be reached: {error}"))
}
