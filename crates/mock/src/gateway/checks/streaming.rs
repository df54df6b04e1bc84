//! Progress notifications: does each arrive when it is sent, or all of them with the reply?

use std::time::Duration;

use mcp_loadtest_core::{mcp::method, units::format_latency};
use mcp_loadtest_wire::session::How;
use serde_json::json;
use tokio::time::sleep;

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "streaming",
    about: "Progress notifications reach the client one by one, when they are sent.",
    advice: "Pass `_meta.progressToken` on, relay each event as it comes, and flush: no buffering of \
             `text/event-stream`, no waiting for the end of the reply.",
    run: |bench| Box::pin(run(bench)),
};

const STEPS: usize = 5;
const STEP_MS: u64 = 200;
/// A machine that stood still for a moment looks like a buffer, but not each time.
const TRIES: usize = 3;
/// How long after the reply a notification may come that takes another way.
const STRAGGLERS: Duration = Duration::from_millis(500);

/// When each notification was sent, and when those that arrived did.
struct Times {
    sent: Vec<Duration>,
    arrived: Vec<Duration>,
}

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let mut finding = judge(&watch(bench).await?);
    for _ in 1..TRIES {
        if finding.verdict.passes() {
            break;
        }
        finding = judge(&watch(bench).await?);
    }
    Ok(finding)
}

async fn watch(bench: &Bench) -> Result<Times, Untold> {
    let session = bench.session().await?;
    let (mark, token) = (bench.upstream.mark(), bench.marker());
    let params = json!({
        "name": bench.names.find("progress")?,
        "arguments": { "steps": STEPS, "step_ms": STEP_MS },
        "_meta": { "progressToken": token },
    });
    let call = session.prepare(method::TOOLS_CALL, params);
    let reply = session.call(&call, How::setup(bench.patience)).await;
    let row = bench.upstream.first_call(mark, "progress", STRAGGLERS).await;
    let row = row.ok_or_else(|| Untold(format!("the call got {}", told(&reply))))?;
    if bench.hearing.progress(&token).len() < row.events.len() {
        sleep(STRAGGLERS).await;
    }
    let begun = bench.arrived(&row);
    let sent = row.events.iter().map(|event| begun + Duration::from_micros(event.at_us));
    let arrived = bench.hearing.progress(&token).into_iter().map(|heard| heard.at);
    Ok(Times { sent: sent.collect(), arrived: arrived.collect() })
}

fn judge(times: &Times) -> Finding {
    let Times { sent, arrived } = times;
    if sent.is_empty() {
        return Finding::broken("the progress token did not reach the server, so it told nothing");
    }
    let delays: Vec<_> =
        sent.iter().zip(arrived).map(|(sent, at)| at.saturating_sub(*sent)).collect();
    let slowest = delays.iter().max().copied().unwrap_or_default();
    let shown: Vec<_> = delays.iter().map(|delay| format_latency(*delay)).collect();
    let told = format!("{} of {} arrived, after {}", arrived.len(), sent.len(), shown.join(", "));
    let finding = if arrived.len() != sent.len() {
        let what = if arrived.len() < sent.len() { "lost" } else { "doubled" };
        Finding::broken(format!("notifications are {what}: {told}"))
    } else if spread(arrived) < spread(sent) / 2 {
        Finding::broken(format!("buffered, they arrive together: {told}"))
    } else {
        Finding::kept(told)
    };
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let finding = (1..).zip(&delays).fold(finding, |finding, (number, delay)| {
        finding.figure(format!("delay_{number}_ms"), ms(delay))
    });
    finding
        .figure("sent", sent.len() as f64)
        .figure("arrived", arrived.len() as f64)
        .figure("slowest_ms", ms(&slowest))
}

/// From the first to the last.
fn spread(times: &[Duration]) -> Duration {
    let (first, last) = (times.iter().min(), times.iter().max());
    last.copied().unwrap_or_default().saturating_sub(first.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Verdict;

    fn verdict(arrived: &[u64]) -> Verdict {
        let at = |ms: &u64| Duration::from_millis(*ms);
        let sent = [200, 400, 600, 800, 1000].iter().map(at).collect();
        judge(&Times { sent, arrived: arrived.iter().map(at).collect() }).verdict
    }

    #[test]
    fn what_arrives_together_was_buffered() {
        assert_eq!(verdict(&[205, 405, 605, 805, 1005]), Verdict::Kept);
        assert_eq!(verdict(&[700, 900, 1100, 1300, 1500]), Verdict::Kept, "late, but in step");
        assert_eq!(verdict(&[1001, 1001, 1001, 1001, 1002]), Verdict::Broken);
        assert_eq!(verdict(&[205, 405, 605, 805]), Verdict::Broken);
        assert_eq!(verdict(&[205, 405, 605, 805, 1005, 1006]), Verdict::Broken);
    }
}
