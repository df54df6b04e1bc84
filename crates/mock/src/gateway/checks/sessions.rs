//! A server that has forgotten the session: do later calls work again?

use std::time::Duration;

use mcp_loadtest_core::mcp::Era;
use mcp_loadtest_wire::session::{How, Session};
use serde_json::json;
use tokio::time::sleep;

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "sessions",
    about: "When the server has forgotten the session (404), later calls work again.",
    advice: "On 404, shake hands with the server anew; or answer the client with 404, so that it \
             does. A client over pipes cannot: there it is up to the gateway.",
    run: |bench| Box::pin(run(bench)),
};

/// The session of one call is gone from there on.
const FAULT: &str = "session-lost@tool=echo,nth=1";
/// How often a call is tried after the one that found the session gone.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(300);

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let session = bench.session().await?;
    let mark = bench.upstream.mark();
    if !answers(bench, &session).await?.is_empty() {
        return Err(Untold::because("a plain call fails even before the session is lost"));
    }
    let row = bench.upstream.calls(mark, "echo").pop();
    if !row.is_some_and(|row| row.era == Some(Era::Legacy) && row.session.is_some()) {
        return Ok(Finding::not_applicable("gateway and server have no session to lose"));
    }
    bench.upstream.set_fault(Some(FAULT));
    let mut got = Vec::new();
    for attempt in 0..=TRIES {
        let failed = answers(bench, &session).await?;
        if failed.is_empty() {
            bench.renew().await;
            return Ok(recovered(attempt, got.first()));
        }
        got.push(failed);
        if session.is_broken() {
            break;
        }
        sleep(PAUSE).await;
    }
    let gone = session.broken().and_then(|broken| broken.code) == Some(404);
    drop(session);
    bench.renew().await;
    Ok(after_all(bench, gone, &got).await)
}

/// What a call got; nothing if all is well.
async fn answers(bench: &Bench, session: &Session) -> Result<String, Untold> {
    let call = bench.prepare(session, "echo", json!({ "message": bench.marker() }))?;
    let reply = session.call(&call, How::setup(bench.patience)).await;
    Ok(reply.failure().map(|_| told(&reply)).unwrap_or_default())
}

fn recovered(attempt: usize, first: Option<&String>) -> Finding {
    let finding = match first {
        None => Finding::kept("the client noticed nothing"),
        Some(first) => {
            Finding::kept(format!("call {} works again; the first got {first}", attempt + 1))
        }
    };
    finding.figure("calls_lost", attempt as f64)
}

/// The session of the client did not survive. That is well if the client was told, as MCP has it.
async fn after_all(bench: &Bench, told_404: bool, got: &[String]) -> Finding {
    let again = match bench.session().await {
        Ok(session) => answers(bench, &session).await.unwrap_or_else(|untold| untold.0),
        Err(untold) => untold.0,
    };
    let lost = got.len() as f64;
    let first = got.first().map(String::as_str).unwrap_or_default();
    let last = got.last().map(String::as_str).unwrap_or_default();
    if told_404 && again.is_empty() {
        return Finding::kept("the client was told with 404, and a new session works")
            .figure("calls_lost", lost);
    }
    let finding =
        Finding::broken(format!("all {} calls failed: first {first}, last {last}", got.len()));
    let finding = match again.as_str() {
        "" => finding.and("a new session of the client works, but nobody told it to begin one"),
        why => finding.and(format!("a new session of the client does not help: {why}")),
    };
    finding.figure("calls_lost", lost)
}
