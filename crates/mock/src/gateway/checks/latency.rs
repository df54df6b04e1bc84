//! What the gateway costs: the same call through it and past it, in turns.

use std::time::Duration;

use mcp_loadtest_core::units::format_latency;
use mcp_loadtest_wire::session::How;
use serde_json::json;

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "latency",
    about: "How much longer a call takes through the gateway than past it.",
    advice: "",
    run: |bench| Box::pin(run(bench)),
};

const CALLS: usize = 200;

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let (through, direct) = (bench.session().await?, bench.direct().await?);
    let arguments = || json!({ "message": "latency" });
    let call = bench.prepare(&through, "echo", arguments())?;
    let (mut slow, mut fast) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for _ in 0..CALLS {
        let reply = through.call(&call, How::setup(bench.patience)).await;
        if reply.failure().is_some() {
            return Err(Untold(format!("a call got {}", told(&reply))));
        }
        slow.push(reply.took());
        fast.push(bench.call_direct(&direct, "echo", arguments()).await.took());
    }
    direct.close().await;
    slow.sort_unstable();
    fast.sort_unstable();
    let [slow50, slow99, fast50, fast99] =
        [at(&slow, 50), at(&slow, 99), at(&fast, 50), at(&fast, 99)];
    let told = format!(
        "p50 {} against {} without it, p99 {} against {}",
        format_latency(slow50),
        format_latency(fast50),
        format_latency(slow99),
        format_latency(fast99)
    );
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Finding::measured(told)
        .figure("p50_ms", ms(slow50))
        .figure("p99_ms", ms(slow99))
        .figure("direct_p50_ms", ms(fast50))
        .figure("direct_p99_ms", ms(fast99))
        .figure("added_p50_ms", ms(slow50) - ms(fast50))
        .figure("added_p99_ms", ms(slow99) - ms(fast99)))
}

/// The smallest value that so many per cent of all do not exceed.
fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent).div_ceil(100).saturating_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(at(&values, 50), Duration::from_millis(100));
        assert_eq!(at(&values, 99), Duration::from_millis(198));
        assert_eq!(at(&values[..1], 99), Duration::from_millis(1));
    }
}
