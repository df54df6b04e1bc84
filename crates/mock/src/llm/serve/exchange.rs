//! One request after the other: what each of them gets.

use std::{io, time::Duration};

use mcp_loadtest_core::llm::{Oauth, Problem, Provider, RecordedRequest, estimated_tokens};
use tokio::time::{sleep, timeout};

use super::{
    After, Connection,
    asking::{Asking, Sent},
    incoming::{Asked, Nothing},
    outgoing::Whole,
    refusal::refusal,
    route,
};
use crate::llm::{
    dialect::{Kind, identity},
    hash,
    oauth::Visit,
    record::{keys, read_head},
};

/// How long a client that still sends may read its refusal before the connection goes.
const LINGER: Duration = Duration::from_millis(500);
/// A silence ends after this at the latest.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

impl Connection {
    /// Answers one request.
    pub(super) async fn turn(&mut self) -> io::Result<After> {
        let mut asked = match self.incoming.next(&mut self.stream).await {
            Ok(asked) => asked,
            Err(Nothing::Closed) => return Ok(After::Closed),
            Err(Nothing::Bad { status, why, path }) => return self.reject(status, why, path).await,
        };
        let mut asking = Asking::new(&self.desk, &mut asked);
        let sent = self.answer(asked, &mut asking).await;
        let after = asking.answered(sent);
        if after == After::Silent {
            // The request is over when the client has had enough.
            let _ = timeout(LONGEST_SILENCE, self.wait_for_the_client()).await;
        }
        Ok(after)
    }

    /// Refuses what cannot be read as a request.
    async fn reject(&mut self, status: u16, why: String, path: String) -> io::Result<After> {
        let mut asking = Asking::new(&self.desk, &mut Asked::unread(&path));
        let provider = asking.provider;
        let sent = self.refuse(provider, &Problem::new(status, why), &mut asking).await;
        asking.answered(sent);
        drop(asking);
        let rest = async { while self.incoming.skip(&mut self.stream).await {} };
        let _ = timeout(LINGER, rest).await;
        Ok(After::Closed)
    }

    async fn answer(&mut self, asked: Asked, asking: &mut Asking) -> io::Result<Sent> {
        let desk = self.desk.clone();
        if let Some(recorder) = desk.recorder() {
            return self.record(recorder, asked, asking).await;
        }
        let set = desk.set();
        if let Some(settings) = &set.oauth
            && let Some(sent) = self.stopped_at_the_door(settings, &asked, asking).await
        {
            return sent;
        }
        let recordings = set.book.recordings();
        let recorded = (!recordings.is_empty())
            .then(|| RecordedRequest::new(&asked.verb, &asked.target(), &asking.body));
        if let Some(found) = recorded.as_ref().and_then(|request| recordings.find(request)) {
            return self.replay(found, asking).await;
        }
        let (dialect, route) = match route::find(&asked) {
            Ok(found) => found,
            Err(refusal) => {
                desk.unmatched(&refusal.1.message);
                return self.refuse(refusal.0, &refusal.1, asking).await;
            }
        };
        asking.provider = dialect.provider;
        let mut request = match route::read(dialect, &route, &asking.body) {
            Ok(request) => request,
            Err(problem) => return self.refuse(dialect.provider, &problem, asking).await,
        };
        request.hash = asking.hash;
        if set.book.looks_at_headers() {
            (_, request.headers) = read_head(&asking.head);
        }
        asking.model.clone_from(&request.model);
        asking.stream = request.stream;
        if let Kind::Plain(make) = &dialect.kind {
            let body = make(&request, &set.book.models()).to_string().into_bytes();
            return self.send(Whole::json(200, Vec::new(), body), asking, None).await;
        }
        let mut headers = identified(dialect.provider, asking.number);
        match set.buckets.take(asking.client, estimated_tokens(request.length), asking.at()) {
            Ok(left) => left.headers(dialect.provider, &mut headers),
            Err((wait, left)) => {
                let mut problem = Problem::new(429, "Rate limit reached: wait and try again");
                problem.retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(0) + 1);
                left.headers(dialect.provider, &mut problem.headers);
                return self.refuse(dialect.provider, &problem, asking).await;
            }
        }
        match set.book.choose(&request, asking.at()) {
            Ok(chosen) => self.play(dialect, &route, request, chosen, headers, asking).await,
            Err(nothing) => {
                let mut words = nothing.words(&request);
                if let Some(recorded) = &recorded {
                    words = format!("{}. {words}", recordings.why_not(recorded));
                }
                desk.unmatched(&words);
                self.refuse(dialect.provider, &Problem::new(404, words), asking).await
            }
        }
    }

    /// Hands out tokens, and refuses whoever has none; nothing for whoever may go on.
    async fn stopped_at_the_door(
        &mut self,
        settings: &Oauth,
        asked: &Asked,
        asking: &mut Asking,
    ) -> Option<io::Result<Sent>> {
        let desk = self.desk.clone();
        let address = self.stream.local_addr().map(|address| address.to_string());
        let keys = keys(&asking.head);
        let visit = Visit {
            settings,
            verb: &asked.verb,
            path: &asked.path,
            query: &asked.query,
            keys: &keys,
            body: &asking.body,
            url: format!("http://{}", address.unwrap_or_default()),
            now: asking.at(),
        };
        if let Some(handed) = desk.issuer().answer(&visit) {
            // It is full of secrets that have no form by which they could be masked.
            asking.body = Vec::new();
            asking.status = handed.status;
            asking.faults.extend(handed.fault.map(str::to_owned));
            let body = handed.body.to_string().into_bytes();
            let whole = Whole::json(handed.status, handed.headers, body);
            return Some(self.send(whole, asking, None).await);
        }
        match desk.issuer().admit(&keys, asking.at()) {
            Ok(client) => {
                asking.client = hash(client.as_bytes());
                None
            }
            Err(refused) => {
                if let Some(client) = &refused.client {
                    asking.client = hash(client.as_bytes());
                }
                asking.faults.extend(refused.fault.map(str::to_owned));
                let provider = asking.provider;
                Some(self.refuse(provider, &refused.problem, asking).await)
            }
        }
    }

    pub(super) async fn refuse(
        &mut self,
        provider: Provider,
        problem: &Problem,
        asking: &mut Asking,
    ) -> io::Result<Sent> {
        let whole = refusal(provider, problem, asking);
        self.send(whole, asking, None).await
    }

    /// Waits; `true`: the client hung up meanwhile.
    pub(super) async fn gone_after(&mut self, wait: Duration) -> bool {
        let (reader, _writer) = self.stream.split();
        tokio::select! {
            () = sleep(wait) => false,
            () = self.incoming.hung_up(&reader) => true,
        }
    }

    async fn wait_for_the_client(&mut self) {
        let (reader, _writer) = self.stream.split();
        self.incoming.hung_up(&reader).await;
    }
}

/// The id of a request, under the provider's name for it.
fn identified(provider: Provider, number: u64) -> Vec<(String, String)> {
    let id = identity("req_", number);
    match provider {
        Provider::Openai | Provider::Responses => {
            vec![("x-request-id".into(), id), ("openai-version".into(), "2020-10-01".into())]
        }
        Provider::Anthropic => vec![("request-id".into(), id)],
        Provider::Gemini => Vec::new(),
    }
}
