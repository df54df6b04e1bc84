//! The first calls of a process, all at once: what is made on first use may be made twice, or never.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    event::Phase,
    outcome::ErrorCategory,
    units::format_latency,
};
use mcp_loadtest_wire::session::{Deadlines, How};

use super::{Check, Running};
use crate::probe::{
    at_once::{at_once, prepared},
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
        let of = |category| {
            landed.iter().filter(|landed| landed.reply.failure() == Some(category)).count()
        };
        let (stuck, crashed) = (of(ErrorCategory::Deadlock), of(ErrorCategory::Crash));
        let case = format!("the first {count} calls of a process at once");
        let result = if stuck > 0 {
            let waited = format_latency(bench.patience());
            let words = format!(
                "DEADLOCK DETECTED: {stuck} of {count} calls never answered within {waited}"
            );
            CHECK.case(case, CaseVerdict::Hung).detail(words)
        } else if crashed > 0 {
            let why = session.broken().map(|cause| cause.message.to_string()).unwrap_or_default();
            CHECK.case(case, CaseVerdict::Crashed).detail(why)
        } else {
            CHECK.case(case, CaseVerdict::Held)
        };
        session.close().await;
        bench.tell(result.tool(&known.tool.name));
    })
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
