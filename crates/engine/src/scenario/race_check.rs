//! `race_check`: identical calls at the same instant must be answered alike.

use std::rc::Rc;

use mcp_loadtest_core::{
    event::note,
    scenario::{ScenarioKind, ScenarioName},
    stats::race::compare_results,
    tally::Tally,
};
use mcp_loadtest_wire::session::{How, Prepared, Session};
use serde_json::Value;
use tokio::{select, task::JoinSet};

use super::{Driving, Entry, Stage};
use crate::{RunError, context::Context};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::RaceCheck,
    summary: "release identical calls at the same instant and compare the replies",
    detects: "races: state that calls share, replies that carry somebody else's data",
    algorithm: "\
1. Choose one call; with placeholders its arguments are filled in once, so that all calls are alike.
2. Release `concurrent` of them at the same instant, spread over the sessions. Repeat `rounds` times.
3. Put the replies into canonical form (keys sorted) and compare them place by place, also inside text
   that is JSON.
4. Divergent: some replies differ from the others. Volatile: replies differ only where they differ
   each time (clocks, ids, counters), which is told but is no bug by itself.",
    knobs: "--concurrent, --rounds, --tool, --args, --sessions",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

/// Replies that are compared at most; the memory of a run has its limits.
const MOST_REPLIES: usize = 10_000;

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::RaceCheck(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a race check".into()));
    };
    let Stage { context, session, plan } = stage;
    let mut sessions = vec![session];
    for index in 1..context.blueprint.scenario.sessions.unwrap_or(1) {
        sessions.push(context.open(index).await?.0);
    }
    let dice = context.blueprint.scenario.seed.dice(crate::plan::CHOICE).into();
    let call = plan.single(&dice);
    let prepared: Vec<_> = sessions
        .iter()
        .map(|session| (session.clone(), plan.prepare(session, &context.count).alike(call)))
        .collect();
    context.begin_sampling();
    let mut replies = Vec::new();
    for _ in 0..settings.rounds {
        if context.is_over() {
            break;
        }
        replies.extend(round(&context, &prepared, settings.concurrent).await);
        replies.truncate(MOST_REPLIES);
    }
    context.end_sampling();
    let divergence = compare_results(&replies);
    context.note(note::DIVERGENCE, serde_json::to_string(&divergence).unwrap_or_default());
    for session in sessions {
        context.close(session).await;
    }
    Ok(Vec::new())
}

/// Releases the calls at once; gives the good replies.
async fn round(
    context: &Rc<Context>,
    prepared: &[(Session, Rc<Prepared>)],
    concurrent: u32,
) -> Vec<Value> {
    let how = How { keep_body: true, ..context.load() };
    let mut calls = JoinSet::new();
    for n in 0..concurrent {
        let (session, call) = prepared[n as usize % prepared.len()].clone();
        // Tasks of one thread start together once we wait: their frames leave in one piece.
        calls.spawn_local(async move { session.call(&call, how).await });
    }
    let mut replies = Vec::new();
    let collect = async {
        while let Some(reply) = calls.join_next().await {
            let good = reply.ok().filter(|reply| reply.failure().is_none());
            replies.extend(good.and_then(|reply| reply.json()));
        }
    };
    select! {
        () = collect => {}
        () = context.out_of_time() => {}
    }
    calls.shutdown().await;
    replies
}
