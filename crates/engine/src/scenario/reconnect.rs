//! `reconnect`: sessions that are cut in the middle of a call, opened again, the call repeated.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::{Phase, note},
    scenario::{ScenarioKind, ScenarioName},
    tally::Tally,
};
use mcp_loadtest_wire::session::{How, Session};
use tokio::{select, task::JoinSet};

use super::{Driving, Entry, Stage};
use crate::{RunError, context::Context, plan::Plan};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Reconnect,
    summary: "cut the session in the middle of a call, open it again, repeat the call",
    detects: "servers that do not come back, leftovers of cut sessions, processes that stay behind",
    algorithm: "\
1. Begin a session and send `concurrent` calls.
2. Cut it while they are in flight: over stdio by closing the server's input, over the network by
   closing the connections without a goodbye.
3. Begin a new session. Over stdio the old server must end by itself; what stays behind is told.
4. Repeat the calls. They must be answered as if nothing had happened.
5. Do it again, `drops` times. Each phase (cut, reopen, retry) has its own times; the latency of the
   report is that of the repeated calls.",
    knobs: "--drops, --concurrent, --tool, --args",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

/// How long the calls are given to reach the server before the session is cut.
const ON_THEIR_WAY: Duration = Duration::from_millis(2);

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::Reconnect(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a reconnect".into()));
    };
    let Stage { context, session, plan } = stage;
    let mut session = Some(session);
    context.begin_sampling();
    for index in 1..=settings.drops {
        let Some(open) = session.take().filter(|_| !context.is_over()) else { break };
        session = once(&context, &plan, open, index, settings.concurrent).await;
    }
    context.end_sampling();
    if let Some(session) = session {
        context.close(session).await;
    }
    Ok(Vec::new())
}

/// One cut. Gives the new session, or nothing when the server did not come back.
async fn once(
    context: &Rc<Context>,
    plan: &Plan,
    session: Session,
    index: u32,
    concurrent: u32,
) -> Option<Session> {
    // What is cut is no failure of the server, so it does not count as load.
    let mut doomed = calls(context, plan, &session, concurrent, Phase::Warmup);
    tokio::time::sleep(ON_THEIR_WAY).await;
    let began = context.now();
    context.cut(session).await;
    while doomed.join_next().await.is_some() {}
    let cut = context.now();
    context.step("cut", cut.saturating_sub(began));
    let session = match context.open(index).await {
        Ok((session, _)) => session,
        Err(error) => {
            let told = format!("cut {index}: the server did not come back: {error}");
            context.note(note::RECONNECT_FAILED, told);
            return None;
        }
    };
    context.step("reopen", context.now().saturating_sub(cut));
    let began = context.now();
    let mut again = calls(context, plan, &session, concurrent, Phase::Load);
    let mut failed = 0;
    let collect = async {
        while let Some(answered) = again.join_next().await {
            failed += u32::from(!answered.unwrap_or(false));
        }
    };
    select! {
        () = collect => {}
        () = context.out_of_time() => {
            again.shutdown().await;
            return Some(session);
        }
    }
    context.step("retry", context.now().saturating_sub(began));
    if failed > 0 {
        let told = format!("cut {index}: {failed} of {concurrent} repeated calls failed");
        context.note(note::RECONNECT_FAILED, told);
    }
    Some(session)
}

/// Sends calls at the same time; each says whether it was answered well.
fn calls(
    context: &Rc<Context>,
    plan: &Plan,
    session: &Session,
    count: u32,
    phase: Phase,
) -> JoinSet<bool> {
    let prepared = plan.prepare(session, &context.count);
    let dice = context.blueprint.scenario.seed.dice(crate::plan::CHOICE).into();
    let mut calls = JoinSet::new();
    for _ in 0..count {
        let (session, call) = (session.clone(), prepared.get(plan.single(&dice)));
        let how = How { phase, ..context.load() };
        calls.spawn_local(async move { session.call(&call, how).await.failure().is_none() });
    }
    calls
}
