//! Two requests in one list.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::Revision,
    report::Severity,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    asking::{Pulse, Sent},
    bench::Bench,
    frames::{GoodRequest, Taking, judge, look_for_damage},
    seen::{Seen, is_ours},
};

pub(super) static CHECK: Check = Check {
    id: "batch",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends two requests in one list, and an empty list",
    meaning: "a client of the revision that has batches is not answered, or a list ends the server",
    run,
};

const MUST_RECEIVE: &str =
    "MCP 2025-03-26, batching: implementations MUST support receiving batches";
const REMOVED: &str = "MCP 2025-06-18, changes: batching was removed";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        two_requests(bench).await;
        empty_list(bench).await;
        look_for_damage(bench, &CHECK).await;
    })
}

async fn two_requests(bench: &Bench) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let (one, two) = (GoodRequest::cheap(bench, &session), GoodRequest::cheap(bench, &session));
    let out = one.sending(json!([one.json, two.json]).to_string().into_bytes());
    // The second answer is the last, unless both come in one list.
    let sent = bench.send_to(&session, &out, &|theirs| is_ours(theirs, Some(two.id))).await;
    let answered = [one.id, two.id].iter().filter(|id| has_result(&sent.frames, **id)).count();
    let result = match (&sent.seen, &sent.pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_) | Pulse::Silent) => {
            judge(&CHECK, CASE, Taking::IsFine, &sent)
        }
        _ => judge_answers(session.revision(), answered, &sent),
    };
    bench.tell(result.sent(out.bytes()));
}

const CASE: &str = "two requests in one list";

fn judge_answers(revision: Revision, answered: usize, sent: &Sent) -> CaseResult {
    match (revision, answered) {
        (Revision::V2025_03_26, 2) => CHECK.case(CASE, CaseVerdict::Held),
        (Revision::V2025_03_26, _) => CHECK
            .case(CASE, CaseVerdict::Broken)
            .severity(Severity::Warning)
            .reference(MUST_RECEIVE)
            .detail(format!("{answered} of 2 requests were answered; {}", sent.seen.words())),
        // The first revision does not say; JSON-RPC itself has batches.
        (Revision::V2024_11_05, _) => judge(&CHECK, CASE, Taking::IsFine, sent),
        (_, 1) => CHECK
            .case(CASE, CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail("one of two requests was answered"),
        (_, 2) => CHECK
            .case(CASE, CaseVerdict::Accepted)
            .severity(Severity::Info)
            .reference(REMOVED)
            .detail("both requests were answered"),
        _ => judge(&CHECK, CASE, Taking::IsFine, sent),
    }
}

/// Whether a frame, or one of a list of them, is a result for this id.
fn has_result(frames: &[Vec<u8>], id: u64) -> bool {
    let is_result = |message: &Value| message["id"] == id && message.get("result").is_some();
    frames.iter().any(|frame| match serde_json::from_slice(frame) {
        Ok(Value::Array(messages)) => messages.iter().any(is_result),
        Ok(message) => is_result(&message),
        Err(_) => false,
    })
}

async fn empty_list(bench: &Bench) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let good = GoodRequest::cheap(bench, &session);
    let out = good.sending(b"[]".to_vec());
    let sent = good.send(bench, &session, &out).await;
    bench.tell(judge(&CHECK, "an empty list", Taking::IsFine, &sent).sent(out.bytes()));
}
