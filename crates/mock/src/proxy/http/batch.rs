//! The response to a batch: one for all of its calls.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use tokio::time::sleep_until;

use super::{
    body::{self, Outgoing},
    call::ends,
    exchange::{Exchange, Reply, is_stream, unmeasured, unreachable},
    head,
    io::ResetFlag,
    pump,
    replies::{self, Job, plain, status},
    sort::Sorted,
    sources::Later,
};

/// Why calls have no reply of their own.
const ENDED: &str = "a fault ended its batch before the server saw it";
const REFUSED: &str = "its batch has no reply but a status";

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
                self.lose(sorted, None, ENDED).await;
                return self.end(&instead, &reset).await;
            }
            let session = errand.session.as_deref();
            let refusal = self.refusal(&instead, session, &errand.call);
            let refusal = refusal.unwrap_or_else(|| replies::http(&instead));
            self.lose(sorted, Some(refusal.status()), ENDED).await;
            return Ok(self.answered(errand.open, refusal).await);
        }
        let body = sorted.body(body);
        if self.is_sse() {
            return Ok(self.batch_for_channel(sorted, head, body).await);
        }
        let Some(body) = body else {
            let head = status(StatusCode::ACCEPTED, None).into_parts().0;
            return Ok(self.array(sorted, head, Vec::new()).await);
        };
        match self.upstream.send(&head, body.into()).await {
            Ok(response) => Ok(self.treat_batch(sorted, response).await),
            Err(error) => {
                let response = unreachable(&error);
                self.lose(sorted, Some(response.status()), REFUSED).await;
                Ok(response)
            }
        }
    }

    /// None of the calls that are left has a reply of its own.
    async fn lose(&self, sorted: Sorted, status: Option<StatusCode>, why: &'static str) {
        for mut open in sorted.into_rows() {
            open.lost(status, why);
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
            return Response::from_parts(unmeasured(head), outgoing);
        }
        match body::whole(body).await {
            Ok(bytes) if head.status.is_success() => self.array(sorted, head, bytes).await,
            Ok(bytes) => {
                self.lose(sorted, Some(head.status), REFUSED).await;
                Response::from_parts(head, Outgoing::whole(bytes))
            }
            Err(_) => {
                let broken = plain(StatusCode::BAD_GATEWAY, "the server's reply broke off");
                self.lose(sorted, Some(broken.status()), REFUSED).await;
                broken
            }
        }
    }
}

impl Sorted {
    /// The calls that wait for the server, and the replies that come besides.
    pub(super) fn into_stream(mut self, status: StatusCode) -> (Vec<Job>, Later) {
        let jobs = self.asked.iter_mut();
        let made = self.made.iter_mut().chain(&mut self.hung).map(|(_, job)| job);
        for open in jobs.chain(made).filter_map(|job| job.open.as_mut()) {
            open.status(status);
        }
        let mut later = Later::new();
        for (frame, job) in self.made.into_iter().chain(self.hung) {
            later.postpone(job, frame);
        }
        (self.asked, later)
    }
}
