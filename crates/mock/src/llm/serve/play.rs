//! An answer as a fixture says.

use std::{io, sync::Arc, time::Duration};

use mcp_loadtest_core::{
    llm::{At, Chosen, Ending, Failure, Fixture, Plan, Problem, Request, StreamError, StreamFault},
    seed::Seed,
};

use super::{
    After, Connection,
    asking::{Asking, Sent},
    breaks::breaks,
    outgoing::{self, Whole},
    refusal::problem_of,
    stream::Stream,
};
use crate::llm::{
    compose::compose,
    dialect::{Dialect, Framing, Kind, Reply, Route},
};

type Headers = Vec<(String, String)>;

impl Connection {
    /// Answers as a fixture says.
    pub(super) async fn play(
        &mut self,
        dialect: &Dialect,
        route: &Route,
        request: Request,
        chosen: Chosen<'_>,
        headers: Headers,
        asking: &mut Asking,
    ) -> io::Result<Sent> {
        let Chosen { fixture, index, ordinal } = chosen;
        asking.fixture = Some((index, fixture.name.clone()));
        let is_chaotic = fixture.failure.as_ref().is_some_and(Failure::is_chaotic);
        let chaos = self.desk.chaos(is_chaotic && request.stream);
        let plan = Plan::new(fixture, ordinal, asking.at(), chaos);
        asking.seed = plan.seed.0;
        asking.faults = names(&plan, request.stream);
        if self.is_gone_before(&plan).await {
            return Ok(Sent::new(0, Ending::Aborted, After::Closed));
        }
        if let Some(cut) = early(&plan, request.stream).find_map(|fault| fault.cut) {
            return Ok(Sent::new(0, Ending::Broken, outgoing::after(Some(cut), false)));
        }
        let told = early(&plan, request.stream).find_map(|fault| fault.error.as_ref());
        let problem = fixture.error.as_ref().map(problem_of).or_else(|| told.map(as_problem));
        if let Some(problem) = problem {
            return self.refuse(dialect.provider, &problem, asking).await;
        }
        let composed = match compose(fixture, &request, &plan.faults) {
            Ok(composed) => composed,
            Err(problem) => return self.refuse(dialect.provider, &problem, asking).await,
        };
        let (is_stream, number) = (request.stream, reply_number(fixture, &request, &plan, ordinal));
        let reply = Arc::new(Reply {
            request,
            answer: composed.answer,
            number,
            malformed_call: composed.malformed_call,
            wrong_finish: composed.wrong_finish,
        });
        match &dialect.kind {
            _ if plan.corrupt => {
                self.send(corrupt(is_stream, route.framing, headers), asking, None).await
            }
            Kind::Model { voice, .. } if is_stream => {
                let voice = voice(reply.clone());
                let keep_alive = asking.keep_alive;
                let framing = route.framing;
                self.stream(Stream { reply, voice, framing, plan, headers, keep_alive }).await
            }
            Kind::Model { whole, .. } | Kind::Whole(whole) => {
                let whole = Whole::json(200, headers, whole(&reply));
                let breaks = breaks(&plan.faults, &reply, &whole.body);
                self.send(whole, asking, breaks).await
            }
            Kind::Plain(_) => Ok(Sent::new(0, Ending::Complete, After::Closed)),
        }
    }

    /// The waits before the first byte. `true`: the client did not wait that long.
    async fn is_gone_before(&mut self, plan: &Plan<'_>) -> bool {
        let stalls = plan.faults.iter().filter(|fault| fault.at == Some(At::BeforeHeaders));
        let stall: u64 = stalls.filter_map(|fault| fault.stall_ms).sum();
        let wait = plan.before_headers + Duration::from_millis(stall);
        !wait.is_zero() && self.gone_after(wait).await
    }
}

/// The faults that strike before anything is sent. An error in the middle of an answer that comes in
/// one piece can only stand in its place.
fn early<'p>(plan: &'p Plan<'_>, is_stream: bool) -> impl Iterator<Item = &'p StreamFault> {
    plan.faults.iter().copied().filter(move |fault| {
        fault.at == Some(At::BeforeHeaders) || (!is_stream && fault.error.is_some())
    })
}

fn as_problem(error: &StreamError) -> Problem {
    Problem::new(error.status, error.message.clone())
}

/// The word that stands in place of an answer.
fn corrupt(is_stream: bool, framing: Framing, headers: Headers) -> Whole {
    let is_events = is_stream && framing == Framing::Events;
    let (content_type, body) = match is_events {
        true => ("text/event-stream; charset=utf-8", "data: overloaded\n\n"),
        false => ("text/plain", "overloaded"),
    };
    Whole { status: 200, content_type, headers, body: body.into(), ending: Ending::Corrupt }
}

/// What ids in a reply are made from. With an explicit seed the order of requests plays no part.
fn reply_number(fixture: &Fixture, request: &Request, plan: &Plan<'_>, ordinal: u64) -> u64 {
    let explicit = fixture.failure.as_ref().is_some_and(|failure| failure.chaos_seed.is_some());
    let stream = if explicit { 0 } else { ordinal };
    Seed(plan.seed.0 ^ request.hash).dice(stream).next_u64()
}

/// What goes wrong, for the journal.
fn names(plan: &Plan<'_>, is_stream: bool) -> Vec<String> {
    let mut names = Vec::new();
    names.extend(plan.corrupt.then(|| "corrupt_body".to_owned()));
    if !plan.before_headers.is_zero() {
        names.push(format!("latency_ms:{}", plan.before_headers.as_millis()));
    }
    if is_stream {
        names.extend(plan.truncate.map(|frames| format!("truncate_after_frames:{frames}")));
        names.extend(
            plan.disconnect.map(|wait| format!("disconnect_after_ms:{}", wait.as_millis())),
        );
        names.extend(plan.duplicate.then(|| "duplicate_frames".to_owned()));
        names.extend(plan.jitters().then(|| "latency_jitter_ms".to_owned()));
    }
    for fault in &plan.faults {
        names.push(serde_json::to_string(fault).unwrap_or_default());
    }
    names
}
