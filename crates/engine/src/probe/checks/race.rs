//! Identical calls at the same instant must be answered alike, and each by its own answer.
//!
//! What differs from call to call anyway (clocks, counters) is learnt from calls one after another,
//! before and after: only what differs besides shows a race.

use std::{collections::BTreeSet, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::Tool,
    report::Severity,
    stats::race::compare_results,
};
use mcp_loadtest_wire::session::{Session, Target};
use serde_json::Value;
use tokio::time::Instant;

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, at_once, fallen, prepared},
    bench::{Bench, KnownTool},
    echo_subject::EchoSubject,
};

pub(super) static CHECK: Check = Check {
    id: "race",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes identical calls at once and compares the answers",
    meaning: "users who ask at the same moment get wrong answers, or those of others",
    run,
};

const CALLS: usize = 20;
/// Calls one after another on each session, before and after.
const IN_A_ROW: usize = 5;
/// Sessions that share a server.
const SESSIONS: usize = 4;
const MOST_TOOLS: usize = 3;
/// A tool that takes longer is not called so often …
const FAST: Duration = Duration::from_millis(100);
/// … unless only its first call was slow: it is tried again so often.
const MORE_TRIES: usize = 3;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let mut sessions = match bench.session().await {
            Ok(session) => vec![session],
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let mut subjects = Vec::new();
        for known in &bench.tools {
            let Some(good) = known.good_arguments() else { continue };
            if subjects.len() < MOST_TOOLS && is_fast(bench, &sessions[0], known, good).await {
                subjects.push((&known.tool, good));
            }
        }
        if subjects.is_empty() {
            return bench.skip(&CHECK, "no tool may be called, or none is fast enough");
        }
        look(bench, &sessions, &subjects).await;
        if sessions[0].is_broken() {
            return;
        }
        // Over pipes every session has a process of its own, and nothing to share.
        if !matches!(bench.target, Target::Stdio(_)) {
            while sessions.len() < SESSIONS {
                match bench.fresh().await {
                    Ok(session) => sessions.push(session),
                    Err(error) => return bench.no_session(&CHECK, &error),
                }
            }
            look(bench, &sessions, &subjects).await;
            for session in sessions.drain(1..) {
                session.close().await;
            }
        }
    })
}

async fn is_fast(bench: &Bench, session: &Session, known: &KnownTool, good: &Value) -> bool {
    if known.control.took_ms.is_some_and(|ms| ms < FAST.as_secs_f64() * 1e3) {
        return true;
    }
    let request = prepared(session, &known.tool, good);
    for _ in 0..MORE_TRIES {
        let begun = Instant::now();
        session.call(&request, bench.patient()).await;
        if begun.elapsed() < FAST {
            return true;
        }
    }
    false
}

async fn look(bench: &Bench, sessions: &[Session], subjects: &[(&Tool, &Value)]) {
    let over = match sessions.len() {
        1 => String::new(),
        count => format!(" over {count} sessions"),
    };
    for (tool, good) in subjects {
        let case = format!("{CALLS} identical calls at once{over}");
        let mut result = alike(bench, sessions, &case, tool, good).await;
        if result.fails() {
            // Once may be a value that happened to change.
            result = alike(bench, sessions, &case, tool, good).await;
        }
        if !tell(bench, &sessions[0], result.tool(&tool.name)).await {
            return;
        }
    }
    if let Some(echo) = bench.echo_subject(&sessions[0]).await {
        let case = format!("{CALLS} calls with texts of their own at once{over}");
        let (mut result, told) = own_texts(bench, sessions, case.clone(), &echo).await;
        if result.fails() && told != Told::AnotherCall {
            // Once may be a connection that somebody on the way has cut.
            result = own_texts(bench, sessions, case, &echo).await.0;
        }
        tell(bench, &sessions[0], result.tool(&echo.tool.name)).await;
    }
}

/// Tells a result, or the death that explains it, and whether the server lives.
async fn tell(bench: &Bench, session: &Session, result: CaseResult) -> bool {
    let result = bench.unless_held(session, result).await;
    let lives = !matches!(result.verdict, CaseVerdict::Crashed | CaseVerdict::Hung);
    bench.tell(result);
    lives
}

/// Whose text the first wrong answer told, if one was wrong.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    /// That of another call: seen once, it is proven.
    AnotherCall,
    Nobody,
}

/// Whether each of many calls at once gets the text that it sent.
async fn own_texts(
    bench: &Bench,
    sessions: &[Session],
    case: String,
    echo: &EchoSubject,
) -> (CaseResult, Told) {
    let text = |n: usize| format!("mcp-loadtest-race-{n:03}");
    let calls = (0..CALLS).map(|n| {
        let session = &sessions[n % sessions.len()];
        (session.clone(), prepared(session, &echo.tool, &echo.saying(&text(n))))
    });
    let landed = at_once(calls.collect(), bench.patient()).await;
    let has = |landed: &Landed, n| {
        let body = landed.reply.body.as_deref().unwrap_or_default();
        String::from_utf8_lossy(body).contains(&text(n))
    };
    let good = landed.iter().enumerate().filter(|(_, l)| l.reply.failure().is_none());
    let mut wrong: Vec<_> = good
        .filter(|(n, landed)| !has(landed, *n))
        .map(|(n, landed)| (n, (0..CALLS).find(|other| has(landed, *other))))
        .collect();
    // What is proven comes first.
    wrong.sort_by_key(|(_, other)| other.is_none());
    let Some((n, other)) = wrong.first() else {
        let result = failed(&case, &landed).unwrap_or_else(|| CHECK.case(case, CaseVerdict::Held));
        return (result, Told::Nobody);
    };
    let (first, told) = match other {
        Some(other) => (format!("call {n} got the answer to call {other}"), Told::AnotherCall),
        None => (format!("call {n} got an answer without its text"), Told::Nobody),
    };
    let detail = format!("{first}, and {} more are wrong", wrong.len() - 1);
    (CHECK.case(case, CaseVerdict::Broken).detail(detail), told)
}

/// What is wrong with calls that got no answer, or one that is no result; calls one after another do.
fn failed(case: &str, landed: &[Landed]) -> Option<CaseResult> {
    let broken = |why: String| CHECK.case(case, CaseVerdict::Broken).detail(why);
    let (lost, _) = fallen(landed, Fate::Lost);
    let (garbled, defect) = fallen(landed, Fate::Garbled);
    let (refused, error) = fallen(landed, Fate::Refused);
    match (lost, garbled, refused) {
        (0, 0, 0) => None,
        (0, 0, _) => Some(
            broken(format!("{refused} of {CALLS} failed, calls one after another do not: {error}"))
                .severity(Severity::Warning),
        ),
        (0, _, _) => Some(broken(format!("{garbled} of {CALLS} got no valid answer: {defect}"))),
        _ => Some(broken(format!("{lost} of {CALLS} were never answered"))),
    }
}

/// Whether calls at once are answered as calls one after another are.
async fn alike(
    bench: &Bench,
    sessions: &[Session],
    case: &str,
    tool: &Tool,
    good: &Value,
) -> CaseResult {
    let mut in_a_row = one_by_one(bench, sessions, tool, good).await;
    let calls = (0..CALLS).map(|n| {
        let session = &sessions[n % sessions.len()];
        (session.clone(), prepared(session, tool, good))
    });
    let landed = at_once(calls.collect(), bench.patient()).await;
    let mut all = in_a_row.clone();
    all.extend(landed.iter().filter_map(|landed| answer(&landed.reply)));
    in_a_row.extend(one_by_one(bench, sessions, tool, good).await);
    if in_a_row.len() < 2 * IN_A_ROW * sessions.len() {
        return CHECK
            .case(case, CaseVerdict::CouldNotTell)
            .detail("calls one after another fail now and then as well");
    }
    let known = differing(&in_a_row);
    let news: Vec<String> = compare_results(&all)
        .divergent_paths
        .into_iter()
        .filter(|path| is_new(path, &known))
        .collect();
    match (failed(case, &landed), news.first()) {
        (Some(failed), _) if failed.fails() => failed,
        (_, Some(path)) => CHECK.case(case, CaseVerdict::Broken).detail(format!(
            "answers differ at `{path}`, which {} calls one after another never did",
            in_a_row.len()
        )),
        (Some(failed), None) => failed,
        (None, None) => CHECK.case(case, CaseVerdict::Held),
    }
}

async fn one_by_one(bench: &Bench, sessions: &[Session], tool: &Tool, good: &Value) -> Vec<Value> {
    let mut answers = Vec::new();
    for session in sessions {
        let request = prepared(session, tool, good);
        for _ in 0..IN_A_ROW {
            answers.extend(answer(&session.call(&request, bench.patient()).await));
        }
    }
    answers
}

fn answer(reply: &mcp_loadtest_wire::session::Reply) -> Option<Value> {
    reply.failure().is_none().then(|| reply.json())?
}

/// The places at which answers differ, by design or not.
fn differing(answers: &[Value]) -> BTreeSet<String> {
    let found = compare_results(answers);
    let volatile = found.volatile_paths.into_iter().map(|volatile| volatile.path);
    volatile.chain(found.divergent_paths).collect()
}

/// Whether nothing that differs anyway lies at the place, above it or below.
fn is_new(path: &str, known: &BTreeSet<String>) -> bool {
    !known.iter().any(|known| path.starts_with(known.as_str()) || known.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_anyway_is_no_news() {
        let known = ["/a/now".to_owned()].into();
        assert!(!is_new("/a/now", &known));
        assert!(!is_new("/a", &known));
        assert!(is_new("/b", &known));
        assert!(!is_new("/b", &["".to_owned()].into()), "answers that differ as a whole");
    }
}
