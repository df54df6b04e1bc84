//! Prompts that do not exist, and prompts without what they need.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::method,
    report::Severity,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "prompt_get",
    family: Family::Content,
    taxonomy: None,
    depth: Depth::Quick,
    about: "gets a prompt that does not exist, and one without a required argument",
    meaning: "a model works with a prompt in which something is missing",
    run,
};

const REFERENCE: &str = "MCP prompts, error handling: an invalid name or a missing required \
                         argument is -32602";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.offers("prompts") {
            return bench.skip(&CHECK, "the server offers no prompts");
        }
        let unknown = json!({ "name": "mcp_loadtest_no_such_prompt" });
        try_prompt(bench, "a prompt that does not exist", unknown).await;
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let listed = match bench.fetch(&session, method::PROMPTS_LIST, json!({})).await {
            Seen::Taken { result } => result,
            other => {
                let could_not = CHECK.case("a missing argument", CaseVerdict::CouldNotTell);
                let why = format!("{}: {}", method::PROMPTS_LIST, other.words());
                return bench.tell(bench.unless_dead(&session, could_not.detail(why)).await);
            }
        };
        match needy_prompt(&listed) {
            Some((name, argument)) => {
                let case = format!("`{name}` without `{argument}`");
                try_prompt(bench, &case, json!({ "name": name, "arguments": {} })).await;
            }
            None => {
                let case = CHECK.case("a missing argument", CaseVerdict::Skipped);
                bench.tell(case.detail("no prompt has a required argument"));
            }
        }
    })
}

/// The first prompt that cannot do without an argument, and that argument.
fn needy_prompt(listed: &Value) -> Option<(String, String)> {
    listed.get("prompts")?.as_array()?.iter().find_map(|prompt| {
        let arguments = prompt.get("arguments")?.as_array()?;
        let needed = arguments.iter().find(|argument| argument["required"] == true)?;
        let text = |value: &Value| value["name"].as_str().map(str::to_owned);
        Some((text(prompt)?, text(needed)?))
    })
}

async fn try_prompt(bench: &Bench, case: &str, params: Value) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let request = session.prepare(method::PROMPTS_GET, params);
    let (seen, pulse) = bench.ask(&session, &request).await;
    bench.tell(judge(case, &seen, &pulse).detail(seen.words()));
}

fn judge(case: &str, seen: &Seen, pulse: &Pulse) -> CaseResult {
    let case = |verdict| CHECK.case(case, verdict);
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Refused { code: -32602, .. }, _) => case(CaseVerdict::Rejected),
        (Seen::Refused { .. } | Seen::Status { .. } | Seen::ToolError { .. }, _) => {
            case(CaseVerdict::Rejected).severity(Severity::Info).reference(REFERENCE)
        }
        (Seen::Taken { .. }, _) => {
            case(CaseVerdict::Accepted).severity(Severity::Warning).reference(REFERENCE)
        }
        (Seen::Silent { .. } | Seen::Garbled { .. }, _) => {
            case(CaseVerdict::Broken).severity(Severity::Warning)
        }
    }
}
