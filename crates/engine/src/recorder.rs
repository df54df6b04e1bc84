//! Where events of one thread end up: folded into its tally, and written to the trace.

use std::{
    cell::RefCell,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mcp_loadtest_core::{
    event::Event,
    tally::{Segment, Tally},
    trace,
};
use mcp_loadtest_wire::sink::Sink;

use crate::{context::Blueprint, trace_writer::TraceSender};

/// A buffer of this size goes to the writer.
const BUFFER: usize = 64 << 10;
/// What is younger than this may be lost when we are killed.
pub(crate) const FLUSH_INTERVAL: Duration = Duration::from_millis(200);

/// How far a run has come, for those who watch it from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    /// Calls that were made.
    pub issued: AtomicU64,
    /// Calls that ended well.
    pub ok: AtomicU64,
    /// Calls that failed.
    pub errors: AtomicU64,
    /// Calls that passed the hang threshold.
    pub hangs: AtomicU64,
    /// Calls that took longer than each limit on latency, where the run ends on a violation.
    pub over: [AtomicU64; 4],
}

/// What has been told to [`Progress`] already.
#[derive(Default)]
struct Told {
    issued: u64,
    ok: u64,
    errors: u64,
    hangs: u64,
    over: [u64; 4],
}

struct Inside {
    tally: Tally,
    trace: Option<(TraceSender, Vec<u8>)>,
    told: Told,
}

/// The sink of one thread.
pub(crate) struct Recorder {
    inside: RefCell<Inside>,
    progress: Arc<Progress>,
    /// Limits on latency that are watched while load is on.
    limits: Option<[Duration; 4]>,
}

impl Recorder {
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        let limits = blueprint.thresholds.latencies().map(|(_, _, limit)| limit);
        Self {
            limits: blueprint.scenario.abort_on_fail.then_some(limits),
            ..Self::writing(blueprint.trace.clone(), blueprint.progress.clone())
        }
    }

    /// The same for whoever has no run: no limits are watched.
    pub(crate) fn writing(trace: Option<TraceSender>, progress: Arc<Progress>) -> Self {
        let trace = trace.map(|sender| (sender, Vec::with_capacity(BUFFER + 4096)));
        let inside = Inside { tally: Tally::default(), trace, told: Told::default() };
        Self { inside: RefCell::new(inside), progress, limits: None }
    }

    /// What this thread has seen of these steps.
    pub(crate) fn segments(&self, steps: RangeInclusive<u16>) -> Vec<Segment> {
        let inside = self.inside.borrow();
        let known = &inside.tally.segments;
        steps.map(|step| known.get(usize::from(step)).cloned().unwrap_or_default()).collect()
    }

    /// Sends what has gathered on its way and tells how far the run is.
    pub(crate) fn flush(&self) {
        let mut inside = self.inside.borrow_mut();
        inside.flush_trace();
        let counts = inside.tally.counts();
        let now = Told {
            issued: counts.issued,
            ok: counts.ok,
            errors: counts.errors(),
            hangs: inside.tally.hang_count,
            over: self.limits.map_or([0; 4], |limits| inside.tally.over(limits)),
        };
        let add =
            |to: &AtomicU64, now: u64, before: u64| to.fetch_add(now - before, Ordering::Relaxed);
        add(&self.progress.issued, now.issued, inside.told.issued);
        add(&self.progress.ok, now.ok, inside.told.ok);
        add(&self.progress.errors, now.errors, inside.told.errors);
        add(&self.progress.hangs, now.hangs, inside.told.hangs);
        for (index, counter) in self.progress.over.iter().enumerate() {
            add(counter, now.over[index], inside.told.over[index]);
        }
        inside.told = now;
    }

    /// Flushes now and then until it is dropped.
    pub(crate) async fn keep_flushing(&self) {
        loop {
            tokio::time::sleep(FLUSH_INTERVAL).await;
            self.flush();
        }
    }

    /// What this thread saw; the trace is on its way to the writer.
    pub(crate) fn finish(&self) -> Tally {
        self.flush();
        let mut inside = self.inside.borrow_mut();
        inside.trace = None;
        std::mem::take(&mut inside.tally)
    }
}

impl Inside {
    fn flush_trace(&mut self) {
        if let Some((sender, buffer)) = &mut self.trace
            && !buffer.is_empty()
        {
            let full = std::mem::replace(buffer, Vec::with_capacity(BUFFER + 4096));
            // The writer outlives its senders; if it has panicked, `finish` of the writer says so.
            let _ = sender.send(full);
        }
    }
}

impl Sink for Recorder {
    fn emit(&self, event: &Event<'_>) {
        let mut inside = self.inside.borrow_mut();
        inside.tally.observe(event);
        if let Some((_, buffer)) = &mut inside.trace {
            trace::append(event, buffer);
            if buffer.len() >= BUFFER {
                inside.flush_trace();
            }
        }
    }
}
