//! A method that does not exist.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    bench::{Bench, Pulse},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "unknown_method",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Quick,
    about: "sends a request with a method that does not exist",
    meaning: "a newer client asks for what this server does not know, and must be told so",
    run,
};

const REFERENCE: &str = "JSON-RPC 2.0, section 5.1: method not found is -32601";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let request = session.prepare("mcp-loadtest/no-such-method", json!({}));
        let (seen, pulse) = bench.ask(&session, &request).await;
        let case = |verdict| CHECK.case("a method that does not exist", verdict);
        let result = match (&seen, pulse) {
            (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
            (_, Pulse::Silent) => case(CaseVerdict::Hung),
            (Seen::Taken { .. } | Seen::ToolError { .. }, _) => case(CaseVerdict::Accepted),
            (Seen::Silent { .. }, _) => case(CaseVerdict::Broken).severity(Severity::Warning),
            (Seen::Garbled { .. }, _) => case(CaseVerdict::Broken),
            (Seen::Refused { code: -32601, .. }, _) => case(CaseVerdict::Rejected),
            (Seen::Refused { .. } | Seen::Status { .. }, _) => {
                case(CaseVerdict::Rejected).severity(Severity::Warning).reference(REFERENCE)
            }
        };
        bench.tell(result.detail(seen.words()));
    })
}
