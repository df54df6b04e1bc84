//! Memory that is kept of sessions.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
};
use mcp_loadtest_wire::session::{OpenError, Target};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    growth::{Work, ended},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "session_churn",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "opens and leaves many sessions and looks whether the server's memory grows with each",
    meaning: "every client that comes and goes costs memory until the server is started anew",
    run,
};

const ENDED: Work =
    Work { unit: "session", units: 60, warm_up: 20, allowed: 4e3, severity: Severity::Critical };
/// Most clients leave without a word, and most servers keep what they left: worth knowing, and the
/// same for every server on some SDKs.
const LEFT: Work = Work { warm_up: 5, severity: Severity::Warning, ..ENDED };

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Http(_)) || bench.hello.era != Era::Legacy {
            return bench.skip(&CHECK, "only Streamable HTTP before 2026-07-28 has sessions");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        if session.http_session_id().is_none() {
            return bench.skip(&CHECK, "the server gives no session ids");
        }
        let pid = session.pid();
        let ways = [
            ("memory kept of sessions that were ended with DELETE", ENDED, Leave::Goodbye),
            ("memory kept of sessions that were left without DELETE", LEFT, Leave::Silently),
        ];
        for (name, work, leave) in ways {
            let case = |verdict| CHECK.case(name, verdict);
            let act = async || visit(bench, leave, name).await;
            bench.tell(work.measure(bench, pid, act, &case).await);
        }
        // The sessions that were left must not burden other checks.
        bench.drop_shared().await;
    })
}

#[derive(Debug, Clone, Copy)]
enum Leave {
    Goodbye,
    Silently,
}

/// One session with one cheap request.
async fn visit(bench: &Bench, leave: Leave, case: &str) -> Result<(), CaseResult> {
    let session = bench.fresh().await.map_err(|error| refused(case, &error))?;
    let request = session.prepare(method::PING, json!({}));
    let seen = Seen::of_reply(&session.call(&request, bench.how()).await, session.broken());
    match leave {
        Leave::Goodbye => session.close().await,
        Leave::Silently => session.cut().await,
    };
    match seen {
        gone @ Seen::Gone(_) => Err(ended(&CHECK, case, true, gone.words())),
        silent @ Seen::Silent { .. } => Err(ended(&CHECK, case, false, silent.words())),
        _ => Ok(()),
    }
}

/// A server may well say that it has too many sessions.
fn refused(case: &str, error: &OpenError) -> CaseResult {
    CHECK.case(case, CaseVerdict::CouldNotTell).detail(format!("no further session: {error}"))
}
