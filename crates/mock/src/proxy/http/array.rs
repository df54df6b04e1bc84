//! The replies to a batch in one body.

use std::{collections::HashMap, sync::Arc};

use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    response::Parts,
};
use mcp_loadtest_core::fault::{Beside, Mangle, Step, Treatment, mangle};
use tokio::time::sleep_until;

use super::{
    body::Outgoing,
    exchange::Exchange,
    pump,
    replies::{self, Answer, Job, no_events, write_down},
    sort::Sorted,
};
use crate::{
    mcp::batch::{Batch, joined},
    proxy::{
        message::{answered, is_unread},
        open::Open,
    },
};

/// What an array of replies is made of.
#[derive(Default)]
struct Array {
    frames: Vec<Vec<u8>>,
    /// What faults do to the bytes of one reply is done to all of them: they share a body.
    mangles: Vec<Mangle>,
    beside: Vec<Beside>,
    opens: Vec<Open>,
    is_touched: bool,
}

impl Exchange {
    /// The response to a batch whose server has said this.
    pub(super) async fn array(
        self: Arc<Self>,
        mut sorted: Sorted,
        mut head: Parts,
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
                write_down(array.opens, &self).await;
                return Response::from_parts(head, Outgoing::whole(bytes));
            }
            if array.frames.is_empty() {
                write_down(array.opens, &self).await;
                let nothing = wants_reply.then(no_events);
                return nothing
                    .unwrap_or_else(|| Response::from_parts(head, Outgoing::whole(bytes)));
            }
        }
        let Array { frames, mangles, beside, opens, .. } = array;
        let steps = if frames.is_empty() { Vec::new() } else { mangle(joined(&frames), &mangles) };
        let answer = Answer { steps, beside, opens };
        if sorted.hung.is_empty() {
            return replies::respond(head, answer, self).await;
        }
        self.stream_beside(sorted, head, answer)
    }

    /// Sends what is ready, and leaves the stream open for those that hang.
    fn stream_beside(
        self: Arc<Self>,
        sorted: Sorted,
        mut head: Parts,
        answer: Answer,
    ) -> Response<Outgoing> {
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        let (pieces, outgoing) = Outgoing::pieces();
        let (jobs, later) = sorted.into_stream(head.status);
        tokio::spawn(async move {
            if answer.walk(&pieces, &self).await.is_ok() {
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
                open.lost(Some(status), "the reply to its batch has none for it");
                // A server may refuse all of it.
                if let [(None, frame)] = &*parts
                    && is_unread(frame)
                {
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
            if is_withdrawn {
                self.judge.recorder.close(job.open.take()).await;
                array.is_touched = true;
                continue;
            }
            array.opens.extend(job.open.take());
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
