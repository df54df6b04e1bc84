//! Results that do not have the form that the revision asks for.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family, shape},
    mcp::{Era, method},
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::json;

use super::{Check, Running};
use crate::probe::{bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "result_shape",
    family: Family::Output,
    taxonomy: None,
    depth: Depth::Quick,
    about: "holds lists and results of tools against the form that the revision asks for",
    meaning: "clients that check what they get refuse these results",
    run,
};

/// Tools beyond this are not called once more.
const MOST_TOOLS: usize = 20;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        if bench.hello.era == Era::Modern {
            let seen = bench.fetch(&session, method::DISCOVER, json!({})).await;
            tell(bench, &session, judge(&session, method::DISCOVER, &seen)).await;
        }
        for list in bench.lists() {
            let session = match bench.session().await {
                Ok(session) => session,
                Err(error) => return bench.no_session(&CHECK, &error),
            };
            let seen = bench.first_page(&session, list).await;
            tell(bench, &session, judge(&session, list.method, &seen)).await;
        }
        for (tool, arguments) in bench.subjects().take(MOST_TOOLS) {
            let session = match bench.session().await {
                Ok(session) => session,
                Err(error) => return bench.no_session(&CHECK, &error),
            };
            let (seen, _) = bench.call(&session, tool, arguments).await;
            let result = judge(&session, method::TOOLS_CALL, &seen).tool(&tool.name);
            tell(bench, &session, result).await;
        }
    })
}

/// Where there is no result, the server may be dead.
async fn tell(bench: &Bench, session: &Session, result: CaseResult) {
    bench.tell(match result.verdict {
        CaseVerdict::CouldNotTell => bench.unless_dead(session, result).await,
        _ => result,
    });
}

fn judge(session: &Session, method: &str, seen: &Seen) -> CaseResult {
    let case = |verdict| CHECK.case(format!("the result of {method}"), verdict);
    let Seen::Taken { result, .. } = seen else {
        return case(CaseVerdict::CouldNotTell).detail(seen.words());
    };
    let wrong = shape::result(method, session.revision(), result);
    if wrong.is_empty() {
        return case(CaseVerdict::Held);
    }
    case(CaseVerdict::Broken)
        .severity(Severity::Warning)
        .reference(shape::REFERENCE)
        .detail(wrong.join("; "))
}
