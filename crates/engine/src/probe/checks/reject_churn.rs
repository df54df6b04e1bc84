//! Memory that is kept of requests that were refused.

use std::{cell::Cell, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    report::Severity,
};
use mcp_loadtest_wire::session::{OpenError, Outgoing, RawHttp, Session, Target};
use serde_json::json;
use tokio::time::Instant;

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    growth::{Work, ended},
    seen::{Seen, answers},
};

pub(super) static CHECK: Check = Check {
    id: "reject_churn",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes many requests that are refused and looks whether the server's memory grows",
    meaning: "a health check or a broken client is enough to fill the server's memory",
    run,
};

const CASE: &str = "memory kept of refused requests";

const WORK: Work = Work {
    unit: "refused request",
    units: 250,
    warm_up: 50,
    allowed: 2e3,
    severity: Severity::Critical,
};

/// What is not refused within this is left out: some servers wait for what would make it good.
const PROMPT: Duration = Duration::from_millis(300);

const NO_METHOD: &str = "mcp-loadtest/no-such-method";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let result = match &bench.target {
            Target::Http(_) => over_http(bench).await,
            _ => over_a_stream(bench).await,
        };
        match result {
            Ok(result) => bench.tell(result),
            Err(error) => bench.no_session(&CHECK, &error),
        }
    })
}

type Told = Result<CaseResult, OpenError>;

/// Every kind of request that this server refuses at once, in turn.
async fn over_http(bench: &Bench) -> Told {
    let session = bench.session().await?;
    let mut kinds = Vec::new();
    for kind in 0..KINDS {
        let began = Instant::now();
        let seen = send(bench, &session, &refusable(bench, kind)).await;
        if (seen.is_refusal() || matches!(seen, Seen::Status { .. })) && began.elapsed() < PROMPT {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        let case = CHECK.case(CASE, CaseVerdict::CouldNotTell);
        return Ok(case.detail("the server refuses nothing of what was tried"));
    }
    let mut next = 0;
    let act = async || {
        next = (next + 1) % kinds.len();
        match send(bench, &session, &refusable(bench, kinds[next])).await {
            gone @ Seen::Gone(_) => Err(ended(&CHECK, CASE, true, gone.words())),
            silent @ Seen::Silent { .. } => Err(ended(&CHECK, CASE, false, silent.words())),
            _ => Ok(()),
        }
    };
    Ok(WORK.measure(bench, session.pid(), act, &|verdict| CHECK.case(CASE, verdict)).await)
}

const KINDS: usize = 6;

fn refusable(bench: &Bench, kind: usize) -> (Outgoing, Option<u64>) {
    let id = bench.raw_id();
    let request = |method: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string().into()
    };
    let listed = || RawHttp::post(request("tools/list"));
    let http = match kind {
        0 => listed().header("Accept", Some("text/plain")),
        1 => listed().header("Mcp-Session-Id", None).header("MCP-Protocol-Version", None),
        2 => listed().header("MCP-Protocol-Version", Some("1900-01-01")),
        3 => RawHttp::post(request(NO_METHOD)),
        4 => RawHttp::post(b"{\"jsonrpc\": \"2.0\", \"id\":".to_vec()),
        _ => RawHttp { verb: "GET", ..RawHttp::post(Vec::new()) }
            .header("Accept", Some("text/plain")),
    };
    (Outgoing::Http(http), Some(id))
}

async fn send(bench: &Bench, session: &Session, (out, id): &(Outgoing, Option<u64>)) -> Seen {
    let patience = bench.settings.hang_timeout;
    let reply = session.exchange_raw(out, patience, |frame| answers(frame, *id)).await;
    Seen::of_raw(&reply, *id, patience)
}

/// Lines that are no messages, which most servers drop, and requests that are refused.
async fn over_a_stream(bench: &Bench) -> Told {
    let session = bench.fresh().await?;
    let request = session.prepare(NO_METHOD, json!({}));
    let bad = Cell::new(false);
    let act = async || {
        bad.set(!bad.get());
        if bad.get() {
            session.send_raw(&Outgoing::Frame(b"{\"jsonrpc\": \"2.0\", \"id\":".to_vec()));
            return Ok(());
        }
        match Seen::of_reply(&session.call(&request, bench.how()).await, session.broken()) {
            gone @ Seen::Gone(_) => Err(ended(&CHECK, CASE, true, gone.words())),
            silent @ Seen::Silent { .. } => Err(ended(&CHECK, CASE, false, silent.words())),
            _ => Ok(()),
        }
    };
    let case = |verdict| CHECK.case(CASE, verdict);
    let result = WORK.measure(bench, session.pid(), act, &case).await;
    session.close().await;
    Ok(result)
}
