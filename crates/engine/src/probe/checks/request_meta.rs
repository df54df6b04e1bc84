//! What every request of the modern era must say about itself, left out or wrong.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    asking::{Pulse, Sent},
    bench::Bench,
    frames::{GoodRequest, Taking, judge},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "request_meta",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends requests that do not say their revision or capabilities, or name an unknown one",
    meaning: "the server guesses what its client can do, and neither side finds out",
    run,
};

const MISSING: &str = "MCP 2026-07-28, `_meta` of requests: a missing required field is -32602";
const UNSUPPORTED: &str = "MCP 2026-07-28, versioning: an unsupported version is -32022 with \
                           `data.supported`";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.hello.era == Era::Legacy {
            return bench.skip(&CHECK, "requests of this revision say nothing about themselves");
        }
        let wanting = |key: &'static str| {
            move |meta: &mut Value| {
                meta.as_object_mut().map(|members| members.remove(key));
            }
        };
        missing(bench, "a request without `_meta`", |meta| *meta = Value::Null).await;
        missing(bench, "a request without its revision", wanting(method::META_VERSION)).await;
        missing(bench, "a request without capabilities", wanting(method::META_CAPABILITIES)).await;
        unsupported(bench).await;
    })
}

async fn missing(bench: &Bench, case: &str, change: impl FnOnce(&mut Value)) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let good = GoodRequest::cheap(bench, &session);
    let out = good.with(|json| {
        change(&mut json["params"]["_meta"]);
        if json["params"]["_meta"].is_null() {
            json["params"] = json!({});
        }
    });
    let sent = good.send(bench, &session, &out).await;
    let result = judge(&CHECK, case, Taking::IsWrong(MISSING), &sent);
    bench.tell(expecting(result, &sent, -32602, MISSING).sent(out.bytes()));
}

/// Another code than the one that the specification names is worth a word, and no more: to a server
/// of both eras a request that does not name its revision is one of the older kind.
fn expecting(result: CaseResult, sent: &Sent, code: i64, reference: &str) -> CaseResult {
    match (&sent.seen, &sent.pulse) {
        (Seen::Refused { code: other, .. }, Pulse::Alive) if *other != code => {
            result.severity(Severity::Info).reference(reference)
        }
        (Seen::Silent { .. }, Pulse::Alive) => CaseResult {
            verdict: CaseVerdict::Broken,
            ..result.severity(Severity::Warning).reference(reference)
        },
        _ => result,
    }
}

async fn unsupported(bench: &Bench) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let mut good = GoodRequest::cheap(bench, &session);
    good.set_revision("1900-01-01");
    let out = good.sending(good.bytes());
    let sent = good.send(bench, &session, &out).await;
    let case = "a request of a revision that never was";
    let result = judge(&CHECK, case, Taking::IsWrong(UNSUPPORTED), &sent);
    let mut result = expecting(result, &sent, -32022, UNSUPPORTED);
    if let Seen::Refused { code: -32022, .. } = sent.seen
        && !names_revisions(&sent.frames)
    {
        result = result.severity(Severity::Warning).reference(UNSUPPORTED);
        result.detail.push_str("; `data.supported` is missing");
    }
    bench.tell(result.sent(out.bytes()));
}

fn names_revisions(frames: &[Vec<u8>]) -> bool {
    let supported = |frame: &Vec<u8>| {
        let message: Value = serde_json::from_slice(frame).ok()?;
        let versions = message.get("error")?.get("data")?.get("supported")?.as_array()?;
        Some(versions.iter().any(Value::is_string))
    };
    frames.iter().any(|frame| supported(frame) == Some(true))
}
