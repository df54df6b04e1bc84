//! The first calls of a process, all at once: what is made on first use may be made twice, or never.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    event::Phase,
    outcome::ErrorCategory,
    units::format_latency,
};
use mcp_loadtest_wire::session::{Deadlines, How};

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, at_once, fallen, prepared},
    bench::Bench,
};

pub(super) static CHECK: Check = Check {
    id: "deadlock",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes the first calls of a fresh process all at the same instant",
    meaning: "a client that begins with several calls waits for ever, and only a restart helps",
    run,
};

const CALLS: usize = 20;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let callable = bench.tools.iter().find(|known| known.good_arguments().is_some());
        let subject = callable.and_then(|known| Some((known, known.good_arguments()?)));
        let Some((known, good)) = subject else {
            return bench.skip(&CHECK, "no tool may be called, or none answers");
        };
        let session = match bench.newborn().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let count = bench.affordable(known, CALLS);
        let request = prepared(&session, &known.tool, good);
        let landed = at_once(vec![(session.clone(), request); count], watched(bench)).await;
        let mut result = judge(bench, &landed);
        if result.verdict != CaseVerdict::Hung {
            result = bench.unless_dead(&session, result).await;
        }
        session.close().await;
        bench.tell(result.tool(&known.tool.name));
    })
}

fn judge(bench: &Bench, landed: &[Landed]) -> CaseResult {
    let count = landed.len();
    let case =
        |verdict| CHECK.case(format!("the first {count} calls of a process at once"), verdict);
    let is_stuck = |landed: &&Landed| landed.reply.failure() == Some(ErrorCategory::Deadlock);
    let stuck = landed.iter().filter(is_stuck).count();
    if stuck > 0 {
        let waited = format_latency(bench.patience());
        return case(CaseVerdict::Hung).detail(format!(
            "DEADLOCK DETECTED: {stuck} of {count} calls never answered within {waited}"
        ));
    }
    match (fallen(landed, Fate::Lost), fallen(landed, Fate::Garbled), fallen(landed, Fate::Refused))
    {
        ((lost @ 1.., why), ..) => case(CaseVerdict::Broken)
            .detail(format!("{lost} of {count} calls were never answered: {why}")),
        (_, (garbled @ 1.., why), _) => case(CaseVerdict::Broken)
            .detail(format!("{garbled} of {count} calls got no valid answer: {why}")),
        // An error is an answer, and whether it comes of the others beside it cannot be seen here.
        (.., (refused, why)) if refused == count => case(CaseVerdict::CouldNotTell)
            .detail(format!("none of {count} calls succeeded, though one did before: {why}")),
        _ => case(CaseVerdict::Held),
    }
}

/// Under the watchdog that runs have: it looks at the process and asks whether anything is answered.
fn watched(bench: &Bench) -> How {
    let deadlines = Deadlines {
        hang: bench.settings.hang_timeout,
        grace: bench.settings.grace_period,
        timeout: Duration::MAX,
    };
    How::new(Phase::Load, deadlines)
}
