//! One call: passed on and its reply treated, or answered here.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts, response};
use hyper::body::Bytes;
use mcp_loadtest_core::{
    fault::{Cut, HANG_LIMIT, Instead, Treatment},
    mcp::Era,
};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    body::{self, Outgoing, Torn},
    exchange::{Exchange, Reply, is_stream, unmeasured, unreachable},
    head,
    io::ResetFlag,
    memory::Held,
    pump,
    replies::{self, Job, no_events, plain, status},
};
use crate::proxy::{
    judge::Gate,
    message::{Call, SUBSCRIBE, answered, is_unread},
    notice::Flood,
    open::Open,
};

/// A call on its way.
pub(super) struct Errand {
    pub(super) call: Call,
    pub(super) session: Option<String>,
    pub(super) treatment: Treatment,
    pub(super) due: Instant,
    pub(super) held: Held,
    pub(super) open: Option<Open>,
}

impl Exchange {
    /// Asks the faults about a call.
    pub(super) fn treat(
        &self,
        call: Call,
        session: Option<String>,
        mut open: Option<Open>,
    ) -> Errand {
        let treatment = self.judge.treat(&call, session.as_deref());
        let due = Instant::now() + treatment.delay;
        let held = self.memory.hold(session.as_deref(), &call.id, treatment.ignores_cancel);
        if let Some(open) = &mut open {
            open.decided(&treatment.decisions);
        }
        Errand { call, session, treatment, due, held, open }
    }

    pub(super) async fn call(
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
        if let Some(note) = ends(&instead) {
            self.note(errand.open, note).await;
            return self.end(&instead, &reset).await;
        }
        if let Some(response) = self.refusal(&instead, errand.session.as_deref(), &errand.call) {
            return Ok(self.answered(errand.open, response).await);
        }
        let frame = instead.frame(&errand.call.id, errand.call.era).unwrap_or_default();
        Ok(self.made_up(errand, frame).await)
    }

    /// Ends the connection or the process, as a fault wants it.
    pub(super) async fn end(&self, instead: &Instead, reset: &ResetFlag) -> Reply {
        match instead {
            Instead::Cut(Cut::Reset) => reset.raise(),
            Instead::Crash(code) => {
                let _ = self.crash.send(*code).await;
            }
            _ => {}
        }
        Err(Torn)
    }

    /// The status that a fault answers with, where it does.
    pub(super) fn refusal(
        &self,
        instead: &Instead,
        session: Option<&str>,
        call: &Call,
    ) -> Option<Response<Outgoing>> {
        match instead {
            Instead::Http { .. } => Some(replies::http(instead)),
            Instead::SessionLost => {
                self.memory.lose(session);
                Some(status(StatusCode::NOT_FOUND, instead.frame(&call.id, call.era)))
            }
            _ => None,
        }
    }

    /// Waits for as long as what takes the reply's place wants; whether the server answers after all.
    pub(super) async fn before(&self, instead: &Instead, due: Instant) -> Gate {
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
            return Response::from_parts(unmeasured(head), outgoing);
        }
        match body::whole(body).await {
            Ok(bytes) if answered(&bytes).is_some_and(|id| id == job.id) => {
                job.json(head, bytes, self).await
            }
            Ok(bytes) => self.no_reply(job, head, bytes).await,
            Err(_) => {
                let broken = plain(StatusCode::BAD_GATEWAY, "the server's reply broke off");
                self.answered(job.open, broken).await
            }
        }
    }
}

impl Exchange {
    /// Passes on what a server says to a call that is no reply to it.
    async fn no_reply(
        &self,
        mut job: Job,
        head: response::Parts,
        bytes: Vec<u8>,
    ) -> Response<Outgoing> {
        if let Some(open) = &mut job.open {
            if job.held.is_withdrawn() {
                open.cancelled();
            } else if head.status.is_success() {
                // Any other status says it all.
                open.unanswered("the response has no reply to it");
                if is_unread(&bytes) {
                    open.replied(&bytes);
                }
            }
        }
        self.judge.recorder.close(job.open).await;
        Response::from_parts(head, Outgoing::whole(bytes))
    }
}

impl Errand {
    /// What is left to do when the reply comes, and the channel that it may come on.
    pub(super) fn into_job(self) -> (Job, Option<String>) {
        let Self { call, session, treatment, due, held, open } = self;
        (Job { id: call.id, treatment, due, held, open }, session)
    }
}

/// What is written down about a call that a fault ends together with its connection.
pub(super) fn ends(instead: &Instead) -> Option<&'static str> {
    match instead {
        Instead::Cut(_) => Some("the connection was cut"),
        Instead::Crash(_) => Some("the process was ended"),
        _ => None,
    }
}
