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
/// Of one round, fewer files than these are none. A server may keep those connections only that were
/// cut before the reply, and some of these are not even open yet.
const FEW: f64 = CUTS as f64 / 4.0;
const ROUNDS: u32 = 3;

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
    let mut fewest = u32::MAX;
    // What the first cuts leave may be a cache; what every round leaves is not.
    for _ in 0..ROUNDS {
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
        fewest = fewest.min(before);
        let kept = let_go(&session, before, FEW).await;
        if kept < FEW {
            return Ok(case(CaseVerdict::Held).detail(format!("{kept} of {CUTS} files kept")));
        }
    }
    // One that is slow has closed those of the first rounds by now.
    let most = FEW * f64::from(ROUNDS);
    let kept = let_go(&session, fewest, most).await;
    if kept < most {
        return Ok(case(CaseVerdict::Held).detail("it closes them, late"));
    }
    let cuts = CUTS * ROUNDS;
    let detail = format!("{kept} more files are open after {cuts} cuts, and stay open");
    Ok(case(CaseVerdict::Broken).detail(detail))
}

/// How many more files are open than before, once the server had time to close all but a few.
async fn let_go(session: &Session, before: u32, few: f64) -> f64 {
    let until = Instant::now() + LETTING_GO;
    loop {
        let now = open_files(session).unwrap_or(before);
        let kept = f64::from(now.saturating_sub(before));
        if kept < few || Instant::now() >= until {
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
