//! Many calls, each cancelled at some moment, beside others that are not.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    seed::Dice,
};
use mcp_loadtest_wire::session::Session;
use tokio::{task::JoinSet, time::timeout};

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, answers_heard, at_once, fallen, prepared},
    bench::Bench,
};

pub(super) static CHECK: Check = Check {
    id: "rapid_cancel",
    family: Family::Cancellation,
    taxonomy: None,
    // Every server on the 1.x line of the Python SDK dies of it. True, but nobody who has a minute
    // could do anything about it.
    depth: Depth::Deep,
    about: "cancels many calls in flight together at chance moments while others go on",
    meaning: "users who change their minds end the server, or cost others their answers",
    run,
};

/// A server that dies of a cancel at the wrong moment may live through the moments of one try.
const TRIES: usize = 3;
const CANCELLED: usize = 50;
const WITNESSES: usize = 10;
/// How long a cancelled call would take: a server that serves one at a time must get through.
const LENGTH: Duration = Duration::from_millis(40);
/// When it is cancelled at the latest.
const LATEST: Duration = Duration::from_millis(20);
const STREAM: u64 = 0x0063_616e_6365_6c00;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let case = format!("{CANCELLED} calls cancelled beside {WITNESSES} others");
        let mut dice = bench.settings.seed.dice(STREAM);
        let mut result = CHECK.case(&case, CaseVerdict::Held);
        for _ in 0..TRIES {
            if let Some((verdict, why)) = try_once(bench, &session, &mut dice).await {
                result = CHECK.case(&case, verdict).detail(why);
                break;
            }
        }
        bench.tell(result);
    })
}

/// What went wrong, if anything did.
async fn try_once(
    bench: &Bench,
    session: &Session,
    dice: &mut Dice,
) -> Option<(CaseVerdict, String)> {
    let tap = session.tap();
    let mut cancelled = begin_cancelled(bench, session, dice).await;
    let witness = bench.fast_request(session);
    let landed = at_once(vec![(session.clone(), witness); WITNESSES], bench.patient()).await;
    while cancelled.join_next().await.is_some() {}
    let death = bench.death(session).await;
    if death.is_some() {
        bench.drop_shared().await;
        return death;
    }
    wrong(&landed, &answers_heard(&tap, &landed))
}

/// Calls that are withdrawn one by one, each at a moment of its own.
async fn begin_cancelled(bench: &Bench, session: &Session, dice: &mut Dice) -> JoinSet<()> {
    let subjects = bench.slow_subjects().await;
    let short =
        subjects.iter().find_map(|slow| Some(prepared(session, &slow.tool, &slow.taking(LENGTH)?)));
    let request = short.unwrap_or_else(|| bench.fast_request(session));
    let mut calls = JoinSet::new();
    for _ in 0..CANCELLED {
        let moment = LATEST.mul_f64(dice.unit());
        let (session, request, how) = (session.clone(), request.clone(), bench.patient());
        calls.spawn_local(async move {
            let _ = timeout(moment, session.call(&request, how)).await;
        });
    }
    calls
}

/// What is wrong with the calls that were not cancelled.
fn wrong(landed: &[Landed], heard: &[usize]) -> Option<(CaseVerdict, String)> {
    let silent = landed.iter().filter(|landed| landed.is_silent()).count();
    let twice = heard.iter().filter(|count| **count > 1).count();
    let (garbled, defect) = fallen(landed, Fate::Garbled);
    let (refused, error) = fallen(landed, Fate::Refused);
    let broken = |what: String| Some((CaseVerdict::Broken, what));
    match (silent, garbled, twice) {
        (1.., ..) => broken(format!("{silent} of {WITNESSES} others were never answered")),
        (0, 1.., _) => {
            broken(format!("{garbled} of {WITNESSES} others got no valid answer: {defect}"))
        }
        (0, 0, 1..) => {
            broken(format!("{twice} of {WITNESSES} others were answered more than once"))
        }
        (0, 0, 0) if refused == landed.len() => {
            Some((CaseVerdict::CouldNotTell, format!("all others were refused: {error}")))
        }
        (0, 0, 0) => None,
    }
}
