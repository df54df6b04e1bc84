//! What a server does while nobody asks it anything.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};
use mcp_loadtest_wire::{
    process::{RunState, TreeState},
    session::Session,
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
/// How often it is looked meanwhile.
const LOOKS: u32 = 40;
/// The part of the looks at which a busy loop is ready to run. Its processor time would not do: on
/// a busy machine it gets little.
const BUSY: f64 = 0.8;
/// So many times in a row it must be found busy.
const TIMES: usize = 3;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.fresh().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        sleep(SETTLING).await;
        let mut seen = watch(&session).await;
        for _ in 1..TIMES {
            if seen.as_ref().is_some_and(|seen| seen.busy >= BUSY) {
                seen = watch(&session).await;
            }
        }
        bench.tell(match seen {
            None if session.is_broken() => {
                let why = session.broken().map(|cause| cause.message.to_string());
                CHECK.case(CASE, CaseVerdict::Crashed).detail(why.unwrap_or_default())
            }
            None => CHECK
                .case(CASE, CaseVerdict::CouldNotTell)
                .detail("the process of the server is not known: name it with `--pid`"),
            Some(seen) if seen.busy >= BUSY => CHECK
                .case(CASE, CaseVerdict::Broken)
                .severity(Severity::Warning)
                .detail(seen.words()),
            Some(seen) => CHECK.case(CASE, CaseVerdict::Held).detail(seen.words()),
        });
        session.close().await;
    })
}

/// What a server did while nobody asked it anything.
struct Seen {
    /// The part of the looks at which it was ready to run.
    busy: f64,
    /// The processor time that it got, as a part of one processor.
    cpu: f64,
}

impl Seen {
    fn words(&self) -> String {
        let (busy, cpu) = (self.busy * 100.0, self.cpu * 100.0);
        format!("ready to run {busy:.0} % of the time, {cpu:.0} % of a processor")
    }
}

async fn watch(session: &Session) -> Option<Seen> {
    let (before, began) = (session.process()?, Instant::now());
    let mut ready = 0;
    for _ in 0..LOOKS {
        sleep(WATCHED / LOOKS).await;
        ready += u32::from(is_ready(&session.process()?));
    }
    let used = session.process()?.cpu.saturating_sub(before.cpu);
    Some(Seen {
        busy: f64::from(ready) / f64::from(LOOKS),
        cpu: used.as_secs_f64() / began.elapsed().as_secs_f64(),
    })
}

/// The state of a process is that of its first thread; the others show in what they wait for.
fn is_ready(tree: &TreeState) -> bool {
    let running = RunState::Running;
    tree.states.of(running) > 0
        || tree.waits.as_deref().is_some_and(|waits| waits.contains(running.as_str()))
}
