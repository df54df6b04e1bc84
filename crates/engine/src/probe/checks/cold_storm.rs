//! Many sessions that begin at once.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
    units::format_latency,
};
use mcp_loadtest_wire::session::{Session, Target};
use tokio::{task::JoinSet, time::Instant};

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "cold_storm",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "begins many sessions at once: over pipes many processes, else one server",
    meaning: "after an outage, when all clients come back together, some are left outside",
    run,
};

const SESSIONS: usize = 8;
/// Processes share the machine: fewer of those that take long to start.
const FEWER: usize = 4;
const SLOW_START: Duration = Duration::from_millis(500);
const TOO_SLOW: Duration = Duration::from_secs(3);
/// A session that takes this many times its turn in a queue was forgotten.
const STARVED: u32 = 10;
/// Whatever is shorter is nobody's worry.
const NOTICEABLE: Duration = Duration::from_secs(5);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let began = Instant::now();
        match bench.fresh().await {
            Ok(session) => session.close().await,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let alone = began.elapsed();
        let count = match (&bench.target, bench.settings.depth) {
            (Target::Stdio(_), Depth::Quick | Depth::Usual) if alone > TOO_SLOW => {
                let why = format!("a process takes {} to start", format_latency(alone));
                return bench.skip(&CHECK, why);
            }
            (Target::Stdio(_), Depth::Quick | Depth::Usual) if alone > SLOW_START => FEWER,
            _ => SESSIONS,
        };
        let case = format!("{count} sessions begun at once");
        let mut storm = Storm::of(bench, count).await;
        if storm.failed > 0 {
            // Once may be the machine.
            storm = Storm::of(bench, count).await;
        }
        let result = if storm.failed > 0 {
            let (failed, why) = (storm.failed, &storm.first_error);
            CHECK
                .case(case, CaseVerdict::Broken)
                .detail(format!("{failed} of {count} failed, one alone does not: {why}"))
        } else if storm.longest >= NOTICEABLE && storm.longest >= alone * count as u32 * STARVED {
            let (longest, alone) = (format_latency(storm.longest), format_latency(alone));
            CHECK
                .case(case, CaseVerdict::Broken)
                .severity(Severity::Warning)
                .detail(format!("one took {longest}, alone it takes {alone}"))
        } else {
            CHECK.case(case, CaseVerdict::Held)
        };
        bench.tell(result);
    })
}

/// What became of sessions that began at once.
#[derive(Default)]
struct Storm {
    failed: usize,
    first_error: String,
    longest: Duration,
}

impl Storm {
    async fn of(bench: &Bench, count: usize) -> Self {
        let began = Instant::now();
        let mut opening = JoinSet::new();
        for _ in 0..count {
            let (target, options) = (bench.target.clone(), bench.options.clone());
            let revision = bench.revision;
            opening.spawn_local(async move {
                let opened = Session::open(&target, &options, revision).await;
                (opened.map(|(session, _)| session), began.elapsed())
            });
        }
        let mut storm = Self::default();
        let mut closing = JoinSet::new();
        for (session, took) in opening.join_all().await {
            storm.longest = storm.longest.max(took);
            match session {
                Ok(session) => drop(closing.spawn_local(session.close())),
                Err(error) => {
                    storm.failed += 1;
                    storm.first_error = error.to_string();
                }
            }
        }
        closing.join_all().await;
        storm
    }
}
