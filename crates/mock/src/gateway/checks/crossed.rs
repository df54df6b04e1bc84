//! Many calls at once, over several sessions: does every answer belong to its request?

use mcp_loadtest_wire::session::{How, Reply};
use serde_json::json;
use tokio::task::JoinSet;

use crate::gateway::{
    bench::{Bench, shown, told},
    check::{Check, Finding, Untold},
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

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let mark = bench.upstream.mark();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(bench.open().await?);
    }
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        for session in &sessions {
            let marker = bench.marker();
            // With an end of its own, so that no marker is the beginning of another.
            let marker = format!("{marker};");
            let call = bench.prepare(session, "echo", json!({ "message": marker }))?;
            let (session, how) = (session.clone(), How::setup(CROWD * bench.patience));
            calls.spawn_local(async move { (marker, session.call(&call, how).await) });
        }
    }
    let answered = calls.join_all().await;
    for session in sessions {
        session.close().await;
    }
    let markers: Vec<_> = answered.iter().map(|(marker, _)| marker.clone()).collect();
    let rows = bench.upstream.calls(mark, "echo");
    let seen = |marker: &String| {
        rows.iter()
            .filter(|row| row.arguments.as_deref().unwrap_or_default().contains(marker))
            .count()
    };
    Ok(judge(&answered, &markers.iter().map(seen).collect::<Vec<_>>()))
}

fn judge(answered: &[(String, Reply)], seen: &[usize]) -> Finding {
    let failed: Vec<_> = answered.iter().filter(|(_, reply)| reply.failure().is_some()).collect();
    let foreign: Vec<_> = answered
        .iter()
        .filter(|(marker, reply)| reply.failure().is_none() && !holds(reply, marker))
        .collect();
    let twice = seen.iter().filter(|count| **count > 1).count();
    let never = seen.iter().filter(|count| **count == 0).count();
    let mut wrong = Vec::new();
    if let Some((marker, reply)) = foreign.first() {
        let got = String::from_utf8_lossy(reply.body.as_deref().unwrap_or_default());
        wrong.push(format!(
            "{} got an answer that is not theirs; {} got {}",
            foreign.len(),
            marker.trim_end_matches(';'),
            shown(&got)
        ));
    }
    if let Some((_, reply)) = failed.first() {
        wrong.push(format!("{} got no answer, the first one {}", failed.len(), told(reply)));
    }
    if twice + never > 0 {
        wrong.push(format!("the server saw {twice} more than once and {never} not at all"));
    }
    let all = answered.len();
    let right =
        format!("{all} calls in {SESSIONS} sessions: each has its answer, and was seen once");
    Finding::judge(wrong, right)
        .figure("calls", all as f64)
        .figure("foreign", foreign.len() as f64)
        .figure("failed", failed.len() as f64)
        .figure("seen_twice", twice as f64)
        .figure("never_seen", never as f64)
}

fn holds(reply: &Reply, marker: &str) -> bool {
    let body = reply.body.as_deref().unwrap_or_default();
    String::from_utf8_lossy(body).contains(marker)
}
