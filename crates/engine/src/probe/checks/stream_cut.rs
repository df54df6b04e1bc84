//! Clients that hang up in the middle of a reply.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::method,
};
use mcp_loadtest_wire::session::{OpenError, Session, Target};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench};

pub(super) static CHECK: Check = Check {
    id: "stream_cut",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "hangs up before and in the middle of replies, many times",
    meaning: "clients that time out or lose their network wear the server out",
    run,
};

const CASE: &str = "connections cut in the middle of replies";
const CUTS: u32 = 20;
/// Half of the cuts come so soon that the reply is not there yet.
const AT_ONCE: Duration = Duration::from_millis(3);
/// So long a server may take to let go of connections that are gone.
const LETTING_GO: Duration = Duration::from_secs(3);
/// A server that keeps this part of the connections keeps them all: some end before they are cut.
const MOST: f64 = 0.75;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Http(_)) {
            return bench.skip(&CHECK, "only over Streamable HTTP has a reply its own connection");
        }
        match cut_often(bench).await {
            Ok(result) => bench.tell(result),
            Err(error) => bench.no_session(&CHECK, &error),
        }
    })
}

async fn cut_often(bench: &Bench) -> Result<CaseResult, OpenError> {
    let session = bench.session().await?;
    let case = |verdict| CHECK.case(CASE, verdict);
    // What the first cuts leave may be a cache; what every round leaves is not.
    let mut left = Vec::new();
    for _ in 0..3 {
        let before = open_files(&session);
        for number in 0..CUTS {
            cut(bench, &session, number).await?;
        }
        match bench.pulse(&session).await {
            Pulse::Gone(cause) => return Ok(case(CaseVerdict::Crashed).detail(&*cause.message)),
            Pulse::Silent => return Ok(case(CaseVerdict::Hung)),
            Pulse::Alive => {}
        }
        let Some(before) = before else {
            let why = "it lives; its open files are not known: name its process with `--pid`";
            return Ok(case(CaseVerdict::Held).detail(why));
        };
        let kept = let_go(&session, before).await;
        left.push(kept);
        if kept < f64::from(CUTS) * MOST {
            let kept = kept.max(0.0);
            return Ok(case(CaseVerdict::Held).detail(format!("{kept} of {CUTS} files kept")));
        }
    }
    let kept: f64 = left.iter().sum();
    Ok(case(CaseVerdict::Broken).detail(format!(
        "{kept} more files are open after {} cuts, and stay open",
        CUTS * left.len() as u32
    )))
}

/// How many more files are open than before, once the server had time to close them.
async fn let_go(session: &Session, before: u32) -> f64 {
    let until = Instant::now() + LETTING_GO;
    loop {
        let now = open_files(session).unwrap_or(before);
        let kept = f64::from(now) - f64::from(before);
        if kept < f64::from(CUTS) * MOST || Instant::now() >= until {
            return kept;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// A request whose reply is never read to its end: half of the cuts come before it.
async fn cut(bench: &Bench, session: &Session, number: u32) -> Result<(), OpenError> {
    let id = session.http_session_id();
    let client = Session::join(&bench.target, &bench.options, session.revision(), id).await?;
    let request = match bench.subjects().next() {
        Some((tool, arguments)) => {
            client.prepare_tool_call(&tool.name, arguments, &tool.input_schema)
        }
        None => client.prepare(method::TOOLS_LIST, json!({})),
    };
    let patience = if number.is_multiple_of(2) { AT_ONCE } else { bench.settings.hang_timeout };
    let _ = timeout(patience, client.call(&request, bench.how())).await;
    client.cut().await;
    Ok(())
}

fn open_files(session: &Session) -> Option<u32> {
    session.process()?.open_files
}
