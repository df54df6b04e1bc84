//! What a request gets.

use std::{io, sync::Arc, time::Duration};

use mcp_loadtest_core::{
    llm::{
        At, Chosen, Cut, Failure, Fixture, Plan, Problem, Provider, Request, StreamFault,
        estimated_tokens,
    },
    seed::Seed,
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{
    After, Connection,
    incoming::{Asked, Nothing},
    outgoing::{Breaks, JSON, Whole},
    stream::Stream,
};
use crate::llm::{
    compose::compose,
    dialect::{self, DIALECTS, Dialect, Framing, Kind, Reply, Route},
    hash,
    journal::Entry,
};

/// How long a client is told to wait where nothing else is said: short, because tests wait for it.
const RETRY_AFTER_MS: u64 = 100;

/// What is known of a request while it is answered.
struct Asking {
    entry: Entry,
    began: Instant,
    keep_alive: bool,
    number: u64,
}

impl Connection {
    /// Answers one request.
    pub(super) async fn turn(&mut self) -> io::Result<After> {
        let asked = match self.incoming.next(&mut self.stream).await {
            Ok(asked) => asked,
            Err(Nothing::Closed) => return Ok(After::Closed),
            Err(Nothing::Bad { status, why, path }) => {
                let provider = dialect::likely_provider(&path);
                let whole = refusal(provider, &Problem::new(status, why), self.desk.number());
                whole.send(&mut self.stream, false, None).await?;
                self.linger().await;
                return Ok(After::Closed);
            }
        };
        let mut asking = self.asking(&asked);
        let after = self.answer(asked, &mut asking).await;
        asking.entry.took_ms = milliseconds(asking.began.elapsed());
        asking.entry.aborted_by_client |= after.is_err();
        self.desk.journal().add(asking.entry);
        after
    }

    /// Lets a client that still sends read the refusal before the connection goes.
    async fn linger(&mut self) {
        let patience = Duration::from_millis(500);
        let rest = async { while self.incoming.skip(&mut self.stream).await {} };
        let _ = tokio::time::timeout(patience, rest).await;
    }

    fn asking(&self, asked: &Asked) -> Asking {
        let number = self.desk.number();
        let entry = Entry {
            number,
            at_ms: milliseconds(self.desk.elapsed()),
            took_ms: 0.0,
            path: asked.path.clone(),
            provider: dialect::likely_provider(&asked.path),
            model: String::new(),
            stream: false,
            headers: masked(&asked.headers),
            body_hash: format!("{:016x}", hash(&asked.body)),
            client: format!("{:016x}", client(asked)),
            fixture: None,
            status: 200,
            retry_after_ms: None,
            faults: Vec::new(),
            seed: 0,
            bytes_sent: 0,
            complete: false,
            aborted_by_client: false,
        };
        Asking { entry, began: Instant::now(), keep_alive: asked.keep_alive, number }
    }

    async fn answer(&mut self, asked: Asked, asking: &mut Asking) -> io::Result<After> {
        let key = client(&asked);
        let (dialect, route) = match find(&asked) {
            Ok(found) => found,
            Err((provider, problem)) => return self.refuse(provider, &problem, asking).await,
        };
        asking.entry.provider = dialect.provider;
        let request = match read(dialect, &route, asked) {
            Ok(request) => request,
            Err(problem) => return self.refuse(dialect.provider, &problem, asking).await,
        };
        asking.entry.model.clone_from(&request.model);
        asking.entry.stream = request.stream;
        if let Kind::Plain(make) = &dialect.kind {
            let body = make(&request, &self.desk.book().models());
            return self.send(Whole::json(200, Vec::new(), &body), asking, None).await;
        }
        let mut headers = identity(dialect.provider, asking.number);
        let tokens = estimated_tokens(request.user_message.len() + request.system_prompt.len());
        match self.desk.buckets.take(key, tokens, self.desk.elapsed()) {
            Ok(left) => left.headers(dialect.provider, &mut headers),
            Err((wait, left)) => {
                let mut problem = Problem::new(429, "Rate limit reached: wait and try again");
                problem.retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(0) + 1);
                left.headers(dialect.provider, &mut problem.headers);
                return self.refuse(dialect.provider, &problem, asking).await;
            }
        }
        let book = self.desk.book();
        match book.choose(&request, self.desk.elapsed()) {
            Ok(chosen) => self.play(dialect, &route, request, chosen, headers, asking).await,
            Err(nothing) => {
                let problem = Problem::new(404, nothing.words(&request));
                self.refuse(dialect.provider, &problem, asking).await
            }
        }
    }

    /// Answers as a fixture says.
    async fn play(
        &mut self,
        dialect: &Dialect,
        route: &Route,
        request: Request,
        chosen: Chosen<'_>,
        headers: Vec<(String, String)>,
        asking: &mut Asking,
    ) -> io::Result<After> {
        let Chosen { fixture, index, ordinal } = chosen;
        asking.entry.fixture = Some(fixture.name.clone().unwrap_or_else(|| index.to_string()));
        let is_chaotic = fixture.failure.as_ref().is_some_and(Failure::is_chaotic);
        let chaos = self.desk.chaos(is_chaotic && request.stream);
        let plan = Plan::new(fixture, ordinal, self.desk.elapsed(), chaos);
        asking.entry.seed = plan.seed.0;
        asking.entry.faults = names(&plan, request.stream);
        if !plan.before_headers.is_zero() && self.gone_after(plan.before_headers).await {
            asking.entry.aborted_by_client = true;
            return Ok(After::Closed);
        }
        if let Some(error) = &fixture.error {
            let problem = problem_of(error);
            return self.refuse(dialect.provider, &problem, asking).await;
        }
        if let Some(cut) = cut_before_headers(&plan) {
            return Ok(self.cut_at_once(cut).await);
        }
        let composed = match compose(fixture, &request, &plan.faults) {
            Ok(composed) => composed,
            Err(problem) => return self.refuse(dialect.provider, &problem, asking).await,
        };
        let (stream, number) = (request.stream, reply_number(fixture, &request, &plan, ordinal));
        let reply = Arc::new(Reply {
            request,
            answer: composed.answer,
            number,
            malformed_call: composed.malformed_call,
            wrong_finish: composed.wrong_finish,
        });
        match (&dialect.kind, stream) {
            (Kind::Model { .. }, true) if plan.corrupt => {
                self.corrupt(route.framing, headers, asking).await
            }
            _ if plan.corrupt => self.overloaded(headers, asking).await,
            (Kind::Model { voice, .. }, true) => {
                let voice = voice(reply.clone());
                let stream = Stream {
                    reply,
                    voice,
                    framing: route.framing,
                    plan,
                    headers,
                    keep_alive: asking.keep_alive,
                };
                let streamed = self.stream(stream).await?;
                asking.entry.bytes_sent = streamed.bytes;
                asking.entry.complete = streamed.complete;
                asking.entry.aborted_by_client = streamed.aborted;
                Ok(streamed.after)
            }
            (Kind::Model { whole, .. } | Kind::Whole(whole), _) => {
                let body = whole(&reply);
                let whole = Whole::json(200, headers, &body);
                let breaks = breaks(&plan.faults, &reply, &whole.body);
                self.send(whole, asking, breaks).await
            }
            (Kind::Plain(_), _) => Ok(After::Closed),
        }
    }

    /// The word that stands in place of a stream.
    async fn corrupt(
        &mut self,
        framing: Framing,
        headers: Vec<(String, String)>,
        asking: &mut Asking,
    ) -> io::Result<After> {
        if framing == Framing::Array {
            return self.overloaded(headers, asking).await;
        }
        let whole = Whole {
            status: 200,
            content_type: "text/event-stream; charset=utf-8",
            headers,
            body: b"data: overloaded\n\n".to_vec(),
        };
        self.send(whole, asking, None).await
    }

    async fn overloaded(
        &mut self,
        headers: Vec<(String, String)>,
        asking: &mut Asking,
    ) -> io::Result<After> {
        let body = b"overloaded".to_vec();
        let whole = Whole { status: 200, content_type: "text/plain", headers, body };
        self.send(whole, asking, None).await
    }

    async fn refuse(
        &mut self,
        provider: Provider,
        problem: &Problem,
        asking: &mut Asking,
    ) -> io::Result<After> {
        asking.entry.status = problem.status;
        asking.entry.retry_after_ms = problem.retry_after_ms;
        let whole = refusal(provider, problem, asking.number);
        self.send(whole, asking, None).await
    }

    async fn send(
        &mut self,
        whole: Whole,
        asking: &mut Asking,
        breaks: Option<Breaks>,
    ) -> io::Result<After> {
        let (sent, after) = whole.send(&mut self.stream, asking.keep_alive, breaks).await?;
        asking.entry.bytes_sent = sent as u64;
        asking.entry.complete = breaks.is_none();
        if breaks.is_some_and(|breaks| breaks.cut == Cut::Silence) {
            self.wait_for_the_client().await;
        }
        Ok(after)
    }

    /// Waits; `true`: the client hung up meanwhile.
    async fn gone_after(&mut self, wait: Duration) -> bool {
        let (mut reader, _writer) = self.stream.split();
        tokio::select! {
            () = sleep(wait) => false,
            () = self.incoming.hung_up(&mut reader) => true,
        }
    }

    async fn wait_for_the_client(&mut self) {
        let (mut reader, _writer) = self.stream.split();
        self.incoming.hung_up(&mut reader).await;
    }

    async fn cut_at_once(&mut self, cut: Cut) -> After {
        match cut {
            Cut::Reset => After::Reset,
            Cut::Silence => {
                self.wait_for_the_client().await;
                After::Closed
            }
            Cut::Fin | Cut::CleanEof | Cut::ShortContentLength => After::Closed,
        }
    }
}

impl Whole {
    fn json(status: u16, headers: Vec<(String, String)>, body: &Value) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { status, content_type: JSON, headers, body }
    }
}

fn find(asked: &Asked) -> Result<(&'static Dialect, Route), (Provider, Problem)> {
    let provider = dialect::likely_provider(&asked.path);
    let mut known = None;
    for dialect in DIALECTS {
        let Some(route) = (dialect.route)(&asked.path, &asked.query) else { continue };
        if dialect.verb == asked.verb {
            return Ok((dialect, route));
        }
        known = Some(dialect);
    }
    Err(match known {
        Some(dialect) => {
            let mut problem = Problem::new(
                405,
                format!("{} takes {}, not {}", asked.path, dialect.verb, asked.verb),
            );
            problem.headers.push(("allow".into(), dialect.verb.into()));
            (dialect.provider, problem)
        }
        None => {
            let names: Vec<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            let shown = mcp_loadtest_core::display::visible(&asked.path, 120);
            let why = format!("nothing is served at {shown}; there is {}", names.join(", "));
            (provider, Problem::new(404, why))
        }
    })
}

fn read(dialect: &Dialect, route: &Route, asked: Asked) -> Result<Request, Problem> {
    let body = if dialect.verb == "GET" {
        Value::Null
    } else {
        serde_json::from_slice(&asked.body)
            .map_err(|error| Problem::new(400, format!("the body is no JSON: {error}")))?
    };
    let mut request = (dialect.read)(route, body)?;
    request.headers = asked.headers;
    Ok(request)
}

fn refusal(provider: Provider, problem: &Problem, number: u64) -> Whole {
    let mut problem = problem.clone();
    if problem.status == 429 && problem.retry_after_ms.is_none() {
        problem.retry_after_ms = Some(RETRY_AFTER_MS);
    }
    let (mut headers, body) = dialect::problem(provider, &problem, number);
    for (name, value) in problem.headers {
        headers.retain(|(own, _)| !own.eq_ignore_ascii_case(&name));
        headers.push((name, value));
    }
    Whole::json(problem.status, headers, &body)
}

fn problem_of(error: &mcp_loadtest_core::llm::ErrorReply) -> Problem {
    Problem {
        status: error.status,
        message: error.message.clone(),
        kind: error.kind.clone(),
        code: error.code.clone(),
        retry_after_ms: error.retry_after_ms,
        headers: error.headers.clone().into_iter().collect(),
    }
}

/// The id of a request, under the provider's name for it.
fn identity(provider: Provider, number: u64) -> Vec<(String, String)> {
    match provider {
        Provider::Openai | Provider::Responses => vec![
            ("x-request-id".into(), format!("req_{number:016x}")),
            ("openai-processing-ms".into(), "1".into()),
            ("openai-version".into(), "2020-10-01".into()),
        ],
        Provider::Anthropic => vec![("request-id".into(), format!("req_{number:016x}"))],
        Provider::Gemini => Vec::new(),
    }
}

/// What ids in a reply are made from. With an explicit seed the order of requests plays no part.
fn reply_number(fixture: &Fixture, request: &Request, plan: &Plan<'_>, ordinal: u64) -> u64 {
    let explicit = fixture.failure.as_ref().is_some_and(|failure| failure.chaos_seed.is_some());
    let stream = if explicit { 0 } else { ordinal };
    Seed(plan.seed.0 ^ hash(request.body.to_string().as_bytes())).dice(stream).next_u64()
}

fn cut_before_headers(plan: &Plan<'_>) -> Option<Cut> {
    let first = plan.faults.iter().find(|fault| fault.at == Some(At::BeforeHeaders))?;
    first.cut
}

/// Where a body in one piece breaks: at the same place in what is said as a stream would.
fn breaks(faults: &[&StreamFault], reply: &Arc<Reply>, body: &[u8]) -> Option<Breaks> {
    let fault = faults.iter().find(|fault| fault.cut.is_some())?;
    let cut = fault.cut?;
    let place = fault.at.unwrap_or(At::BeforeTerminal);
    let mut pieces = crate::llm::pieces::Pieces::new(reply.clone(), usize::MAX, &[place]);
    let mut said = None;
    while !pieces.has_reached(place) {
        let more = pieces.next(|piece| {
            if let crate::llm::pieces::Piece::Text { text, .. }
            | crate::llm::pieces::Piece::Refusal { text, .. }
            | crate::llm::pieces::Piece::Arguments { text, .. } = piece
            {
                said = Some((*text).to_owned());
            }
        });
        if !more {
            break;
        }
    }
    let inside = said.and_then(|text| {
        // As it is written in JSON, without its quotes.
        let text = serde_json::to_string(&text).ok()?;
        let text = text.trim_matches('"').as_bytes();
        memchr::memmem::find(body, text).map(|at| at + text.len())
    });
    let last = body.len().saturating_sub(1);
    Some(Breaks { after: inside.unwrap_or(last).min(last), cut })
}

/// What goes wrong, for the journal.
fn names(plan: &Plan<'_>, stream: bool) -> Vec<String> {
    let mut names = Vec::new();
    if plan.corrupt {
        names.push("corrupt_body".into());
    }
    if !plan.before_headers.is_zero() {
        names.push(format!("latency_ms:{}", plan.before_headers.as_millis()));
    }
    if stream {
        names.extend(plan.truncate.map(|frames| format!("truncate_after_frames:{frames}")));
        names.extend(
            plan.disconnect.map(|wait| format!("disconnect_after_ms:{}", wait.as_millis())),
        );
        names.extend(plan.duplicate.then(|| "duplicate_frames".to_owned()));
    }
    for fault in &plan.faults {
        names.push(serde_json::to_string(fault).unwrap_or_default());
    }
    names
}

/// Who asks: what their key comes to, wherever it stands.
fn client(asked: &Asked) -> u64 {
    const NAMES: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
    let key = asked.headers.iter().find(|(name, _)| NAMES.contains(&name.as_str()));
    key.map_or(0, |(_, value)| hash(value.as_bytes()))
}

/// Headers without what nobody should read.
fn masked(headers: &[(String, String)]) -> Vec<(String, String)> {
    const SECRETS: [&str; 5] =
        ["authorization", "x-api-key", "x-goog-api-key", "cookie", "proxy-authorization"];
    let mask = |(name, value): &(String, String)| {
        let value = if SECRETS.contains(&name.as_str()) { "***" } else { value };
        (name.clone(), value.to_owned())
    };
    headers.iter().map(mask).collect()
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
