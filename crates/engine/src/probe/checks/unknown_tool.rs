//! A tool that does not exist.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family, contract::BadCall},
    mcp::Tool,
};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    asking::Pulse,
    bench::Bench,
    negative::{classed, refusal},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "unknown_tool",
    family: Family::NegativePath,
    taxonomy: Some("FAULT-PROTO-UNKNOWN-METHOD (2606.05339)"),
    depth: Depth::Quick,
    about: "calls a tool that does not exist",
    meaning: "a client that misspells a tool gets an answer that looks like success, or none",
    run,
};

const NAME: &str = "mcp_loadtest_no_such_tool";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.hello.has_tools() {
            return bench.skip(&CHECK, "the server offers no tools");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let tool = Tool {
            name: NAME.into(),
            description: None,
            input_schema: json!({}),
            output_schema: None,
            annotations: None,
        };
        let (seen, pulse) = bench.call(&session, &tool, &json!({})).await;
        if matches!(pulse, Pulse::Silent) {
            bench.drop_shared().await;
        }
        bench.tell(judge(bench, &seen, &pulse).detail(seen.words()));
    })
}

fn judge(bench: &Bench, seen: &Seen, pulse: &Pulse) -> CaseResult {
    let told = |verdict| CHECK.case("a tool that does not exist", verdict);
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => told(CaseVerdict::Crashed),
        (_, Pulse::Silent) | (Seen::Silent { .. }, _) => told(CaseVerdict::Hung),
        (Seen::Garbled { .. }, _) => told(CaseVerdict::Broken),
        _ => match refusal(seen) {
            Some(how) => classed(bench, told(CaseVerdict::Rejected), BadCall::UnknownTool, how),
            None => told(CaseVerdict::Accepted),
        },
    }
}
