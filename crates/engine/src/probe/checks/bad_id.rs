//! Ids that are neither text nor a whole number; and one that is text, which must come back as it
//! went.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    jsonrpc::Id,
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{GoodRequest, Taking, judge, look_for_damage},
};

pub(super) static CHECK: Check = Check {
    id: "bad_id",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends ids that are null, an object, a fraction, and one that is text",
    meaning: "answers cannot be told apart, or an id of the wrong type ends the server",
    run,
};

const REFERENCE: &str = "MCP base protocol: a request id MUST be a string or an integer, not null";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let ids = [
            ("`null` as id", Value::Null),
            ("an object as id", json!({ "a": 1 })),
            ("a list as id", json!([1])),
            ("1.5 as id", json!(1.5)),
            ("`true` as id", json!(true)),
        ];
        for (case, id) in ids {
            let session = match bench.session().await {
                Ok(session) => session,
                Err(error) => return bench.no_session(&CHECK, &error),
            };
            let good = GoodRequest::cheap(bench, &session);
            let out = good.with(|json| json["id"] = id.clone());
            // Whoever takes it gives it back as it came, or whatever he made of it.
            let sent = bench.send_to(&session, &out, &|theirs| !is_of_a_session(theirs)).await;
            bench.tell(judge(&CHECK, case, Taking::IsWrong(REFERENCE), &sent).sent(out.bytes()));
        }
        // Some servers take a text that looks like a number for one.
        for text in ["mcp-loadtest", "70"] {
            match bench.session().await {
                Ok(session) => text_comes_back(bench, &session, text).await,
                Err(error) => return bench.no_session(&CHECK, &error),
            }
        }
        look_for_damage(bench, &CHECK).await;
    })
}

/// Sessions count from one: such an answer belongs to a request of theirs.
fn is_of_a_session(id: &Id<'_>) -> bool {
    matches!(id, Id::Number(1..))
}

async fn text_comes_back(bench: &Bench, session: &Session, id: &str) {
    let good = GoodRequest::cheap(bench, session);
    let quoted = json!(id).to_string();
    let out = good.with(|json| json["id"] = json!(id));
    // Our own reader is lenient: it takes such a text for a number.
    let id_of =
        |frame: &[u8]| Some(serde_json::from_slice::<Value>(frame).ok()?.get("id")?.clone());
    let is_same = |frame: &[u8]| id_of(frame).is_some_and(|theirs| theirs == id);
    let number: Option<u64> = id.parse().ok();
    let is_number = |frame: &[u8]| {
        number.is_some() && id_of(frame).is_some_and(|theirs| theirs.as_u64() == number)
    };
    let answers = |frame: &[u8]| is_same(frame) || is_number(frame);
    let patience = bench.settings.hang_timeout + bench.settings.grace_period;
    let reply = session.exchange_raw(&out, patience, answers).await;
    let said = reply.frames.last().map(|heard| heard.frame.clone()).unwrap_or_default();
    let turned = is_number(&said);
    let said = mcp_loadtest_core::display::visible_bytes(&said, 160);
    let case = |verdict| CHECK.case(format!("the text {quoted} as id"), verdict).sent(out.bytes());
    bench.tell(match (reply.answered, reply.gone, reply.status) {
        (true, ..) if turned => case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail("it came back as a number")
            .reference("JSON-RPC 2.0, section 5: the id MUST be the same as in the request"),
        (true, ..) => case(CaseVerdict::Held),
        (false, Some(cause), _) => case(CaseVerdict::Crashed).detail(cause.message.to_string()),
        (false, None, Some(status @ 400..)) => case(CaseVerdict::Broken)
            .detail(format!("HTTP {status}: {said}"))
            .severity(Severity::Warning)
            .reference(REFERENCE),
        _ => case(CaseVerdict::Broken)
            .detail(format!("no answer to this id came; the last message was {said:?}"))
            .reference(REFERENCE),
    });
}
