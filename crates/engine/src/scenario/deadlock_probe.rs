//! `deadlock_probe`: many calls at the same instant, each under a watchdog.

use std::{cell::Cell, pin::pin, rc::Rc};

use mcp_loadtest_core::{
    outcome::{ErrorCategory, Outcome},
    scenario::{ScenarioKind, ScenarioName},
    tally::Tally,
};
use mcp_loadtest_wire::session::{Reply, Session};
use tokio::{select, sync::Notify, task::JoinSet};

use super::{Driving, Entry, Stage};
use crate::{RunError, context::Context, plan::Plan};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::DeadlockProbe,
    summary: "release N calls at the same instant and watch each one",
    detects: "lazy-initialisation deadlocks, sessions that wedge, calls that are lost",
    algorithm: "\
1. Start the server process.
2. Send `initialize` (modern era: `server/discover`). Wait up to startup_timeout (default 30s).
3. Send `notifications/initialized` (legacy era).
4. Send `tools/list`.
5. Synchronization barrier: N concurrent `tools/call` ready to fire.
6. Release barrier. All N calls fire in parallel, written to the pipe in one piece.
7. Each call wrapped in hang_detect(hang_threshold=5s, grace_period=10s):
   - response within hang_threshold -> SUCCESS
   - response between threshold and grace_period -> SLOW (warning)
   - no response after grace_period -> DEADLOCK (critical)
8. When a call is overdue, find out why: a control request on the same session, the state and CPU
   of the process, the progress of the other calls.
9. If nothing deadlocked, make a few calls one after another: they tell a slow first call
   (lazy initialisation) from a slow tool.
10. Stop the server (end of input, then SIGTERM, then SIGKILL) and report:
   - any DEADLOCK -> CRITICAL, \"DEADLOCK DETECTED\"
   - more than half of the burst SLOW -> WARNING, \"concurrency degrades latency\"; also where fewer
     are, of a server that takes one call at a time; but not where the calls of step 9 show that all
     of the burst only waited for a slow first call, nor where a call that is alone (in step 9, or
     with `--concurrent 1`) is as slow: that is a slow tool, \"slow calls\"
   - else PASS",
    knobs: "--concurrent, --hang-threshold, --grace-period, --tool, --args, --bail-early, --steady-calls, --sessions",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::DeadlockProbe(probe) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a deadlock probe".into()));
    };
    let Stage { context, session, plan } = stage;
    let mut sessions = vec![session];
    for index in 1..context.blueprint.scenario.sessions.unwrap_or(1) {
        sessions.push(context.open(index).await?.0);
    }
    context.begin_sampling();
    let deadlocked = burst(&context, &plan, &sessions, probe.concurrent, probe.bail_early).await;
    if !deadlocked && sessions[0].broken().is_none() {
        steady(&context, &plan, &sessions[0], probe.steady_calls).await;
    }
    context.end_sampling();
    for session in sessions {
        context.close(session).await;
    }
    Ok(Vec::new())
}

/// Releases all calls at once. Says whether one was never answered.
async fn burst(
    context: &Rc<Context>,
    plan: &Plan,
    sessions: &[Session],
    concurrent: u32,
    bail_early: bool,
) -> bool {
    let barrier = Rc::new(Notify::new());
    let ready = Rc::new(Cell::new(0_u32));
    let dice = context.blueprint.scenario.seed.dice(crate::plan::CHOICE).into();
    // One set a session: what is prepared also remembers which calls were answered.
    let prepares: Vec<_> =
        sessions.iter().map(|session| plan.prepare(session, &context.count)).collect();
    let mut calls = JoinSet::new();
    for n in 0..concurrent {
        let index = n as usize % sessions.len();
        let session = sessions[index].clone();
        let prepared = prepares[index].get(plan.single(&dice));
        let (barrier, ready, how) = (barrier.clone(), ready.clone(), context.load());
        calls.spawn_local(async move {
            ready.set(ready.get() + 1);
            barrier.notified().await;
            session.call(&prepared, how).await
        });
    }
    while ready.get() < concurrent {
        tokio::task::yield_now().await;
    }
    barrier.notify_waiters();
    collect(context, calls, bail_early).await
}

async fn collect(context: &Rc<Context>, mut calls: JoinSet<Reply>, bail_early: bool) -> bool {
    let mut deadlocked = false;
    let mut over = pin!(context.out_of_time());
    loop {
        let ended = select! {
            ended = calls.join_next() => ended,
            () = &mut over => None,
        };
        match ended {
            Some(Ok(reply)) if reply.outcome == Outcome::Failed(ErrorCategory::Deadlock) => {
                deadlocked = true;
                if bail_early {
                    break;
                }
            }
            Some(_) => {}
            None => break,
        }
    }
    calls.shutdown().await;
    deadlocked
}

/// Calls one after another.
async fn steady(context: &Context, plan: &Plan, session: &Session, count: u32) {
    let calls = plan.prepare(session, &context.count);
    let dice = context.blueprint.scenario.seed.dice(crate::plan::CHOICE + 1).into();
    for _ in 0..count {
        if context.is_over() || session.broken().is_some() {
            return;
        }
        session.call(&calls.get(plan.single(&dice)), context.load()).await;
    }
}
