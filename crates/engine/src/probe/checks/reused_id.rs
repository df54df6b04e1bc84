//! Two requests in flight with the same id. The sender must not do this; a server must survive it.

use std::time::Duration;

use mcp_loadtest_core::check::{CaseResult, CaseVerdict, Depth, Family};
use mcp_loadtest_wire::session::{Prepared, RawReply, Session, Target};
use tokio::{join, time::Instant};

use super::{Check, Running};
use crate::probe::{at_once::prepared, bench::Bench, seen::answers};

pub(super) static CHECK: Check = Check {
    id: "reused_id",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends two requests with the same id at once",
    meaning: "a client with a bug in its counter ends the server, or silences it, for everybody",
    run,
};

/// How long a request takes that is to be in flight with its twin.
const LENGTH: Duration = Duration::from_millis(100);
/// How much longer two answers are waited for: one of them may never come.
const PATIENCE: Duration = Duration::from_millis(500);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let subjects = bench.slow_subjects().await;
        let slow = subjects
            .iter()
            .find_map(|slow| Some(prepared(&session, &slow.tool, &slow.taking(LENGTH)?)));
        let request = slow.unwrap_or_else(|| bench.fast_request(&session));
        let id = bench.raw_id();
        let answered = twins(bench, &session, &request, id).await;
        let mut result = judge(bench, &session, answered).await;
        if let Some(tool) = request.tool() {
            result = result.tool(tool);
        }
        bench.tell(result.sent(&request.frame(id)));
    })
}

/// Sends the request twice and gives the number of answers.
async fn twins(bench: &Bench, session: &Session, request: &Prepared, id: u64) -> usize {
    let out = session.dressed(request, request.frame(id));
    let patience = LENGTH * 2 + PATIENCE;
    let is_answer = |frame: &[u8]| answers(frame, Some(id));
    let count =
        |reply: &RawReply| reply.frames.iter().filter(|heard| is_answer(&heard.frame)).count();
    if matches!(bench.target, Target::Http(_)) {
        let (one, two) = join!(
            session.exchange_raw(&out, patience, is_answer),
            session.exchange_raw(&out, patience, is_answer)
        );
        return count(&one) + count(&two);
    }
    let tap = session.tap();
    session.send_raw(&out);
    session.send_raw(&out);
    let until = Instant::now() + patience;
    let one = session.hear(&tap, until, is_answer).await;
    let two = session.hear(&tap, until, is_answer).await;
    count(&one) + count(&two)
}

async fn judge(bench: &Bench, session: &Session, answered: usize) -> CaseResult {
    let case = "two requests with one id";
    match bench.aftermath(session).await {
        Some((verdict, why)) => {
            bench.drop_shared().await;
            CHECK.case(case, verdict).detail(why)
        }
        None => CHECK.case(case, CaseVerdict::Held).detail(format!("{answered} answers")),
    }
}
