//! The server's process trees, looked at every so often.

use std::{collections::HashMap, time::Duration};

use mcp_loadtest_core::event::{Event, ProcessSample};
use mcp_loadtest_wire::{process::Sampler, sink::Sink as _};

use crate::context::Context;

const INTERVAL: Duration = Duration::from_millis(500);
const MEBIBYTE: f64 = 1_048_576.0;

/// Samples until it is dropped. Without processes of ours there is nothing to see.
pub(crate) async fn keep_sampling(context: &Context) {
    let mut samplers: HashMap<u32, Sampler> = HashMap::new();
    loop {
        let pids = context.blueprint.pids.all();
        samplers.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            samplers.entry(pid).or_insert_with(|| Sampler::new(pid));
        }
        if let Some(sample) = sample(context.now(), &mut samplers) {
            context.recorder.emit(&Event::Process(sample));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The sum over all trees.
fn sample(at: Duration, samplers: &mut HashMap<u32, Sampler>) -> Option<ProcessSample> {
    let seen: Vec<_> = samplers.values_mut().filter_map(Sampler::sample).collect();
    if seen.is_empty() {
        return None;
    }
    Some(ProcessSample {
        at,
        rss_mb: seen.iter().map(|sample| sample.tree.rss_bytes as f64 / MEBIBYTE).sum(),
        cpu_pct: seen.iter().filter_map(|sample| sample.cpu_pct).fold(0.0, |sum, cpu| sum + cpu),
        threads: seen.iter().filter_map(|sample| sample.tree.threads).sum(),
        open_files: seen.iter().filter_map(|sample| sample.tree.open_files).sum(),
    })
}
