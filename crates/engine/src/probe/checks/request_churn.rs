//! Memory that is kept of plain requests.

use std::rc::Rc;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::method,
    report::Severity,
};
use mcp_loadtest_wire::session::{Prepared, Session};
use serde_json::json;

use super::{Check, Running};
use crate::{
    plan::danger_of,
    probe::{
        asking::Pulse,
        bench::Bench,
        growth::{Work, ended},
        seen::Seen,
    },
};

pub(super) static CHECK: Check = Check {
    id: "request_churn",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes many plain requests and looks whether the server's memory grows with each",
    meaning: "the server needs more memory the longer it is used, until it is killed",
    run,
};

const CASE: &str = "memory kept of plain requests";

const WORK: Work =
    Work { unit: "request", units: 300, warm_up: 60, allowed: 4e3, severity: Severity::Critical };

/// A tool that takes longer than this would make the check slow.
const CHEAP_MS: f64 = 20.0;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let requests = requests(bench, &session);
        let (mut made, mut refused) = (0, 0);
        let act = async || {
            made += 1;
            let seen = request(bench, &session, &requests[made % requests.len()]).await?;
            refused += usize::from(!matches!(seen, Seen::Taken { .. }));
            Ok(())
        };
        let case = |verdict| CHECK.case(CASE, verdict);
        let result = WORK.measure(bench, session.pid(), act, &case).await;
        // Each of them may be one that this server does not know; most of them are not.
        bench.tell(match result.verdict {
            CaseVerdict::Held if refused * 2 > made => {
                let why = format!("{refused} of {made} requests were refused");
                case(CaseVerdict::CouldNotTell).detail(why)
            }
            _ => result,
        });
    })
}

async fn request(
    bench: &Bench,
    session: &Session,
    request: &Rc<Prepared>,
) -> Result<Seen, CaseResult> {
    let reply = session.call(request, bench.how()).await;
    match Seen::of_reply(&reply, session.broken()) {
        gone @ Seen::Gone(_) => Err(ended(&CHECK, CASE, true, gone.words())),
        // A tool may wait for somebody else, whom its server cannot hurry.
        silent @ Seen::Silent { .. } if matches!(bench.pulse(session).await, Pulse::Alive) => {
            Err(CHECK.case(CASE, CaseVerdict::CouldNotTell).detail(silent.words()))
        }
        silent @ Seen::Silent { .. } => Err(ended(&CHECK, CASE, false, silent.words())),
        seen => Ok(seen),
    }
}

/// The cheap requests that every client makes: the control request, the list of tools, a tool.
fn requests(bench: &Bench, session: &Session) -> Vec<Rc<Prepared>> {
    let mut requests = vec![session.control_request()];
    if bench.hello.has_tools() {
        requests.push(session.prepare(method::TOOLS_LIST, json!({})));
    }
    // A tool that writes is meant to keep something.
    let cheapest = bench
        .subjects()
        .filter(|(tool, _)| danger_of(tool).may_be_called_unasked())
        .filter_map(|(tool, arguments)| Some((tool, arguments, bench.took_ms(tool)?)))
        .filter(|(.., took)| *took < CHEAP_MS)
        .min_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((tool, arguments, _)) = cheapest {
        requests.push(session.prepare_tool_call(&tool.name, arguments, &tool.input_schema));
    }
    requests
}
