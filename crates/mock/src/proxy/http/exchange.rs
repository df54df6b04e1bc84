//! One request: passed on, treated, or answered.

use std::{net::SocketAddr, sync::Arc};

use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
use hyper::body::{Bytes, Incoming};
use mcp_loadtest_core::{
    config::TransportName,
    fault::{Cut, HANG_LIMIT, Instead, Treatment},
    mcp::{Era, header},
};
use mcp_loadtest_wire::session::Origin;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    body::{self, NotWhole, Outgoing, Torn},
    channel::Channels,
    head,
    io::ResetFlag,
    memory::{Held, Memory},
    pump,
    replies::{Job, Turn, no_events, plain, status},
    upstream::Upstream,
};
use crate::{
    audit::Kind,
    proxy::{
        judge::{Gate, Judge},
        message::{Call, SUBSCRIBE, Said, answered},
        notice::Flood,
        record::{Envelope, Open},
    },
};

/// What all connections share.
pub(super) struct Exchange {
    pub(super) judge: Judge,
    pub(super) upstream: Upstream,
    /// What a request that came through here is known by.
    mark: String,
    crash: mpsc::Sender<i32>,
    memory: Memory,
    pub(super) turn: Turn,
    pub(super) channels: Channels,
}

/// A call on its way.
struct Errand {
    call: Call,
    session: Option<String>,
    treatment: Treatment,
    due: Instant,
    held: Held,
    open: Option<Open>,
}

/// A POST or DELETE without its head.
struct Letter {
    body: Vec<u8>,
    session: Option<String>,
    envelope: Option<Envelope>,
}

type Reply = Result<Response<Outgoing>, Torn>;

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
            return Ok(plain(StatusCode::FORBIDDEN, "`Host` does not name this machine"));
        }
        if head::has_passed(&head.headers, &self.mark) {
            return Ok(plain(StatusCode::LOOP_DETECTED, "the proxy's server is the proxy itself"));
        }
        head::readdress(&mut head.headers, self.upstream.origin.authority(), &self.mark);
        let body = match body::whole(body).await {
            Ok(body) => body,
            Err(NotWhole::TooLarge) => {
                return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"));
            }
            Err(NotWhole::Broken) => return Err(Torn),
        };
        let session = self.session(&head);
        if self.memory.is_lost(session.as_deref()) {
            return Ok(status(
                StatusCode::NOT_FOUND,
                Instead::SessionLost.frame(b"null", Era::Legacy),
            ));
        }
        if head.method == Method::GET {
            let open = self.judge.recorder.open_bare(Kind::Stream, session.as_deref());
            let open = addressed(open, envelope);
            let response = self.clone().stream(head, session).await;
            return Ok(self.answered(open, response).await);
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
        let said = Said::read(&body);
        let open = match head.method {
            Method::DELETE => self.judge.recorder.open_bare(Kind::SessionEnd, session.as_deref()),
            _ => self.judge.recorder.open(&said, body.len(), session.as_deref()),
        };
        let open = addressed(open, envelope);
        match said {
            Said::Request(call) => {
                let treatment = self.judge.treat(&call, session.as_deref());
                let due = Instant::now() + treatment.delay;
                let held = self.memory.hold(session.as_deref(), &call.id, treatment.ignores_cancel);
                let mut errand = Errand { call, session, treatment, due, held, open };
                if let Some(open) = &mut errand.open {
                    open.decided(&errand.treatment.decisions);
                }
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

    async fn call(
        self: Arc<Self>,
        mut errand: Errand,
        head: Parts,
        body: Bytes,
        reset: ResetFlag,
    ) -> Reply {
        let Some(instead) = errand.treatment.instead.take() else {
            return Ok(self.ask(errand, head, body).await);
        };
        let wait = self.before(&instead, errand.due);
        match errand.held.unless_withdrawn(wait).await {
            None => return Ok(self.withdrawn(errand.open).await),
            Some(Gate::Pass) => return Ok(self.ask(errand, head, body).await),
            Some(Gate::Hung) => {}
        }
        match &instead {
            Instead::Cut(how) => {
                if *how == Cut::Reset {
                    reset.raise();
                }
                self.note(errand.open, "the connection was cut").await;
                return Err(Torn);
            }
            Instead::Crash(code) => {
                self.note(errand.open, "the process was ended").await;
                let _ = self.crash.send(*code).await;
                return Err(Torn);
            }
            Instead::Http { .. } => {
                return Ok(self.answered(errand.open, super::replies::http(&instead)).await);
            }
            Instead::SessionLost => {
                self.memory.lose(errand.session.as_deref());
                let frame = instead.frame(&errand.call.id, errand.call.era);
                return Ok(self.answered(errand.open, status(StatusCode::NOT_FOUND, frame)).await);
            }
            Instead::Hang
            | Instead::LazyInit
            | Instead::Error { .. }
            | Instead::ToolError { .. } => {}
        }
        let frame = instead.frame(&errand.call.id, errand.call.era).unwrap_or_default();
        Ok(self.made_up(errand, frame).await)
    }

    /// Waits for as long as what takes the reply's place wants; whether the server answers after all.
    async fn before(&self, instead: &Instead, due: Instant) -> Gate {
        sleep_until(due).await;
        match instead {
            Instead::Hang => sleep(HANG_LIMIT).await,
            Instead::LazyInit => return self.judge.gate().await,
            _ => {}
        }
        Gate::Hung
    }

    /// The reply to a call that its client has withdrawn: nothing.
    pub(super) async fn withdrawn(&self, mut open: Option<Open>) -> Response<Outgoing> {
        if let Some(open) = &mut open {
            open.cancelled();
        }
        self.answered(open, no_events()).await
    }

    /// Sends a reply that no server made.
    async fn made_up(self: Arc<Self>, errand: Errand, frame: Vec<u8>) -> Response<Outgoing> {
        let (job, channel) = errand.into_job();
        if let Some(channel) = channel.filter(|_| self.is_sse()) {
            self.channels.deliver(&channel, job, frame, &self.judge.recorder).await;
            return status(StatusCode::ACCEPTED, None);
        }
        let response = status(StatusCode::OK, None);
        job.json(response.into_parts().0, frame, self).await
    }

    /// Asks the server, and treats its reply.
    async fn ask(self: Arc<Self>, errand: Errand, head: Parts, body: Bytes) -> Response<Outgoing> {
        let flood = (errand.call.method == SUBSCRIBE)
            .then(|| self.judge.flood(errand.session.as_deref(), Era::Modern))
            .flatten();
        errand.held.forward();
        let (mut job, channel) = errand.into_job();
        if let Some(channel) = channel.filter(|_| self.is_sse()) {
            self.channels.expect(&channel, job);
            return self.pass(&head, body).await;
        }
        if job.is_nothing() && flood.is_none() {
            let response = self.pass(&head, body).await;
            self.turn.pass();
            return response;
        }
        let response = match self.upstream.send(&head, body).await {
            Ok(response) => response,
            Err(error) => return self.answered(job.open, unreachable(&error)).await,
        };
        let (mut head, body) = response.into_parts();
        head::strip(&mut head.headers);
        if let Some(open) = &mut job.open {
            open.status(head.status);
        }
        if is_stream(&head) {
            let (pieces, outgoing) = Outgoing::pieces();
            tokio::spawn(pump::one(self, body, pieces, job, flood.map(Flood::new)));
            return Response::from_parts(head, outgoing);
        }
        match body::whole(body).await {
            Ok(bytes) if answered(&bytes).is_some_and(|id| id == job.id) => {
                job.json(head, bytes, self).await
            }
            Ok(bytes) => {
                self.judge.recorder.close(job.open).await;
                Response::from_parts(head, Outgoing::whole(bytes))
            }
            Err(_) => {
                let broken = plain(StatusCode::BAD_GATEWAY, "the server's reply broke off");
                self.answered(job.open, broken).await
            }
        }
    }

    /// A request whose response says it all.
    async fn answered(
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
    async fn pass(&self, head: &Parts, body: Bytes) -> Response<Outgoing> {
        match self.upstream.send(head, body).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                head::strip(&mut head.headers);
                Response::from_parts(head, Outgoing::Through(body))
            }
            Err(error) => unreachable(&error),
        }
    }

    /// A stream that a client opens to listen.
    async fn stream(self: Arc<Self>, head: Parts, session: Option<String>) -> Response<Outgoing> {
        let flood = self.judge.flood(session.as_deref(), Era::Legacy);
        let response = match self.upstream.send(&head, Bytes::new()).await {
            Ok(response) => response,
            Err(error) => return unreachable(&error),
        };
        let (mut head, body) = response.into_parts();
        head::strip(&mut head.headers);
        if !is_stream(&head) || (flood.is_none() && !self.is_sse()) {
            return Response::from_parts(head, Outgoing::Through(body));
        }
        let (pieces, outgoing) = Outgoing::pieces();
        tokio::spawn(pump::listen(self, body, pieces, flood.map(Flood::new)));
        Response::from_parts(head, outgoing)
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

    fn is_sse(&self) -> bool {
        self.judge.transport == TransportName::Sse
    }

    async fn note(&self, mut open: Option<Open>, why: &'static str) {
        if let Some(open) = &mut open {
            open.unanswered(why);
        }
        self.judge.recorder.close(open).await;
    }
}

impl Errand {
    /// What is left to do when the reply comes, and the channel that it may come on.
    fn into_job(self) -> (Job, Option<String>) {
        let Self { call, session, treatment, due, held, open } = self;
        (Job { id: call.id, treatment, due, held, open }, session)
    }
}

fn addressed(mut open: Option<Open>, envelope: Option<Envelope>) -> Option<Open> {
    if let (Some(open), Some(envelope)) = (&mut open, envelope) {
        open.came_in(envelope);
    }
    open
}

fn is_stream(head: &http::response::Parts) -> bool {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

fn unreachable(error: &std::io::Error) -> Response<Outgoing> {
    plain(StatusCode::BAD_GATEWAY, &format!("the server cannot be reached: {error}"))
}
