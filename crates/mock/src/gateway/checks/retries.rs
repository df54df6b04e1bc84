//! A call that fails at first: does the gateway try again, how often, and after which pause?

use std::time::Duration;

use mcp_loadtest_core::units::format_latency;
use serde_json::json;

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "retries",
    about: "How many attempts the server sees of one call that fails at first, and the pauses.",
    advice: "",
    run: |bench| Box::pin(run(bench)),
};

/// So many attempts fail; then it works.
const FAIL: usize = 2;

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let (mark, key) = (bench.upstream.mark(), bench.marker());
    let arguments = json!({ "mode": "fail_first", "n": FAIL, "key": key });
    let reply = bench.call("flaky", arguments).await?;
    let rows = bench.upstream.calls_with(mark, "flaky", &key);
    let arrived: Vec<_> = rows.iter().map(|row| bench.arrived(row)).collect();
    let pauses: Vec<Duration> =
        arrived.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let shown: Vec<_> = pauses.iter().map(|pause| format_latency(*pause)).collect();
    let how = match rows.len() {
        0 => {
            return Err(Untold(format!("the call never arrived; the client got {}", told(&reply))));
        }
        1 => "no retries: 1 attempt".into(),
        several => format!("{several} attempts, after {}", shown.join(", ")),
    };
    let longest = pauses.iter().max().copied().unwrap_or_default();
    Ok(Finding::measured(format!("{how}; the client got {}", told(&reply)))
        .figure("attempts", rows.len() as f64)
        .figure("longest_pause_ms", longest.as_secs_f64() * 1e3))
}
