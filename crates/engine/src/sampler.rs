//! The server's process trees, looked at every so often while load is on.
//!
//! Servers that are still being started, or ended one by one, would look like memory that grows or
//! shrinks; so the scenario says when the set of them is complete. What is read while load is on is
//! read in another thread: the kernel takes its time, and no call should wait for that.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::{
    event::{Event, ProcessSample},
    scenario::ScenarioKind,
};
use mcp_loadtest_wire::{clock::Clock, process::Sampler, sink::Sink as _};

use crate::context::{Context, Pids};

/// How often, unless the scenario says.
const INTERVAL: Duration = Duration::from_millis(500);
const MEBIBYTE: f64 = 1_048_576.0;

/// Who is watched, and whether now.
#[derive(Default)]
pub(crate) struct Watch {
    samplers: Samplers,
    on: Cell<bool>,
    /// When the last sample was taken that was told.
    told: Cell<Duration>,
}

type Samplers = Arc<Mutex<HashMap<u32, Sampler>>>;

impl Context {
    /// Load begins: all servers run.
    pub(crate) fn begin_sampling(&self) {
        self.watch.on.set(true);
        self.sample_here();
    }

    /// Load is over; servers may be ended from now on.
    pub(crate) fn end_sampling(&self) {
        self.sample_here();
        self.watch.on.set(false);
    }

    fn sample_here(&self) {
        if self.watch.on.get() {
            let sample = look(&self.watch.samplers, &self.blueprint.pids, self.blueprint.clock);
            self.tell(sample);
        }
    }

    /// A sample that was overtaken by the last one would make it look like an earlier one.
    fn tell(&self, sample: Option<ProcessSample>) {
        if let Some(sample) = sample
            && self.watch.on.get()
            && sample.at >= self.watch.told.replace(sample.at.max(self.watch.told.get()))
        {
            self.recorder.emit(&Event::Process(sample));
        }
    }
}

/// Samples until it is dropped. Without a known process there is nothing to see.
pub(crate) async fn keep_sampling(context: &Context) {
    let interval = match &context.blueprint.scenario.kind {
        ScenarioKind::Soak(soak) => soak.sample_interval,
        _ => INTERVAL,
    };
    loop {
        tokio::time::sleep(interval).await;
        if !context.watch.on.get() {
            continue;
        }
        let (samplers, clock) = (context.watch.samplers.clone(), context.blueprint.clock);
        let pids = context.blueprint.pids.clone();
        let sample = tokio::task::spawn_blocking(move || look(&samplers, &pids, clock)).await;
        context.tell(sample.unwrap_or_default());
    }
}

/// Looks at all servers that run now.
fn look(samplers: &Samplers, pids: &Pids, clock: Clock) -> Option<ProcessSample> {
    let pids = pids.all();
    let mut samplers = samplers.lock().unwrap_or_else(PoisonError::into_inner);
    samplers.retain(|pid, _| pids.contains(pid));
    for pid in pids {
        samplers.entry(pid).or_insert_with(|| Sampler::new(pid));
    }
    sample(clock.now(), &mut samplers)
}

/// The sum over all trees.
fn sample(at: Duration, samplers: &mut HashMap<u32, Sampler>) -> Option<ProcessSample> {
    let seen: Vec<_> = samplers.values_mut().filter_map(Sampler::sample).collect();
    if seen.is_empty() {
        return None;
    }
    let pss: Option<f64> = seen.iter().map(|sample| Some(sample.tree.pss_bytes? as f64)).sum();
    Some(ProcessSample {
        at,
        rss_mb: seen.iter().map(|sample| sample.tree.rss_bytes as f64 / MEBIBYTE).sum(),
        pss_mb: pss.map(|bytes| bytes / MEBIBYTE),
        cpu_pct: seen.iter().filter_map(|sample| sample.cpu_pct).fold(0.0, |sum, cpu| sum + cpu),
        threads: seen.iter().filter_map(|sample| sample.tree.threads).sum(),
        open_files: seen.iter().filter_map(|sample| sample.tree.open_files).sum(),
    })
}
