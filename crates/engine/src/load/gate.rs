//! Ends the load as soon as a threshold is violated for good.

use std::{sync::atomic::Ordering, time::Duration};

use mcp_loadtest_core::event::note;

use crate::context::Context;

const INTERVAL: Duration = Duration::from_millis(250);
/// A verdict on fewer calls than this would be hasty. However many they are, the calls on their way may
/// bring a share back within its limit: such a run is INVALID, see `ended_on_fail`.
const ENOUGH: u64 = 100;

/// Looks at the thresholds now and then; ends the load when one cannot be kept any more. Never
/// returns: it is dropped with the load.
pub(crate) async fn watch_thresholds(context: &Context) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if !context.blueprint.scenario.abort_on_fail || context.is_over() {
            continue;
        }
        if let Some(why) = violated(context) {
            context.end_early(note::ENDED_ON_FAIL, &why);
        }
    }
}

fn violated(context: &Context) -> Option<String> {
    let progress = &context.blueprint.progress;
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (ok, errors) = (read(&progress.ok), read(&progress.errors));
    let ended = ok + errors;
    if ended < ENOUGH {
        return None;
    }
    let share = |count: u64| count as f64 / ended as f64;
    let limits = &context.blueprint.thresholds;
    if share(errors) > limits.error_rate {
        return Some(format!("error_rate: {errors} of {ended} calls failed"));
    }
    let over = limits.latencies().into_iter().zip(&progress.over);
    let mut slow = over.filter(|((_, quantile, _), count)| share(read(count)) > 1.0 - quantile);
    slow.next().map(|((kind, _, limit), count)| {
        let limit = mcp_loadtest_core::units::format_span(limit);
        format!("{kind}: {} of {ended} calls took longer than {limit}", read(count))
    })
}
