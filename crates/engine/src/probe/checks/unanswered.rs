//! Proper calls, one after another: each must be answered, and under its own id.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    jsonrpc::{self, Id, Message},
    outcome::ErrorCategory,
    report::Severity,
};
use mcp_loadtest_wire::session::{Reply, Session, Tap};

use super::{Check, Running};
use crate::probe::{at_once::Fate, bench::Bench};

pub(super) static CHECK: Check = Check {
    id: "unanswered",
    family: Family::Output,
    taxonomy: None,
    depth: Depth::Quick,
    about: "makes many calls one after another and looks whether each is answered, under its own id",
    meaning: "now and then a call is never answered, and its user waits for ever",
    run,
};

/// One lost reply in so many is found.
const CALLS: usize = 150;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let session = match bench.fresh().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let known = bench.fast_subject();
        let count = known.map_or(CALLS, |known| bench.affordable(known, CALLS));
        let mut result = look(bench, &session, count).await;
        if let Some(known) = known {
            result = result.tool(&known.tool.name);
        }
        session.close().await;
        bench.tell(result);
    })
}

/// What became of calls one after another.
#[derive(Default)]
struct Tally {
    made: usize,
    /// What cut the one call that was made once more.
    cut: Option<String>,
    refused: usize,
    first_refusal: String,
    highest_id: u64,
}

async fn look(bench: &Bench, session: &Session, count: usize) -> CaseResult {
    let request = bench.fast_request(session);
    let case = format!("{count} requests `{}` one after another", request.method());
    let tap = session.tap();
    let mut tally = Tally::default();
    while tally.made < count {
        let mut call = session.send(&request, bench.patient());
        tally.highest_id = call.id();
        tally.made += 1;
        let reply = call.ended().await.into_reply();
        match Fate::of(&reply) {
            Fate::Good => {}
            Fate::Refused => {
                tally.refused += 1;
                tally.first_refusal.clone_from(&reply.message);
            }
            Fate::Garbled => {
                let why = format!("call {} of {count} got no valid answer", tally.made);
                return CHECK
                    .case(case, CaseVerdict::Broken)
                    .detail(format!("{why}: {}", reply.message));
            }
            Fate::Lost => {
                let stray = stray(&tap, tally.highest_id);
                let lost = lost(&case, count, &tally, &reply, stray);
                let told = bench.unless_dead(session, lost).await;
                let is_alive = told.verdict == CaseVerdict::Broken;
                let is_cut = reply.failure() == Some(ErrorCategory::Disconnected);
                if !is_alive || !is_cut || stray.is_some() || tally.cut.is_some() {
                    return told;
                }
                // Once may be a connection that was closed just when the call went out on it.
                tally.cut = Some(format!("call {} was cut once: {}", tally.made, reply.message));
                tally.made -= 1;
            }
        }
    }
    let held = match &tally.cut {
        Some(cut) => CHECK.case(&case, CaseVerdict::Held).severity(Severity::Info).detail(cut),
        None => CHECK.case(&case, CaseVerdict::Held),
    };
    match tally.refused {
        0 => held,
        refused if refused == count => CHECK
            .case(case, CaseVerdict::CouldNotTell)
            .detail(format!("all were refused: {}", tally.first_refusal)),
        refused => CHECK
            .case(case, CaseVerdict::Held)
            .severity(Severity::Info)
            .detail(format!("{refused} were refused: {}", tally.first_refusal)),
    }
}

/// A call was given up, and the server may live on.
fn lost(case: &str, count: usize, tally: &Tally, reply: &Reply, stray: Option<u64>) -> CaseResult {
    let mut told = format!("call {} of {count} was never answered: {}", tally.made, reply.message);
    if let Some(id) = stray {
        told.push_str(&format!("; a reply came with id {id}, which was never sent"));
    }
    CHECK.case(case, CaseVerdict::Broken).detail(told)
}

/// The id of a reply to what nobody has asked. The ids of a session go up, and on this one, which is new, nothing
/// was sent by hand: so it is any that lies beyond the highest.
fn stray(tap: &Tap, highest: u64) -> Option<u64> {
    while let Some(heard) = tap.pop() {
        if let Some(Message::Response { id: Id::Number(id), .. }) =
            jsonrpc::read(&heard.frame).message
            && id > highest
        {
            return Some(id);
        }
    }
    None
}
