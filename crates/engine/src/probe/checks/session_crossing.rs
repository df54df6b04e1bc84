//! Two clients at once: what one asks must not be answered to the other.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    jsonrpc::{self, Message},
    mcp::method,
};
use mcp_loadtest_wire::session::{OpenError, Session, Tap, Target};
use serde_json::json;
use tokio::time::sleep;

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, at_once, fallen, prepared},
    bench::Bench,
    echo_subject::EchoSubject,
    slow_subject::SlowSubject,
};

pub(super) static CHECK: Check = Check {
    id: "session_crossing",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "lets two clients ask at once, with the same ids, and looks who gets which answer",
    meaning: "users see the data of others",
    run,
};

/// So often both ask at the same instant.
const ROUNDS: usize = 10;
/// How long a stray answer may take to arrive.
const STRAY: Duration = Duration::from_millis(200);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "over pipes every client has a server of its own");
        }
        if let Err(error) = crossing(bench).await {
            bench.no_session(&CHECK, &error);
        }
    })
}

/// Tells each result at once: a server that mixes clients up may not live through the next case.
async fn crossing(bench: &Bench) -> Result<(), OpenError> {
    let (first, second) = (bench.fresh().await?, bench.fresh().await?);
    bench.tell(overheard(bench, &first, &second).await);
    let echo = bench.echo_subject(&first).await;
    let slow = bench.slow_subjects().await.first().cloned();
    first.close().await;
    second.close().await;
    // Sessions count their requests alike: two that have asked equally often use the same ids.
    let (first, second) = (bench.fresh().await?, bench.fresh().await?);
    if let Some(echo) = echo {
        let result = mixed_up(bench, &first, &second, &echo).await;
        bench.tell(bench.unless_held(&first, result).await);
    }
    if let Some(slow) = slow {
        let result = both_answered(bench, &first, &second, &slow).await;
        bench.tell(bench.unless_held(&first, result).await);
    }
    first.close().await;
    second.close().await;
    Ok(())
}

/// What is wrong with answers in which nobody's text was mixed up.
fn unusable(landed: &[Landed]) -> Option<(CaseVerdict, String)> {
    let (garbled, defect) = fallen(landed, Fate::Garbled);
    let (good, _) = fallen(landed, Fate::Good);
    let (_, error) = fallen(landed, Fate::Refused);
    match (garbled, good) {
        (1.., _) => Some((CaseVerdict::Broken, format!("no valid answer: {defect}"))),
        (0, 0) => Some((CaseVerdict::CouldNotTell, format!("both were refused: {error}"))),
        _ => None,
    }
}

/// The one who came first asks; the other must hear nothing.
async fn overheard(bench: &Bench, first: &Session, second: &Session) -> CaseResult {
    let tap = second.tap();
    let request = first.prepare(method::TOOLS_LIST, json!({}));
    let reply = first.call(&request, bench.how()).await;
    sleep(STRAY).await;
    let case = |verdict| CHECK.case("one asks while another listens", verdict);
    match (has_response(&tap), reply.failure().is_some_and(|failure| !failure.was_answered())) {
        (true, _) => case(CaseVerdict::Broken).detail("the other one got the answer"),
        (false, true) => case(CaseVerdict::Hung)
            .detail("no answer came to the one who was there first, once another had come"),
        (false, false) => case(CaseVerdict::Held),
    }
}

fn has_response(tap: &Tap) -> bool {
    std::iter::from_fn(|| tap.pop())
        .any(|heard| matches!(jsonrpc::read(&heard.frame).message, Some(Message::Response { .. })))
}

/// Both say something of their own at the same instant.
async fn mixed_up(
    bench: &Bench,
    first: &Session,
    second: &Session,
    echo: &EchoSubject,
) -> CaseResult {
    let case = |verdict| {
        CHECK.case(format!("both ask at once, {ROUNDS} times"), verdict).tool(&echo.tool.name)
    };
    for round in 0..ROUNDS {
        let words = [format!("mcp-loadtest-one-{round}"), format!("mcp-loadtest-two-{round}")];
        let calls = [first, second].into_iter().zip(&words);
        let calls = calls.map(|(session, word)| {
            (session.clone(), prepared(session, &echo.tool, &echo.saying(word)))
        });
        let landed = at_once(calls.collect(), bench.patient()).await;
        let other = |at: usize| {
            let body = landed[at].reply.body.as_deref().unwrap_or_default();
            String::from_utf8_lossy(body).contains(words[1 - at].as_str())
        };
        if other(0) || other(1) {
            return case(CaseVerdict::Broken)
                .detail(format!("in round {} one got the answer to the other", round + 1));
        }
        if landed.iter().any(|landed| landed.is_silent()) {
            return case(CaseVerdict::Hung)
                .detail(format!("in round {} one of them was never answered", round + 1));
        }
        if let Some((verdict, why)) = unusable(&landed) {
            return case(verdict).detail(format!("in round {}: {why}", round + 1));
        }
    }
    case(CaseVerdict::Held)
}

/// Both ask for something that takes a while: each must get an answer.
async fn both_answered(
    bench: &Bench,
    first: &Session,
    second: &Session,
    slow: &SlowSubject,
) -> CaseResult {
    let call =
        |session: &Session| (session.clone(), prepared(session, &slow.tool, &slow.arguments));
    let landed = at_once(vec![call(first), call(second)], bench.patient()).await;
    let silent = landed.iter().filter(|landed| landed.is_silent()).count();
    let case = |verdict| CHECK.case("both ask for something slow", verdict).tool(&slow.tool.name);
    match (silent, unusable(&landed)) {
        (0, None) => case(CaseVerdict::Held),
        (0, Some((verdict, why))) => case(verdict).detail(why),
        _ => case(CaseVerdict::Hung).detail(format!("{silent} of 2 were never answered")),
    }
}
