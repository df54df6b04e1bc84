//! A thousand requests in flight at once on one session.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    outcome::ErrorCategory,
    report::Severity,
};
use mcp_loadtest_wire::session::{Prepared, Session, Target};

use super::{Check, Running};
use crate::probe::{
    at_once::{Fate, Landed, answers_heard, at_once, fallen, prepared},
    bench::Bench,
};

pub(super) static CHECK: Check = Check {
    id: "in_flight_burst",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends many requests before it reads an answer",
    meaning: "in a burst some requests are never answered, and their users wait for ever",
    run,
};

const REQUESTS: usize = 1000;
const CALLS: usize = 200;
/// Over HTTP each request has a connection, and servers have their limits.
const CONNECTIONS: usize = 200;
const SETTLING: Duration = Duration::from_secs(2);

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let most = match (&bench.target, bench.settings.depth) {
            (Target::Http(_), Depth::Quick | Depth::Usual) => CONNECTIONS,
            _ => REQUESTS,
        };
        burst(bench, most, None, Session::control_request).await;
        let Some(known) = bench.fast_subject() else { return };
        let Some(good) = known.good_arguments() else { return };
        let count = bench.affordable(known, CALLS.min(most));
        let name = Some(known.tool.name.as_str());
        burst(bench, count, name, |session| prepared(session, &known.tool, good)).await;
    })
}

/// What became of a burst.
struct Tally {
    good: usize,
    silent: usize,
    garbled: usize,
    refused: usize,
    twice: usize,
    first_defect: String,
    first_refusal: String,
}

async fn burst(
    bench: &Bench,
    count: usize,
    tool: Option<&str>,
    request: impl Fn(&Session) -> Rc<Prepared>,
) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let request = request(&session);
    let case = format!("{count} requests `{}` in flight", request.method());
    // What is refused when it comes alone is refused, and not turned away.
    let alone = session.call(&request, bench.patient()).await.failure();
    let is_known = |tally| match alone {
        Some(_) => Tally { good: count, garbled: 0, refused: 0, ..tally },
        None => tally,
    };
    let mut tally = is_known(send(bench, &session, &request, count).await);
    if tally.silent > 0 {
        // What is given up is also withdrawn: a burst of its own that must be over first.
        tokio::time::sleep(SETTLING).await;
    }
    let mut death = bench.death(&session).await;
    if death.is_none() && tally.silent > 0 {
        // Once may be the machine.
        let again = is_known(send(bench, &session, &request, count).await);
        // What was torn once was torn.
        tally = match tally.garbled {
            0 => again,
            garbled => Tally { garbled, first_defect: tally.first_defect, ..again },
        };
        tokio::time::sleep(SETTLING).await;
        death = bench.death(&session).await;
    }
    if death.is_some() {
        bench.drop_shared().await;
    }
    let mut result = judge(&case, count, &tally, death);
    if let Some(tool) = tool {
        result = result.tool(tool);
    }
    bench.tell(result);
}

async fn send(bench: &Bench, session: &Session, request: &Rc<Prepared>, count: usize) -> Tally {
    let tap = session.tap();
    let landed = at_once(vec![(session.clone(), request.clone()); count], bench.patient()).await;
    let heard = answers_heard(&tap, &landed);
    let refused = |landed: &&Landed| {
        landed.reply.failure().is_some_and(|category| category != ErrorCategory::ToolError)
            && Fate::of(&landed.reply) == Fate::Refused
    };
    let (garbled, defect) = fallen(&landed, Fate::Garbled);
    Tally {
        good: fallen(&landed, Fate::Good).0,
        garbled,
        first_defect: defect.to_owned(),
        silent: landed.iter().filter(|landed| landed.is_silent()).count(),
        refused: landed.iter().filter(refused).count(),
        twice: heard.iter().filter(|count| **count > 1).count(),
        first_refusal: landed
            .iter()
            .find(refused)
            .map_or_else(String::new, |landed| landed.reply.message.clone()),
    }
}

fn judge(
    case: &str,
    count: usize,
    tally: &Tally,
    death: Option<(CaseVerdict, String)>,
) -> CaseResult {
    let Tally { good, silent, garbled, refused, twice, first_defect, first_refusal } = tally;
    let answered = count.saturating_sub(silent + garbled + refused);
    match (death, silent, twice + garbled, refused) {
        (Some((verdict, why)), ..) => {
            CHECK.case(case, verdict).detail(format!("{silent} not answered: {why}"))
        }
        (None, 1.., ..) => CHECK
            .case(case, CaseVerdict::Broken)
            .detail(format!("{answered} answered, {refused} refused, {silent} never answered")),
        (None, 0, 1.., _) if *garbled > 0 => CHECK
            .case(case, CaseVerdict::Broken)
            .detail(format!("{garbled} of {count} got no valid answer: {first_defect}")),
        (None, 0, 1.., _) => CHECK
            .case(case, CaseVerdict::Broken)
            .detail(format!("{twice} of {count} were answered more than once")),
        // One alone succeeds. Whoever refuses some has too much to do; of one that refuses all, nobody
        // knows whether it could have served any.
        (None, 0, 0, _) if *good == 0 => CHECK
            .case(case, CaseVerdict::CouldNotTell)
            .detail(format!("none of {count} succeeded, one alone does: {first_refusal}")),
        (None, 0, 0, 1..) => CHECK
            .case(case, CaseVerdict::Held)
            .severity(Severity::Info)
            .detail(format!("{answered} answered, {refused} refused: {first_refusal}")),
        (None, 0, 0, 0) => CHECK.case(case, CaseVerdict::Held),
    }
}
