//! `race_check`: identical calls at the same instant must be answered alike.

use std::rc::Rc;

use mcp_loadtest_core::{
    event::note,
    outcome::ErrorCategory,
    scenario::{ScenarioKind, ScenarioName},
    stats::race::Answers,
    tally::Tally,
};
use mcp_loadtest_wire::session::{How, Prepared, Reply, Session};
use tokio::{select, task::JoinSet};

use super::{Driving, Entry, Stage};
use crate::{RunError, context::Context};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::RaceCheck,
    summary: "release identical calls at the same instant and compare the replies",
    detects: "races: state that calls share, replies that carry somebody else's data",
    algorithm: "\
1. Choose one call; with placeholders its arguments are filled in once, so that all calls are alike. Replies
   that change places among identical calls cannot be seen here: `{{nonce}}` in the arguments of a
   sustained load shows those.
2. Release `concurrent` of them at the same instant, spread over the sessions. Repeat `rounds` times.
3. Put the replies into canonical form (keys sorted) and compare them place by place, also inside text
   that is JSON.
4. Divergent: some replies differ from the others, or are errors where others of the same instant are
   none (timeouts and refusals of a rate limit, 429, do not count). Volatile: replies differ only where
   they differ each time (clocks, ids, counters), which is told but is no bug by itself.",
    knobs: "--concurrent, --rounds, --tool, --args, --sessions",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

/// What identical calls are answered with that all could be answered with. Silence and broken connections
/// are findings of their own.
const ANSWERS: [ErrorCategory; 3] =
    [ErrorCategory::ServerError, ErrorCategory::ProtocolError, ErrorCategory::ToolError];
/// The status, or the code, of those who limit how many calls may come: no race.
const TOO_MANY: i64 = 429;

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
    let mut answers = Answers::default();
    for _ in 0..settings.rounds {
        if context.is_over() {
            break;
        }
        let replies = round(&context, &prepared, settings.concurrent).await;
        let failures: Vec<String> = replies.iter().filter_map(failure).collect();
        let good = replies.iter().filter(|reply| reply.failure().is_none());
        answers.add_burst(&good.filter_map(Reply::json).collect::<Vec<_>>(), &failures);
    }
    context.end_sampling();
    let divergence = answers.compare();
    context.note(note::DIVERGENCE, serde_json::to_string(&divergence).unwrap_or_default());
    for session in sessions {
        context.close(session).await;
    }
    Ok(Vec::new())
}

/// What a call was told that failed, if others may have succeeded only by a race.
fn failure(reply: &Reply) -> Option<String> {
    let category = reply.failure().filter(|category| ANSWERS.contains(category))?;
    let is_limit = reply.code == Some(TOO_MANY);
    (!is_limit).then(|| format!("{}: {}", category.name(), reply.message))
}

/// Releases the calls at once; gives the replies that came.
async fn round(
    context: &Rc<Context>,
    prepared: &[(Session, Rc<Prepared>)],
    concurrent: u32,
) -> Vec<Reply> {
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
            replies.extend(reply.ok());
        }
    };
    select! {
        () = collect => {}
        () = context.out_of_time() => {}
    }
    calls.shutdown().await;
    replies
}
