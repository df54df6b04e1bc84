//! Cancelling what is not there: a request that was never sent, and one that was answered already.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    jsonrpc::{self, Id, Message},
    mcp::method,
    report::Severity,
};
use mcp_loadtest_wire::session::{Session, Tap};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "cancel_unknown",
    family: Family::Cancellation,
    taxonomy: None,
    depth: Depth::Quick,
    about: "cancels requests that were never sent or are over",
    meaning: "a client whose cancellation crosses the answer, as happens every day, harms the server",
    run,
};

const REFERENCE: &str = "MCP cancellation: a cancellation of an unknown or completed request may be \
                         ignored, and a notification is never answered";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let never = "cancelled a request that was never sent";
        cancelled(bench, never, Target::Never(json!(bench.raw_id()))).await;
        let text = "cancelled a request that was never sent, by an id that is a text";
        cancelled(bench, text, Target::Never(json!("mcp-loadtest-never"))).await;
        cancelled(bench, "cancelled a request that was answered already", Target::Answered).await;
    })
}

/// What is cancelled.
enum Target {
    Never(Value),
    Answered,
}

async fn cancelled(bench: &Bench, case: &str, target: Target) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let id = match target {
        Target::Never(id) => id,
        Target::Answered => json!(answered(bench, &session).await),
    };
    let tap = session.tap();
    let params = json!({ "requestId": id, "reason": "a test" });
    let told = session.notify(method::CANCELLED, params);
    let _ = tokio::time::timeout(bench.patience(), told).await;
    let result = match bench.death(&session).await {
        Some((verdict, why)) => {
            bench.drop_shared().await;
            CHECK.case(case, verdict).detail(why)
        }
        None if was_answered(&tap, &id) => CHECK
            .case(case, CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail("the notification was answered")
            .reference(REFERENCE),
        None => CHECK.case(case, CaseVerdict::Held),
    };
    bench.tell(result);
}

/// The id of a request that is over.
async fn answered(bench: &Bench, session: &Session) -> u64 {
    let mut call = session.send(&session.control_request(), bench.patient());
    let id = call.id();
    call.ended().await;
    id
}

fn was_answered(tap: &Tap, cancelled: &Value) -> bool {
    std::iter::from_fn(|| tap.pop()).any(|heard| match jsonrpc::read(&heard.frame).message {
        Some(Message::Response { id: Id::Number(id), .. }) => *cancelled == json!(id),
        Some(Message::Response { id: Id::Other(id), .. }) => {
            id == b"null" || serde_json::from_slice(id).is_ok_and(|id: Value| id == *cancelled)
        }
        _ => false,
    })
}
