//! A first call that pays for what start-up left undone. The call that showed whether a tool works
//! was such a first call; only where it was slow is it repeated, in a fresh process.

use std::time::Duration;

use mcp_loadtest_core::{
    analysis::{LAZY_INIT_CLIFF, is_cliff},
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::Tool,
    report::Severity,
    units::format_latency,
};
use mcp_loadtest_wire::session::{Owner, Reply, Session, Target};
use serde_json::Value;

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, median, prepared},
    bench::{Bench, KnownTool},
};

pub(super) static CHECK: Check = Check {
    id: LAZY_INIT_CLIFF,
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Quick,
    about: "compares the first call of a process with later ones",
    meaning: "the first user waits for what the server could have done before, and may give up",
    run,
};

/// Later calls that the first one is compared with.
const LATER: usize = 5;
const CASE: &str = "the first call of a process";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let mut tried = false;
        for known in &bench.tools {
            if let Some(good) = known.good_arguments() {
                tried = true;
                look(bench, known, good).await;
            }
        }
        if !tried {
            bench.skip(&CHECK, "no tool may be called, or none answers");
        }
    })
}

async fn look(bench: &Bench, known: &KnownTool, good: &Value) {
    let first = Duration::from_secs_f64(known.control.took_ms.unwrap_or_default() / 1e3);
    let held = || CHECK.case(CASE, CaseVerdict::Held).tool(&known.tool.name);
    // Whatever later calls take, this is no cliff: nobody needs to make them.
    if !is_cliff(first, Duration::ZERO, Duration::ZERO) {
        return bench.tell(held());
    }
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let result = match later(bench, &session, &known.tool, good, first / 4).await {
        Err(failed) => {
            let could_not = CHECK.case(CASE, CaseVerdict::CouldNotTell);
            let why = format!("later calls fail: {}", failed.message);
            bench.unless_dead(&session, could_not.detail(why)).await
        }
        Ok(Some((steady, worst))) if is_cliff(first, steady, worst) => {
            look_again(bench, known, good, first, (steady, worst)).await
        }
        Ok(_) => held(),
    };
    bench.tell(result.tool(&known.tool.name));
}

/// The first call of another process, where that of the one at hand took long.
async fn look_again(
    bench: &Bench,
    known: &KnownTool,
    good: &Value,
    first: Duration,
    (steady, unlucky): (Duration, Duration),
) -> CaseResult {
    match again(bench, &known.tool, good).await {
        Some(reply) if Fate::of(&reply) != Fate::Good => CHECK
            .case(CASE, CaseVerdict::CouldNotTell)
            .detail(format!("in another process it fails: {}", reply.message)),
        Some(reply) if is_cliff(reply.took(), steady, unlucky) => {
            let first = reply.took();
            let times = first.as_secs_f64() / steady.as_secs_f64().max(1e-6);
            let (first, steady) = (format_latency(first), format_latency(steady));
            CHECK
                .case(CASE, CaseVerdict::Broken)
                .severity(Severity::Warning)
                .detail(format!("{first}, later ones {steady} (median): {times:.0} times as long"))
        }
        Some(_) => CHECK.case(CASE, CaseVerdict::Held).detail("slow once, and not again"),
        None => CHECK.case(CASE, CaseVerdict::CouldNotTell).detail(format!(
            "{}, later ones {}; the process cannot be started anew to be sure",
            format_latency(first),
            format_latency(steady)
        )),
    }
}

/// The median and the longest of later calls; nothing where one takes longer than `most`: then the
/// tool is slow by nature. One that fails says nothing about how long it takes.
async fn later(
    bench: &Bench,
    session: &Session,
    tool: &Tool,
    good: &Value,
    most: Duration,
) -> Result<Option<(Duration, Duration)>, Reply> {
    let request = prepared(session, tool, good);
    // The session may be of another process: its own first call does not count.
    session.call(&request, bench.patient()).await;
    let mut times = Vec::new();
    for _ in 0..LATER {
        // To give it up would be to cancel it, which is another check's business.
        let reply = session.call(&request, bench.patient()).await;
        if Fate::of(&reply) != Fate::Good {
            return Err(reply);
        }
        if reply.took() > most {
            return Ok(None);
        }
        times.push(reply.took());
    }
    let longest = times.iter().max().copied().unwrap_or_default();
    Ok(Some((median(times), longest)))
}

/// The first call once more, where a fresh process is to be had.
async fn again(bench: &Bench, tool: &Tool, good: &Value) -> Option<Reply> {
    let is_ours = match &bench.target {
        Target::Stdio(_) => true,
        Target::Http(address) | Target::Sse(address) | Target::WebSocket(address) => {
            matches!(address.owner, Owner::Ours(_))
        }
    };
    if !is_ours {
        return None;
    }
    let session = bench.newborn().await.ok()?;
    let reply = session.call(&prepared(&session, tool, good), bench.patient()).await;
    session.close().await;
    Some(reply)
}
