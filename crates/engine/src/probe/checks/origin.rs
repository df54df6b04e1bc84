//! A request that comes from a web page of somebody else.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, Target};

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, frames::GoodRequest, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "origin",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Quick,
    about: "sends a request with the `Origin` of a foreign web page",
    meaning: "any web page that the user visits can reach the server by DNS rebinding, and call tools",
    run,
};

const REFERENCE: &str = "MCP transports, security: servers MUST validate the Origin header; an \
                         invalid one is answered with 403";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Http(_)) {
            return bench.skip(&CHECK, "only tried over Streamable HTTP");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let good = GoodRequest::cheap(bench, &session);
        let Outgoing::Http(request) = good.sending(good.bytes()) else { return };
        let out = Outgoing::Http(request.header("Origin", Some("http://mcp-loadtest.invalid")));
        let sent = good.send(bench, &session, &out).await;
        let case = |verdict| CHECK.case("a request from a foreign web page", verdict);
        let result = match (&sent.seen, &sent.pulse, sent.status) {
            (Seen::Gone(_), ..) | (_, Pulse::Gone(_), _) => case(CaseVerdict::Crashed),
            (_, Pulse::Silent, _) => case(CaseVerdict::Hung),
            (Seen::Taken { .. }, ..) => {
                case(CaseVerdict::Accepted).severity(Severity::Warning).reference(REFERENCE)
            }
            (_, _, Some(403)) => case(CaseVerdict::Rejected),
            (_, _, Some(400..=499)) => {
                case(CaseVerdict::Rejected).severity(Severity::Info).reference(REFERENCE)
            }
            _ => case(CaseVerdict::CouldNotTell),
        };
        bench.tell(result.detail(sent.seen.words()));
    })
}
