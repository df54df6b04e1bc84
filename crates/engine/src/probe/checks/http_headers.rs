//! Modern HTTP says in headers what the body says again; here they differ, or are missing.

use mcp_loadtest_core::{
    check::{Depth, Family},
    mcp::{Era, header, method},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, Session, Target};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    asking::Pulse,
    bench::Bench,
    frames::{GoodRequest, Taking, judge},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "http_headers",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends requests whose HTTP headers are missing or do not match their bodies",
    meaning: "a gateway decides by the header and the server by the body: rules can be walked around",
    run,
};

const REFERENCE: &str = "MCP 2026-07-28, standard headers: a mismatch or a missing header MUST be \
                         refused with 400 and -32020";

type Change = (&'static str, &'static str, Option<&'static str>);

const CHANGES: [Change; 4] = [
    ("another method in the header", header::METHOD, Some("prompts/list")),
    ("no method in the headers", header::METHOD, None),
    ("another revision in the header", header::PROTOCOL_VERSION, Some("2025-11-25")),
    ("no revision in the headers", header::PROTOCOL_VERSION, None),
];

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.hello.era == Era::Legacy {
            return bench.skip(&CHECK, "headers of this revision repeat nothing");
        }
        if !matches!(bench.target, Target::Http(_)) {
            return bench.skip(&CHECK, "only Streamable HTTP has headers for each request");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        for (case, name, value) in CHANGES {
            let good = GoodRequest::cheap(bench, &session);
            try_header(bench, &session, &good, (case, name, value)).await;
        }
        if let Some((tool, arguments)) = bench.subjects().next() {
            let params = json!({ "name": tool.name, "arguments": arguments });
            let good = GoodRequest::new(bench, &session, method::TOOLS_CALL, params);
            let change = ("another tool in the header", header::NAME, Some("mcp_loadtest_other"));
            try_header(bench, &session, &good, change).await;
        }
    })
}

async fn try_header(bench: &Bench, session: &Session, good: &GoodRequest, change: Change) {
    let (case, name, value) = change;
    let Outgoing::Http(mut request) = good.sending(good.bytes()) else { return };
    request.headers.retain(|(other, _)| *other != name);
    let out = Outgoing::Http(request.header(name, value));
    let sent = good.send(bench, session, &out).await;
    let mut result = judge(&CHECK, case, Taking::IsWrong(REFERENCE), &sent);
    if let (Seen::Refused { code, .. }, Pulse::Alive) = (&sent.seen, &sent.pulse)
        && *code != -32020
    {
        result = result.severity(Severity::Info).reference(REFERENCE);
    }
    bench.tell(result.sent(format!("{name}: {}", value.unwrap_or("(left out)")).as_bytes()));
}
