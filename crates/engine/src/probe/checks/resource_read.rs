//! Resources that do not exist.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "resource_read",
    family: Family::Content,
    taxonomy: None,
    depth: Depth::Quick,
    about: "reads a resource that does not exist, and one whose URI is none",
    meaning: "a client takes nothing for an empty resource, or the server dies of a wrong URI",
    run,
};

const LEGACY: &str = "MCP resources, error handling: resource not found is -32002";
const MODERN: &str = "MCP 2026-07-28, resources: not found is -32602, and no empty `contents`";

const URIS: [(&str, &str); 3] = [
    ("a resource that does not exist", "mcp-loadtest://no/such/resource"),
    ("a URI that is none", "no uri at all"),
    ("an empty URI", ""),
];

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.offers("resources") {
            return bench.skip(&CHECK, "the server offers no resources");
        }
        for (case, uri) in URIS {
            let session = match bench.session().await {
                Ok(session) => session,
                Err(error) => return bench.no_session(&CHECK, &error),
            };
            let request = session.prepare(method::RESOURCES_READ, json!({ "uri": uri }));
            let (seen, pulse) = bench.ask(&session, &request).await;
            let result = judge(case, bench.hello.era, &seen, &pulse);
            bench.tell(result.detail(seen.words()));
        }
    })
}

fn judge(case: &str, era: Era, seen: &Seen, pulse: &Pulse) -> CaseResult {
    let case = |verdict| CHECK.case(case, verdict);
    let reference = if era == Era::Legacy { LEGACY } else { MODERN };
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Refused { code: -32002, .. }, _) if era == Era::Legacy => {
            case(CaseVerdict::Rejected)
        }
        // Both eras: the request itself may be what is wrong.
        (Seen::Refused { code: -32602, .. }, _) => case(CaseVerdict::Rejected),
        (Seen::Refused { .. } | Seen::Status { .. } | Seen::ToolError { .. }, _) => {
            case(CaseVerdict::Rejected).severity(Severity::Info).reference(reference)
        }
        (Seen::Taken { .. }, _) => {
            case(CaseVerdict::Accepted).severity(Severity::Warning).reference(reference)
        }
        (Seen::Silent { .. } | Seen::Garbled { .. }, _) => {
            case(CaseVerdict::Broken).severity(Severity::Warning)
        }
    }
}
