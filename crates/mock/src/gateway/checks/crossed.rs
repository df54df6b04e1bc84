//! Many calls at once, over several sessions: does every answer belong to its request?

use std::borrow::Cow;

use mcp_loadtest_wire::session::{How, Reply, Session};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    audit::Row,
    gateway::{
        bench::{Bench, shown, told},
        check::{Check, Finding, Untold},
    },
};

pub(super) const ENTRY: Check = Check {
    id: "crossed",
    about: "Of many calls at once, each gets its own answer, and the server sees each exactly once.",
    advice: "Give each request to the server an id of its own, keep it with the session that asked, \
             and share no buffer between requests.",
    run: |bench| Box::pin(run(bench)),
};

const SESSIONS: usize = 4;
const CALLS: usize = 25;
/// A gateway that is merely slow has so much more time, because of the crowd.
const CROWD: u32 = 6;

/// What came of all calls.
struct Crowd {
    /// The marker of each, and its answer.
    answered: Vec<(String, Reply)>,
    /// How often the server saw each.
    seen: Vec<usize>,
    /// Answers that answer nothing.
    orphans: usize,
}

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let (mark, orphans) = (bench.upstream.mark(), bench.hearing.orphans());
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(bench.open().await?);
    }
    let answered = call_all(bench, &sessions).await?;
    for session in sessions {
        session.close().await;
    }
    let rows = bench.upstream.calls(mark, "echo");
    let times = |marker: &str| {
        let has = |row: &&Row| row.arguments.as_deref().unwrap_or_default().contains(marker);
        rows.iter().filter(has).count()
    };
    let seen = answered.iter().map(|(marker, _)| times(marker)).collect();
    Ok(judge(&Crowd { seen, answered, orphans: bench.hearing.orphans() - orphans }))
}

/// All at once; each with its marker.
async fn call_all(bench: &Bench, sessions: &[Session]) -> Result<Vec<(String, Reply)>, Untold> {
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        for session in sessions {
            // With an end of its own, so that no marker is the beginning of another.
            let marker = format!("{};", bench.marker());
            let call = bench.prepare(session, "echo", json!({ "message": marker }))?;
            let (session, how) = (session.clone(), How::setup(CROWD * bench.patience));
            calls.spawn_local(async move { (marker, session.call(&call, how).await) });
        }
    }
    Ok(calls.join_all().await)
}

fn judge(crowd: &Crowd) -> Finding {
    let Crowd { answered, seen, orphans } = crowd;
    let (failed, well): (Vec<_>, Vec<_>) =
        answered.iter().partition(|(_, reply)| reply.failure().is_some());
    let foreign: Vec<_> = well.iter().filter(|(marker, reply)| !holds(reply, marker)).collect();
    let twice = seen.iter().filter(|count| **count > 1).count();
    let never = seen.iter().filter(|count| **count == 0).count();
    let mut wrong = Vec::new();
    if let Some((marker, reply)) = foreign.first() {
        let (marker, got) = (marker.trim_end_matches(';'), shown(&body(reply)));
        wrong.push(format!(
            "{} got an answer that is not theirs; {marker} got {got}",
            foreign.len()
        ));
    }
    if let Some((_, reply)) = failed.first() {
        wrong.push(format!("{} got no answer, the first one {}", failed.len(), told(reply)));
    }
    if twice + never > 0 {
        wrong.push(format!("the server saw {twice} more than once and {never} not at all"));
    }
    if *orphans > 0 {
        wrong.push(format!("{orphans} answers were to no call, or to one that had its answer"));
    }
    let all = answered.len();
    let right =
        format!("{all} calls in {SESSIONS} sessions: each has its answer, and was seen once");
    Finding::judge(wrong, right)
        .figure("calls", all as f64)
        .figure("foreign", foreign.len() as f64)
        .figure("failed", failed.len() as f64)
        .figure("orphans", *orphans as f64)
        .figure("seen_twice", twice as f64)
        .figure("never_seen", never as f64)
}

fn holds(reply: &Reply, marker: &str) -> bool {
    body(reply).contains(marker)
}

fn body(reply: &Reply) -> Cow<'_, str> {
    String::from_utf8_lossy(reply.body.as_deref().unwrap_or_default())
}
