//! A cursor that the server never gave.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    report::Severity,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, lists::List, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "bad_cursor",
    family: Family::Pagination,
    taxonomy: None,
    depth: Depth::Quick,
    about: "asks for a page of each list with a made-up cursor, and with a number",
    meaning: "a client whose cursor has expired gets the first page again, or none",
    run,
};

const REFERENCE: &str = "MCP pagination: an invalid cursor SHOULD result in -32602";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let lists: Vec<_> = bench.lists().collect();
        if lists.is_empty() {
            return bench.skip(&CHECK, "the server lists nothing");
        }
        for list in lists {
            try_cursor(bench, list, "a made-up cursor", json!("mcp-loadtest-no-such-cursor")).await;
            try_cursor(bench, list, "a number as cursor", json!(-1)).await;
        }
    })
}

async fn try_cursor(bench: &Bench, list: List, what: &str, cursor: Value) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let request = session.prepare(list.method, json!({ "cursor": cursor }));
    let (seen, pulse) = bench.ask(&session, &request).await;
    let case = format!("{} with {what}", list.method);
    bench.tell(judge(&case, list, &seen, &pulse).detail(seen.words()));
}

fn judge(case: &str, list: List, seen: &Seen, pulse: &Pulse) -> CaseResult {
    let case = |verdict| CHECK.case(case, verdict);
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Refused { code: -32602, .. }, _) => case(CaseVerdict::Rejected),
        (Seen::Refused { .. } | Seen::Status { .. } | Seen::ToolError { .. }, _) => {
            case(CaseVerdict::Rejected).severity(Severity::Info).reference(REFERENCE)
        }
        // What has one page only need not know cursors.
        (Seen::Taken { result, .. }, _) if list.entries(result).is_empty() => {
            case(CaseVerdict::Held)
        }
        (Seen::Taken { .. }, _) => {
            case(CaseVerdict::Accepted).severity(Severity::Info).reference(REFERENCE)
        }
        (Seen::Silent { .. } | Seen::Garbled { .. }, _) => {
            case(CaseVerdict::Broken).severity(Severity::Warning)
        }
    }
}
