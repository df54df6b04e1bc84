//! One client goes away without a word: the others must not notice.

use std::time::Duration;

use mcp_loadtest_core::check::{CaseResult, CaseVerdict, Depth, Family};
use mcp_loadtest_wire::session::{OpenError, Target};
use tokio::time::sleep;

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench};

pub(super) static CHECK: Check = Check {
    id: "client_leaves",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "drops the connections of one client and asks whether another is still served",
    meaning: "one user who closes a laptop ends the server for everybody",
    run,
};

/// How long a server may take to notice that somebody is gone.
const NOTICE: Duration = Duration::from_millis(500);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "over pipes every client has a server of its own");
        }
        match left_alone(bench).await {
            Ok(result) => bench.tell(result),
            Err(error) => bench.no_session(&CHECK, &error),
        }
    })
}

async fn left_alone(bench: &Bench) -> Result<CaseResult, OpenError> {
    let (staying, leaving) = (bench.fresh().await?, bench.fresh().await?);
    leaving.cut().await;
    sleep(NOTICE).await;
    let pulse = bench.pulse(&staying).await;
    staying.close().await;
    let case = |verdict| CHECK.case("another client left without a word", verdict);
    Ok(match pulse {
        Pulse::Gone(cause) => case(CaseVerdict::Crashed).detail(cause.message.to_string()),
        Pulse::Silent => case(CaseVerdict::Hung),
        Pulse::Alive => match bench.serves_newcomers().await {
            Ok(()) => case(CaseVerdict::Held),
            Err(why) => case(CaseVerdict::Broken).detail(format!("nobody new is served: {why}")),
        },
    })
}
