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
    last_words_of,
    seen::{Seen, answers},
};

pub(super) static CHECK: Check = Check {
    id: "reject_churn",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes many requests that are refused and looks whether the server's memory grows",
    meaning: "a health check or a broken client is enough to fill the server's memory, or to end it",
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

/// A message that ends in the middle.
const CUT_OFF: &[u8] = b"{\"jsonrpc\": \"2.0\", \"id\":";

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
        let request = refusable(bench, kinds[next]);
        let (out, _) = &request;
        match send(bench, &session, &request).await {
            gone @ Seen::Gone(_) => {
                let told = format!("{}{}", gone.words(), last_words_of(&session));
                Err(ended(&CHECK, CASE, true, told).sent(out.bytes()))
            }
            silent @ Seen::Silent { .. } => {
                Err(ended(&CHECK, CASE, false, silent.words()).sent(out.bytes()))
            }
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
        4 => RawHttp::post(CUT_OFF.to_vec()),
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
    let sent = Cell::new(0_u64);
    let act = async || {
        sent.set(sent.get() + 1);
        if sent.get() % 2 == 1 {
            session.send_raw(&Outgoing::Frame(CUT_OFF.to_vec()));
            return Ok(());
        }
        match Seen::of_reply(&session.call(&request, bench.how()).await, session.broken()) {
            gone @ Seen::Gone(_) => {
                let told = format!("{}{}", gone.words(), last_words_of(&session));
                let requests = [CUT_OFF.to_vec(), request.frame(0).to_vec()];
                Err(blamed(bench, told, sent.get(), requests).await)
            }
            silent @ Seen::Silent { .. } => Err(ended(&CHECK, CASE, false, silent.words())),
            _ => Ok(()),
        }
    };
    let case = |verdict| CHECK.case(CASE, verdict);
    let result = WORK.measure(bench, session.pid(), act, &case).await;
    session.close().await;
    Ok(result)
}

/// Says of which message the server died. A death shows only with the next answer that does not come, so
/// each of them is sent alone to a server of its own.
async fn blamed(bench: &Bench, told: String, sent: u64, requests: [Vec<u8>; 2]) -> CaseResult {
    for request in requests {
        let Ok(session) = bench.fresh().await else { break };
        let tried = bench.send_to(&session, &Outgoing::Frame(request.clone()), &|_| false).await;
        let is_deadly = matches!(tried.seen, Seen::Gone(_));
        session.close().await;
        if is_deadly {
            return ended(&CHECK, CASE, true, format!("one message is enough: {told}"))
                .sent(&request);
        }
    }
    let why = format!("after {sent} messages, of which none is deadly alone: {told}");
    ended(&CHECK, CASE, true, why)
}
