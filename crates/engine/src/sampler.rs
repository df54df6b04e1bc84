//! The server's process trees, looked at every so often while load is on.
//!
//! Servers that are still being started, or ended one by one, would look like memory that grows or
//! shrinks; so the scenario says when the set of them is complete.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    time::Duration,
};

use mcp_loadtest_core::{
    event::{Event, ProcessSample},
    scenario::ScenarioKind,
};
use mcp_loadtest_wire::{process::Sampler, sink::Sink as _};

use crate::context::Context;

/// How often, unless the scenario says.
const INTERVAL: Duration = Duration::from_millis(500);
const MEBIBYTE: f64 = 1_048_576.0;

/// Who is watched, and whether now.
#[derive(Default)]
pub(crate) struct Watch {
    samplers: RefCell<HashMap<u32, Sampler>>,
    on: Cell<bool>,
}

impl Context {
    /// Load begins: all servers run.
    pub(crate) fn begin_sampling(&self) {
        self.watch.on.set(true);
        self.sample();
    }

    /// Load is over; servers may be ended from now on.
    pub(crate) fn end_sampling(&self) {
        self.sample();
        self.watch.on.set(false);
    }

    fn sample(&self) {
        if !self.watch.on.get() {
            return;
        }
        let pids = self.blueprint.pids.all();
        let mut samplers = self.watch.samplers.borrow_mut();
        samplers.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            samplers.entry(pid).or_insert_with(|| Sampler::new(pid));
        }
        if let Some(sample) = sample(self.now(), &mut samplers) {
            self.recorder.emit(&Event::Process(sample));
        }
    }
}

/// Samples until it is dropped. Without processes of ours there is nothing to see.
pub(crate) async fn keep_sampling(context: &Context) {
    let interval = match &context.blueprint.scenario.kind {
        ScenarioKind::Soak(soak) => soak.sample_interval,
        _ => INTERVAL,
    };
    loop {
        tokio::time::sleep(interval).await;
        context.sample();
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
