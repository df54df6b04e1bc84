//! Many calls at once, over several sessions: does every answer belong to its request?

use std::{borrow::Cow, time::Duration};

use mcp_loadtest_wire::session::{How, Reply, Session};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    audit::Row,
    gateway::{
        bench::{Bench, shown, told},
        check::{Check, Finding, Untold},
        upstream::Mark,
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
/// A gateway that is merely slow has so much more time, because of the crowd, and again after every sign
/// of life …
const CROWD: u32 = 6;
/// … but not for ever: so often.
const MOST_SIGNS: u32 = 20;
/// How often the server is asked what it has seen.
const LOOK: Duration = Duration::from_millis(250);

/// What came of all calls.
struct Crowd {
    /// The marker of each, and its answer.
    answered: Vec<(String, Reply)>,
    /// Those without an answer.
    unanswered: usize,
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
    let (answered, unanswered) = call_all(bench, &sessions, mark).await?;
    for session in sessions {
        session.close().await;
    }
    let rows = bench.upstream.calls(mark, "echo");
    let times = |marker: &str| {
        let has = |row: &&Row| row.arguments.as_deref().unwrap_or_default().contains(marker);
        rows.iter().filter(has).count()
    };
    let markers = answered.iter().map(|(marker, _)| marker).chain(&unanswered);
    let seen = markers.map(|marker| times(marker)).collect();
    let orphans = bench.hearing.orphans() - orphans;
    Ok(judge(&Crowd { seen, answered, unanswered: unanswered.len(), orphans }))
}

/// All at once; each with its marker. Those that nobody answered are the second list: nothing happened
/// any more, neither here nor at the server.
async fn call_all(
    bench: &Bench,
    sessions: &[Session],
    mark: Mark,
) -> Result<(Vec<(String, Reply)>, Vec<String>), Untold> {
    let silence = CROWD * bench.patience;
    let how = How::setup(MOST_SIGNS * silence);
    let (mut calls, mut waiting) = (JoinSet::new(), Vec::new());
    for _ in 0..CALLS {
        for session in sessions {
            // With an end of its own, so that no marker is the beginning of another.
            let marker = format!("{};", bench.marker());
            let call = bench.prepare(session, "echo", json!({ "message": marker }))?;
            let (session, own) = (session.clone(), marker.clone());
            calls.spawn_local(async move { (own, session.call(&call, how).await) });
            waiting.push(marker);
        }
    }
    let (mut answered, mut seen, mut last) = (Vec::new(), 0, Instant::now());
    while !calls.is_empty() && last.elapsed() < silence {
        match timeout(LOOK, calls.join_next()).await {
            Ok(Some(Ok((marker, reply)))) => {
                waiting.retain(|other| *other != marker);
                answered.push((marker, reply));
                last = Instant::now();
            }
            Ok(_) => {}
            Err(_) => {
                // A gateway may shake hands with the server for every call, before the first one arrives.
                let now = bench.upstream.since(mark).len();
                if now > seen {
                    (seen, last) = (now, Instant::now());
                }
            }
        }
    }
    Ok((answered, waiting))
}

fn judge(crowd: &Crowd) -> Finding {
    let Crowd { answered, unanswered, seen, orphans } = crowd;
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
    if *unanswered > 0 {
        wrong.push(format!("{unanswered} got no answer, and nothing happened any more"));
    }
    if twice + never > 0 {
        wrong.push(format!("the server saw {twice} more than once and {never} not at all"));
    }
    if *orphans > 0 {
        wrong.push(format!("{orphans} answers were to no call, or to one that had its answer"));
    }
    let all = answered.len() + unanswered;
    let right =
        format!("{all} calls in {SESSIONS} sessions: each has its answer, and was seen once");
    Finding::judge(wrong, right)
        .figure("calls", all as f64)
        .figure("foreign", foreign.len() as f64)
        .figure("failed", (failed.len() + unanswered) as f64)
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
