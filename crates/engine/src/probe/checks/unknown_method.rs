//! A method that does not exist.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    report::Severity,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    asking::Pulse,
    bench::Bench,
    frames::{GoodRequest, Taking, judge as judge_frame, look_for_damage},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "unknown_method",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Quick,
    about: "sends requests and a notification with a method that does not exist",
    meaning: "a newer client asks for what this server does not know, and must be told so",
    run,
};

const METHOD: &str = "mcp-loadtest/no-such-method";
const REFERENCE: &str = "JSON-RPC 2.0, section 5.1: method not found is -32601";
const NOTIFICATION: &str = "JSON-RPC 2.0, section 4.1: a notification is not answered";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        request(bench).await;
        if bench.settings.depth > Depth::Quick {
            odd_request(bench, "null", Value::Null).await;
            odd_request(bench, "text", json!("text")).await;
            odd_request(bench, "a list", json!([1])).await;
            notification(bench).await;
        }
        look_for_damage(bench, &CHECK).await;
    })
}

async fn request(bench: &Bench) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let request = session.prepare(METHOD, json!({}));
    let (seen, pulse) = bench.ask(&session, &request).await;
    let words = match &pulse {
        Pulse::Gone(cause) if seen.is_answer() => {
            format!("{}; afterwards: {}", seen.words(), cause.message)
        }
        _ => seen.words(),
    };
    bench.tell(judge(&seen, &pulse).detail(words));
}

fn judge(seen: &Seen, pulse: &Pulse) -> CaseResult {
    let case = |verdict| CHECK.case("a method that does not exist", verdict);
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Taken { .. } | Seen::ToolError { .. }, _) => case(CaseVerdict::Accepted),
        (Seen::Silent { .. }, _) => case(CaseVerdict::Broken).severity(Severity::Warning),
        (Seen::Garbled { .. }, _) => case(CaseVerdict::Broken),
        (Seen::Refused { code: -32601, .. }, _) => case(CaseVerdict::Rejected),
        (Seen::Refused { .. } | Seen::Status { .. }, _) => {
            case(CaseVerdict::Rejected).severity(Severity::Warning).reference(REFERENCE)
        }
    }
}

/// Which of the two mistakes is told does not matter.
async fn odd_request(bench: &Bench, kind: &str, params: Value) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let good = GoodRequest::new(bench, &session, METHOD, json!({}));
    let out = good.with(|json| json["params"] = params);
    let sent = good.send(bench, &session, &out).await;
    let case = format!("a method that does not exist, and {kind} as parameters");
    bench.tell(judge_frame(&CHECK, &case, Taking::IsWrong(REFERENCE), &sent).sent(out.bytes()));
}

async fn notification(bench: &Bench) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let good = GoodRequest::new(bench, &session, "notifications/mcp-loadtest/none", json!({}));
    let out = good.with(|json| {
        json.as_object_mut().map(|members| members.remove("id"));
    });
    let sent = good.send(bench, &session, &out).await;
    let case = "a notification that does not exist";
    let result = judge_frame(&CHECK, case, Taking::IsWrong(NOTIFICATION), &sent);
    bench.tell(result.sent(out.bytes()));
}
