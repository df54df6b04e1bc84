//! The response to a batch: one for all of its calls.

use std::{collections::HashMap, sync::Arc};

use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    request::Parts,
    response::Parts as ReplyParts,
};
use mcp_loadtest_core::fault::{Beside, Mangle, Step, Treatment, mangle};
use tokio::time::sleep_until;

use super::{
    body::{self, Outgoing},
    call::ends,
    channel::postpone,
    events::Event,
    exchange::{Exchange, Reply, is_stream, unreachable},
    head,
    io::ResetFlag,
    pump::{self, Later},
    replies::{self, Job, no_events, plain, status, walk},
    sort::Sorted,
};
use crate::{
    mcp::batch::{Batch, joined},
    proxy::message::answered,
};

/// What an array of replies is made of.
#[derive(Default)]
struct Array {
    frames: Vec<Vec<u8>>,
    /// What faults do to the bytes of one reply is done to all of them: they share a body.
    mangles: Vec<Mangle>,
    beside: Vec<Beside>,
    is_touched: bool,
}

impl Exchange {
    /// Answers a batch.
    pub(super) async fn batch(
        self: Arc<Self>,
        mut sorted: Sorted,
        head: Parts,
        body: Vec<u8>,
        reset: ResetFlag,
    ) -> Reply {
        while let Some((instead, errand)) = sorted.whole.pop_front() {
            if errand.held.unless_withdrawn(sleep_until(errand.due)).await.is_none() {
                self.withdrawn(errand.open).await;
                continue;
            }
            if let Some(note) = ends(&instead) {
                self.note(errand.open, note).await;
                self.lose(sorted, None).await;
                return self.end(&instead, &reset).await;
            }
            let session = errand.session.as_deref();
            let refusal = self.refusal(&instead, session, &errand.call);
            let refusal = refusal.unwrap_or_else(|| replies::http(&instead));
            self.lose(sorted, Some(refusal.status())).await;
            return Ok(self.answered(errand.open, refusal).await);
        }
        let body = sorted.body(body);
        if self.is_sse() {
            return Ok(self.batch_for_channel(sorted, head, body).await);
        }
        let Some(body) = body else {
            let head = status(StatusCode::OK, None).into_parts().0;
            return Ok(self.array(sorted, head, Vec::new()).await);
        };
        match self.upstream.send(&head, body.into()).await {
            Ok(response) => Ok(self.treat_batch(sorted, response).await),
            Err(error) => {
                let response = unreachable(&error);
                self.lose(sorted, Some(response.status())).await;
                Ok(response)
            }
        }
    }

    /// None of the calls that are left has a reply of its own.
    async fn lose(&self, sorted: Sorted, status: Option<StatusCode>) {
        for mut open in sorted.into_rows() {
            open.lost(status);
            self.judge.recorder.close(Some(open)).await;
        }
    }

    /// HTTP+SSE: the replies come on the stream that gave the address out.
    async fn batch_for_channel(
        &self,
        sorted: Sorted,
        head: Parts,
        body: Option<Vec<u8>>,
    ) -> Response<Outgoing> {
        let address = head.uri.path_and_query().map_or("", |path| path.as_str()).to_owned();
        sorted.asked.into_iter().for_each(|job| self.channels.expect(&address, job));
        for (frame, job) in sorted.made.into_iter().chain(sorted.hung) {
            self.channels.deliver(&address, job, frame, &self.judge.recorder).await;
        }
        let response = match body {
            Some(body) => self.pass(&head, body.into()).await,
            None => status(StatusCode::ACCEPTED, None),
        };
        for mut open in sorted.told {
            open.status(response.status());
            self.judge.recorder.close(Some(open)).await;
        }
        response
    }

    /// Treats what the server says to what it was shown.
    async fn treat_batch(
        self: Arc<Self>,
        mut sorted: Sorted,
        response: Response<hyper::body::Incoming>,
    ) -> Response<Outgoing> {
        let (mut head, body) = response.into_parts();
        head::strip(&mut head.headers);
        for mut open in std::mem::take(&mut sorted.told) {
            open.status(head.status);
            self.judge.recorder.close(Some(open)).await;
        }
        if is_stream(&head) {
            let (pieces, outgoing) = Outgoing::pieces();
            let (jobs, later) = sorted.into_stream(head.status);
            tokio::spawn(pump::many(self, Some(body), pieces, jobs, later));
            return Response::from_parts(head, outgoing);
        }
        match body::whole(body).await {
            Ok(bytes) if head.status.is_success() => self.array(sorted, head, bytes).await,
            Ok(bytes) => {
                self.lose(sorted, Some(head.status)).await;
                Response::from_parts(head, Outgoing::whole(bytes))
            }
            Err(_) => {
                let broken = plain(StatusCode::BAD_GATEWAY, "the server's reply broke off");
                self.lose(sorted, Some(broken.status())).await;
                broken
            }
        }
    }

    /// The response to a batch whose server has said this.
    async fn array(
        self: Arc<Self>,
        mut sorted: Sorted,
        mut head: ReplyParts,
        bytes: Vec<u8>,
    ) -> Response<Outgoing> {
        let wants_reply = !(sorted.asked.is_empty() && sorted.made.is_empty());
        if wants_reply || !sorted.hung.is_empty() {
            // That of a server that was shown no call is another.
            head.status = StatusCode::OK;
        }
        let parts = self.parts(&mut sorted, &bytes, head.status).await;
        let array = self.fill(parts, sorted.is_changed).await;
        if sorted.hung.is_empty() {
            if !array.is_touched {
                return Response::from_parts(head, Outgoing::whole(bytes));
            }
            if array.frames.is_empty() {
                let nothing = wants_reply.then(no_events);
                return nothing
                    .unwrap_or_else(|| Response::from_parts(head, Outgoing::whole(bytes)));
            }
        }
        let Array { frames, mangles, beside, .. } = array;
        let steps = if frames.is_empty() { Vec::new() } else { mangle(joined(&frames), &mangles) };
        let treatment = Treatment { beside, ..Treatment::default() };
        if sorted.hung.is_empty() {
            return replies::respond(head, steps, treatment, self).await;
        }
        self.stream_beside(sorted, head, steps, treatment)
    }

    /// Sends what is ready, and leaves the stream open for those that hang.
    fn stream_beside(
        self: Arc<Self>,
        sorted: Sorted,
        mut head: ReplyParts,
        steps: Vec<Step>,
        treatment: Treatment,
    ) -> Response<Outgoing> {
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        let (pieces, outgoing) = Outgoing::pieces();
        let (jobs, later) = sorted.into_stream(head.status);
        tokio::spawn(async move {
            let event = Event::named_message();
            if walk(&event, steps, &treatment, &pieces, &self.turn).await.is_ok() {
                pump::many(self, None, pieces, jobs, later).await;
            }
        });
        Response::from_parts(head, outgoing)
    }

    /// The replies that share the body, each with its call, if that is one of ours.
    async fn parts(
        &self,
        sorted: &mut Sorted,
        bytes: &[u8],
        status: StatusCode,
    ) -> Vec<(Option<Job>, Vec<u8>)> {
        let asked = sorted.asked.drain(..).map(|job| (job.id.clone(), job));
        let mut asked: HashMap<_, _> = asked.collect();
        let lone = || if bytes.is_empty() { Vec::new() } else { vec![bytes] };
        let replies = Batch::members(bytes).unwrap_or_else(lone).into_iter();
        let mut parts: Vec<_> = replies
            .map(|reply| (answered(reply).and_then(|id| asked.remove(&id)), reply.to_vec()))
            .collect();
        for (_, job) in asked {
            if let Some(mut open) = job.open {
                open.lost(Some(status));
                // The error of a server that refuses all of it answers no id.
                if let [(None, frame)] = &*parts {
                    open.replied(frame);
                }
                self.judge.recorder.close(Some(open)).await;
            }
        }
        parts.extend(sorted.made.drain(..).map(|(frame, job)| (Some(job), frame)));
        for open in parts.iter_mut().filter_map(|(job, _)| job.as_mut()?.open.as_mut()) {
            open.status(status);
        }
        parts
    }

    /// Waits until the last reply is due, and treats them all.
    async fn fill(&self, parts: Vec<(Option<Job>, Vec<u8>)>, is_changed: bool) -> Array {
        for job in parts.iter().filter_map(|(job, _)| job.as_ref()) {
            job.held.unless_withdrawn(sleep_until(job.due)).await;
        }
        let mut array = Array { is_touched: is_changed, ..Array::default() };
        for (job, frame) in parts {
            let Some(mut job) = job else {
                array.frames.push(frame);
                continue;
            };
            let is_withdrawn = job.held.is_withdrawn();
            if let Some(open) = &mut job.open {
                if is_withdrawn { open.cancelled() } else { open.replied(&frame) }
            }
            self.judge.recorder.close(job.open.take()).await;
            if is_withdrawn {
                array.is_touched = true;
                continue;
            }
            let Treatment { mangles, beside, .. } = job.treatment;
            array.is_touched |= !mangles.is_empty() || !beside.is_empty();
            let (own, shared): (Vec<_>, Vec<_>) =
                mangles.into_iter().partition(|mangle| mangle.keeps_messages());
            array.frames.extend(mangle(frame, &own).into_iter().filter_map(Step::into_message));
            array.mangles.extend(shared);
            array.beside.extend(beside);
        }
        array
    }
}

impl Sorted {
    /// The calls that wait for the server, and the replies that come besides.
    fn into_stream(mut self, status: StatusCode) -> (Vec<Job>, Later) {
        let jobs = self.asked.iter_mut();
        let made = self.made.iter_mut().chain(&mut self.hung).map(|(_, job)| job);
        for open in jobs.chain(made).filter_map(|job| job.open.as_mut()) {
            open.status(status);
        }
        let later = Later::new(self.made.len() + self.hung.len());
        for (frame, job) in self.made.into_iter().chain(self.hung) {
            postpone(later.sender.clone(), job, frame);
        }
        (self.asked, later)
    }
}
