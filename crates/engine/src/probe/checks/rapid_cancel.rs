//! Calls that are made and cancelled one after the other, each at some moment.

use std::time::Duration;

use mcp_loadtest_core::check::{CaseVerdict, Depth, Family};
use tokio::time::timeout;

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "rapid_cancel",
    family: Family::Cancellation,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes calls and cancels each at a chance moment",
    meaning: "a user who changes his mind at the wrong moment ends the server for everybody",
    run,
};

const CANCELLED: usize = 40;
/// When a call is cancelled at the latest.
const LATEST: Duration = Duration::from_millis(10);
const STREAM: u64 = 0x0072_6170_6964_0000;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let request = bench.fast_request(&session);
        let mut dice = bench.settings.seed.dice(STREAM);
        for _ in 0..CANCELLED {
            let moment = LATEST.mul_f64(dice.unit());
            let _ = timeout(moment, session.call(&request, bench.patient())).await;
        }
        let case = format!("{CANCELLED} calls made and cancelled");
        bench.tell(match bench.death(&session).await {
            Some((verdict, why)) => {
                bench.drop_shared().await;
                CHECK.case(case, verdict).detail(why)
            }
            None => CHECK.case(case, CaseVerdict::Held),
        });
    })
}
