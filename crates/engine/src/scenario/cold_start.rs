//! `cold_start`: how long until a fresh server has answered its first call?

use std::time::Duration;

use mcp_loadtest_core::{
    event::{Phase, note},
    outcome::ErrorCategory,
    scenario::{ScenarioKind, ScenarioName},
};
use mcp_loadtest_wire::session::{How, Reply};

use super::{Driving, Entry, Stage};
use crate::context::Context;

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::ColdStart,
    summary: "start, handshake, list, first call; again and again, each phase timed",
    detects: "slow start-up, lazy initialisation, deadlocks while starting",
    algorithm: "\
1. Start the server (over HTTP: connect).
2. Begin the session: `initialize`, or `server/discover` in the modern era.
3. Send `tools/list`.
4. Send the first `tools/call` and wait for its reply.
5. End the server, and repeat from 1 for every iteration.
6. With `warmup`, throw the times of the first iteration away: it fills the caches of the disk.
A start or a `tools/list` that fails is told, and so is a server that falls silent or dies in the warm-up.
Each phase has its own histogram; the latency of the report is that of the first call.",
    knobs: "--iterations, --warmup, --tool, --args, --startup-timeout",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

async fn drive(stage: Stage) -> Result<Vec<mcp_loadtest_core::tally::Tally>, crate::RunError> {
    let ScenarioKind::ColdStart(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(crate::RunError::Internal("not a cold start".into()));
    };
    let Stage { context, session, plan } = stage;
    context.close(session).await;
    context.begin_sampling();
    for iteration in 0..settings.iterations {
        if context.is_over() {
            break;
        }
        let phase = if settings.warmup && iteration == 0 { Phase::Warmup } else { Phase::Load };
        tokio::select! {
            () = once(&context, &plan, iteration, phase) => {}
            () = context.over() => break,
        }
    }
    Ok(Vec::new())
}

/// One start. A server that does not come up is noted; the next iteration tries again.
async fn once(context: &Context, plan: &crate::plan::Plan, iteration: u32, phase: Phase) {
    let began = context.now();
    let (session, hello) = match context.open(iteration).await {
        Ok(opened) => opened,
        Err(error) => {
            context.note(note::ABORTED, format!("start {iteration} failed: {error}"));
            return;
        }
    };
    let opened = context.now();
    let listed = session.list_tools(context.blueprint.server.startup_timeout).await;
    if let Err(reply) = &listed {
        let message = format!("start {iteration}: tools/list failed: {}", reply.message);
        context.note(note::ABORTED, message);
    }
    let listed_at = context.now();
    let prepares = plan.prepare(&session, &context.count);
    let dice = context.blueprint.scenario.seed.dice(0).into();
    let how = How { phase, ..context.load() };
    let reply = session.call(&prepares.get(plan.single(&dice)), how).await;
    if phase == Phase::Warmup {
        note_loss(context, iteration, &reply);
    } else {
        let steps: [(&'static str, Duration); 4] = [
            ("spawn", (opened - began).saturating_sub(hello.took)),
            ("handshake", hello.took),
            ("tools/list", listed_at - opened),
            ("first_call", reply.took()),
        ];
        let answered = listed.is_ok() && reply.failure().is_none();
        for (name, took) in steps.into_iter().filter(|(name, _)| answered || *name == "handshake") {
            context.step(name, took);
        }
    }
    context.close(session).await;
}

/// Only the times of a warm-up are thrown away: a server that falls silent or dies in it is told.
fn note_loss(context: &Context, iteration: u32, reply: &Reply) {
    const LOSSES: [ErrorCategory; 4] = [
        ErrorCategory::Deadlock,
        // Silence, where calls are given up before it is known what it means.
        ErrorCategory::Timeout,
        ErrorCategory::Crash,
        ErrorCategory::Disconnected,
    ];
    if let Some(category) = reply.failure().filter(|category| LOSSES.contains(category)) {
        let message = format!("start {iteration}: {}: {}", category.name(), reply.message);
        context.note(note::ABORTED, message);
    }
}
