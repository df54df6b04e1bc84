//! A call that the client gives up: does the server hear of it, and how soon?

use std::time::Duration;

use mcp_loadtest_core::units::format_latency;
use mcp_loadtest_wire::session::How;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    audit::{Kind, Row},
    gateway::{
        bench::{Bench, shown, told},
        check::{Check, Finding, Untold},
        upstream::Mark,
    },
};

pub(super) const ENTRY: Check = Check {
    id: "cancel",
    about: "A call that the client cancels ends at the server, too.",
    advice: "Pass `notifications/cancelled` on with the id that the server knows the call by; in the \
             modern era over HTTP, close the stream of the call.",
    run: |bench| Box::pin(run(bench)),
};

/// How long the work would take.
const WORK: Duration = Duration::from_millis(10_000);
/// How long after the end of the work its row is waited for.
const GRACE: Duration = Duration::from_secs(5);
/// How long a call has to reach the server before it is cancelled. It is seen afterwards whether it
/// did; if not, it is tried again with more.
const HEAD_STARTS: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    for head_start in HEAD_STARTS {
        let mark = bench.upstream.mark();
        let cancelled = call_and_cancel(bench, head_start).await?;
        let row = bench.upstream.first_call(mark, "slow", WORK + GRACE).await;
        let Some(row) = row.filter(|row| bench.arrived(row) < cancelled) else { continue };
        bench.renew().await;
        return Ok(judge(bench, &row, cancelled, mark));
    }
    Err(Untold::because("the call did not reach the server before it was cancelled"))
}

/// When it was cancelled.
async fn call_and_cancel(bench: &Bench, head_start: Duration) -> Result<Duration, Untold> {
    let session = bench.session().await?;
    let arguments = json!({ "milliseconds": WORK.as_millis() as u64 });
    let call = bench.prepare(&session, "slow", arguments)?;
    let mut in_flight = session.send(&call, How::setup(2 * WORK));
    let early = tokio::select! {
        ended = in_flight.ended() => Some(ended.into_reply()),
        () = sleep(head_start) => None,
    };
    if let Some(reply) = early {
        return Err(Untold(format!("the call was over too soon: {}", told(&reply))));
    }
    let at = bench.now();
    drop(in_flight);
    Ok(at)
}

fn judge(bench: &Bench, row: &Row, cancelled: Duration, mark: Mark) -> Finding {
    let ended = bench.arrived(row) + Duration::from_micros(row.duration_us);
    let late = ended.saturating_sub(cancelled);
    let wasted = format_latency(late);
    let finding = if row.cancelled {
        Finding::kept(format!("the server heard of it after {wasted}"))
    } else {
        Finding::broken(format!("the server worked on for {wasted} for nobody"))
    };
    let finding = match stray(bench, mark).filter(|_| !row.cancelled) {
        Some(stray) => finding.and(stray),
        None => finding,
    };
    finding.figure("late_ms", late.as_secs_f64() * 1e3)
}

/// A cancellation that named no call.
fn stray(bench: &Bench, mark: Mark) -> Option<String> {
    let rows = bench.upstream.since(mark);
    let row = rows.iter().find(|row| row.kind == Kind::Cancellation)?;
    let note = row.note.as_deref().unwrap_or("it was ignored");
    Some(format!("a cancellation did arrive, but: {}", shown(note)))
}
