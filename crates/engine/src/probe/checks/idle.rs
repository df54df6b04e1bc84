//! What a server does while nobody asks it anything.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};
use tokio::time::{Instant, sleep};

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "idle",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Deep,
    about: "watches the processor time of a server that has nothing to do",
    meaning: "every idle copy of this server burns a processor",
    run,
};

const CASE: &str = "processor time without work";

/// What a start leaves to do must not count.
const SETTLING: Duration = Duration::from_secs(1);
const WATCHED: Duration = Duration::from_secs(2);
/// The part of one processor that is too much.
const BUSY: f64 = 0.3;
/// So many looks in a row must find it busy.
const LOOKS: usize = 3;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.fresh().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let cpu = || session.process().map(|tree| tree.cpu);
        sleep(SETTLING).await;
        let mut shares = Vec::new();
        while shares.len() < LOOKS {
            let (before, began) = (cpu(), Instant::now());
            sleep(WATCHED).await;
            let (Some(before), Some(after)) = (before, cpu()) else {
                let why = "the process of the server is not known: name it with `--pid`";
                bench.tell(CHECK.case(CASE, CaseVerdict::CouldNotTell).detail(why));
                break;
            };
            let used = after.saturating_sub(before);
            shares.push(used.as_secs_f64() / began.elapsed().as_secs_f64());
            if shares.last().is_some_and(|share| *share < BUSY) {
                break;
            }
        }
        if let Some(share) = shares.last() {
            let percent = share * 100.0;
            let case = match *share < BUSY {
                true => CHECK.case(CASE, CaseVerdict::Held),
                false => CHECK.case(CASE, CaseVerdict::Broken).severity(Severity::Warning),
            };
            bench.tell(case.detail(format!("{percent:.0} % of a processor")));
        }
        session.close().await;
    })
}
