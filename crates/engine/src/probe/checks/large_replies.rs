//! Many large replies at once: each must come once, whole, and to the one who asked.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::method,
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, answers_heard, at_once, fallen, prepared},
    bench::Bench,
    echo_subject::EchoSubject,
};

pub(super) static CHECK: Check = Check {
    id: "large_replies",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "asks for many large replies at once and looks at each",
    meaning: "under load, users get broken answers, or those of others",
    run,
};

const SIZE: usize = 256 << 10;
const COUNT: usize = 16;
const LISTINGS: usize = 32;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        if let Some(echo) = bench.echo_subject(&session).await
            && says_alone(bench, &session, &echo).await
        {
            return echoes(bench, &session, &echo).await;
        }
        if bench.hello.has_tools() {
            return listings(bench, &session).await;
        }
        bench.skip(&CHECK, "the server has nothing large to say");
    })
}

/// The text number `number`: all of it tells whose it is.
fn text(number: usize) -> String {
    let mark = format!("mcp-loadtest-{number:03}-");
    mark.repeat(SIZE / mark.len())
}

/// Whether the tool gives back so much at all.
async fn says_alone(bench: &Bench, session: &Session, echo: &EchoSubject) -> bool {
    let call = prepared(session, &echo.tool, &echo.saying(&text(COUNT)));
    let reply = session.call(&call, bench.how()).await;
    reply.failure().is_none() && holds(reply.body.as_deref(), &text(COUNT))
}

fn holds(body: Option<&[u8]>, text: &str) -> bool {
    body.is_some_and(|body| String::from_utf8_lossy(body).contains(text))
}

async fn echoes(bench: &Bench, session: &Session, echo: &EchoSubject) {
    let request = |n| prepared(session, &echo.tool, &echo.saying(&text(n)));
    let calls = (0..COUNT).map(|n| (session.clone(), request(n))).collect();
    let tap = session.tap();
    let landed = at_once(calls, bench.patient()).await;
    let case = format!("{COUNT} replies of {} KiB at once", SIZE >> 10);
    let strange = |(n, landed): (usize, &Landed)| {
        let body = landed.reply.body.as_deref();
        if landed.reply.failure().is_some() || holds(body, &text(n)) {
            return None;
        }
        let other = (0..COUNT).find(|other| holds(body, &format!("mcp-loadtest-{other:03}-")));
        Some(match other {
            Some(other) if other != n => format!("call {n} got the answer to call {other}"),
            _ => format!("call {n} got a text that is not whole"),
        })
    };
    let first = landed.iter().enumerate().find_map(strange);
    let heard = answers_heard(&tap, &landed);
    tell(bench, session, &case, Some(&echo.tool.name), first, &landed, &heard).await;
}

async fn listings(bench: &Bench, session: &Session) {
    let request = session.prepare(method::TOOLS_LIST, json!({}));
    let before = session.call(&request, bench.patient()).await.json();
    let tap = session.tap();
    let landed = at_once(vec![(session.clone(), request.clone()); LISTINGS], bench.patient()).await;
    let after = session.call(&request, bench.patient()).await.json();
    // A list that changes by itself says nothing.
    let same = before.is_some() && before == after;
    let differs = |(n, landed): (usize, &Landed)| {
        let differs = landed.reply.failure().is_none() && landed.reply.json() != before;
        differs.then(|| format!("list {n} differs from the one that was asked for alone"))
    };
    let first = landed.iter().enumerate().find_map(differs).filter(|_| same);
    let heard = answers_heard(&tap, &landed);
    let case = format!("{LISTINGS} lists of tools at once");
    tell(bench, session, &case, None, first, &landed, &heard).await;
}

async fn tell(
    bench: &Bench,
    session: &Session,
    case: &str,
    tool: Option<&str>,
    strange: Option<String>,
    landed: &[Landed],
    heard: &[usize],
) {
    let result = bench.unless_dead(session, judge(case, strange, landed, heard)).await;
    if matches!(result.verdict, CaseVerdict::Crashed | CaseVerdict::Hung) {
        bench.drop_shared().await;
    }
    bench.tell(match tool {
        Some(tool) => result.tool(tool),
        None => result,
    });
}

fn judge(case: &str, strange: Option<String>, landed: &[Landed], heard: &[usize]) -> CaseResult {
    let count = landed.len();
    let case = |verdict| CHECK.case(case, verdict);
    let broken = |why: String| case(CaseVerdict::Broken).detail(why);
    if let Some(strange) = strange {
        return broken(strange);
    }
    let (lost, _) = fallen(landed, Fate::Lost);
    let (garbled, defect) = fallen(landed, Fate::Garbled);
    let (refused, error) = fallen(landed, Fate::Refused);
    let twice = heard.iter().filter(|count| **count > 1).count();
    match (garbled, lost, twice, refused) {
        (1.., ..) => broken(format!("{garbled} of {count} are no valid answers: {defect}")),
        (0, 1.., ..) => broken(format!("{lost} of {count} never came")),
        (0, 0, 1.., _) => broken(format!("{twice} of {count} came more than once")),
        (0, 0, 0, 0) => case(CaseVerdict::Held),
        (0, 0, 0, _) if refused == count => case(CaseVerdict::CouldNotTell)
            .detail(format!("all {count} were refused, so that none could be looked at: {error}")),
        // A server may say that it has too much to do; what it did say was whole.
        (0, 0, 0, 1..) => case(CaseVerdict::Held)
            .severity(Severity::Info)
            .detail(format!("{} came whole, {refused} were refused: {error}", count - refused)),
    }
}
