//! A modern client's first question to a legacy server.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    mcp::{Era, Revision, method},
    report::Severity,
};
use mcp_loadtest_wire::session::Target;
use serde_json::json;

use super::{Check, Running};
use crate::probe::{bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "discover_kills",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Usual,
    about: "asks a legacy server for `server/discover` first, as modern clients do",
    meaning: "modern clients begin with this question: each of their sessions needs two starts",
    run,
};

const MODERN: &str = Revision::NEWEST_MODERN.as_str();
const REFERENCE: &str = "MCP 2026-07-28, stdio: clients may probe with server/discover; an unknown \
                         method is answered with -32601";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.hello.era == Era::Modern {
            return bench.skip(&CHECK, "the server speaks the revision that asks so");
        }
        let Target::Stdio(_) = bench.target else {
            return bench.skip(&CHECK, "over the network a question does not start a process");
        };
        if bench.starts_slowly() {
            return bench.skip(&CHECK, "the server takes long to start; use --deep");
        }
        let session = match bench.silent().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let meta = json!({ method::META_VERSION: MODERN, method::META_CAPABILITIES: {} });
        let discover = session.prepare(method::DISCOVER, json!({ "_meta": meta }));
        let newest = Revision::NEWEST_LEGACY.as_str();
        let (seen, hello) = bench.ask_before_initialize(&session, &discover, newest).await;
        session.close().await;
        let case = |verdict| CHECK.case("server/discover before anything else", verdict);
        bench.tell(match (&seen, &hello) {
            (_, Seen::Gone(_)) => case(CaseVerdict::Crashed)
                .severity(Severity::Warning)
                .reference(REFERENCE)
                .detail(hello.words()),
            (_, Seen::Silent { .. }) => case(CaseVerdict::Hung)
                .severity(Severity::Warning)
                .detail("the `initialize` behind it is not answered"),
            (_, Seen::Taken { .. }) => case(CaseVerdict::Held).detail(seen.words()),
            (_, refused) => case(CaseVerdict::Broken)
                .severity(Severity::Warning)
                .detail(format!("the `initialize` behind it: {}", refused.words())),
        });
    })
}
