//! A tool that does not exist.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    mcp::Tool,
    report::Severity,
};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    bench::{Bench, Pulse},
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
        bench.tell(judge(&seen, &pulse).detail(seen.words()));
    })
}

fn judge(seen: &Seen, pulse: &Pulse) -> mcp_loadtest_core::check::CaseResult {
    let case = "called a tool that does not exist";
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => CHECK.case(case, CaseVerdict::Crashed),
        (_, Pulse::Silent) => CHECK.case(case, CaseVerdict::Hung),
        (Seen::Taken { .. }, _) => CHECK.case(case, CaseVerdict::Accepted),
        (Seen::Silent { .. }, _) => CHECK.case(case, CaseVerdict::Hung),
        (Seen::Garbled { .. }, _) => CHECK.case(case, CaseVerdict::Broken),
        (Seen::ToolError { .. }, _) => CHECK
            .case(case, CaseVerdict::Rejected)
            .severity(Severity::Info)
            .reference("MCP tools, error handling: an unknown tool is a protocol error (-32602)"),
        (Seen::Refused { .. } | Seen::Status { .. }, _) => CHECK.case(case, CaseVerdict::Rejected),
    }
}
