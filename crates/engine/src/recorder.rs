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
    live::Cursor,
    secrets::Secrets,
    tally::{Segment, Tally},
    trace::{Keeper, Untraced},
};
use mcp_loadtest_wire::{clock::Clock, sink::Sink};

use crate::{
    context::Blueprint,
    log,
    trace_writer::{Patience, TraceSender},
    watch::Onlooker,
};

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
    trace: Option<Tracing>,
    told: Told,
    cursor: Cursor,
}

/// The part of the trace that one thread writes.
struct Tracing {
    sender: TraceSender,
    keeper: Keeper,
    buffer: Vec<u8>,
}

/// The sink of one thread.
pub(crate) struct Recorder {
    inside: RefCell<Inside>,
    progress: Arc<Progress>,
    onlooker: Option<(Onlooker, Clock)>,
    worker: u16,
    /// Limits on latency that are watched while load is on.
    limits: Option<[Duration; 4]>,
    /// What is kept out of all that is told.
    secrets: Secrets,
}

impl Recorder {
    pub(crate) fn new(blueprint: &Blueprint, worker: u16) -> Self {
        let limits = blueprint.thresholds.latencies().map(|(_, _, limit)| limit);
        Self {
            limits: blueprint.scenario.abort_on_fail.then_some(limits),
            onlooker: blueprint.onlooker.clone().map(|onlooker| (onlooker, blueprint.clock)),
            ..Self::writing(
                blueprint.trace.clone(),
                worker,
                blueprint.progress.clone(),
                blueprint.secrets.clone(),
            )
        }
    }

    /// The same for whoever has no run: no limits are watched.
    pub(crate) fn writing(
        trace: Option<TraceSender>,
        worker: u16,
        progress: Arc<Progress>,
        secrets: Secrets,
    ) -> Self {
        let trace = trace.map(|sender| Tracing {
            keeper: Keeper::new(sender.mode(), worker),
            buffer: empty_buffer(),
            sender,
        });
        let inside = Inside {
            tally: Tally::default(),
            trace,
            told: Told::default(),
            cursor: Cursor::default(),
        };
        let inside = RefCell::new(inside);
        Self { inside, progress, onlooker: None, worker, limits: None, secrets }
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
        if let Some(tracing) = &mut inside.trace {
            tracing.flush();
        }
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
        if let Some((onlooker, clock)) = &self.onlooker {
            let (glimpse, cursor) = inside.cursor.look(self.worker, &inside.tally, clock.now());
            if onlooker.offer(glimpse) {
                inside.cursor = cursor;
            }
        }
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
        let mut tally = std::mem::take(&mut inside.tally);
        if let Some(tracing) = inside.trace.take() {
            tally.untraced = tracing.finish();
        }
        tally
    }
}

fn empty_buffer() -> Vec<u8> {
    Vec::with_capacity(BUFFER + 4096)
}

impl Tracing {
    fn flush(&mut self) {
        self.keeper.append_note(&mut self.buffer);
        if self.buffer.is_empty() {
            return;
        }
        let full = std::mem::take(&mut self.buffer);
        match self.sender.send(full, self.sender.patience()) {
            Ok(()) => self.buffer = empty_buffer(),
            Err(mut refused) => {
                self.keeper.lose(&refused);
                refused.clear();
                self.buffer = refused;
            }
        }
    }

    /// The load is over, so the last lines are worth a wait.
    fn finish(mut self) -> Untraced {
        let untraced = self.keeper.finish(&mut self.buffer);
        let _ = self.sender.send(self.buffer, Patience::Wait);
        untraced
    }
}

impl Sink for Recorder {
    fn emit(&self, event: &Event<'_>) {
        log::tell(event, &self.secrets);
        let mut inside = self.inside.borrow_mut();
        inside.tally.observe(event);
        if let Some(tracing) = &mut inside.trace {
            tracing.keeper.append(event, &mut tracing.buffer);
            if tracing.buffer.len() >= BUFFER {
                tracing.flush();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace_writer::TraceWriter;
    use mcp_loadtest_core::{
        config::Trace,
        event::{Call, Phase},
        trace::{keep::CALLS_PER_SECOND, read_line},
    };

    /// Twice as many calls as a second may bring, all of them in one second.
    #[test]
    fn a_fast_load_is_sampled_and_still_counted_to_the_last_call() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("trace.jsonl");
        let writer = TraceWriter::start(&path, Trace::Sampled, Default::default()).unwrap();
        let (progress, secrets) = (Default::default(), Default::default());
        let recorder = Recorder::writing(Some(writer.sender()), 0, progress, secrets);
        let calls = 2 * CALLS_PER_SECOND;
        for id in 0..calls {
            let started = Duration::from_micros(id * 10);
            let call = Call {
                request_id: id,
                session: 0,
                worker: 0,
                phase: Phase::Load,
                method: "tools/call".into(),
                tool: Some("echo".into()),
                segment: 0,
                intended: started,
                started,
            };
            let params = b"{}".as_slice().into();
            recorder.emit(&Event::Request { call: call.clone(), params });
            let at = started + Duration::from_micros(7);
            recorder.emit(&Event::Response { call, at, result: b"{}".as_slice().into() });
        }
        let tally = recorder.finish();
        writer.finish().unwrap();
        assert_eq!((tally.counts().ok, tally.counts().closes()), (calls, true));
        let text = std::fs::read_to_string(&path).unwrap();
        let untraced = tally.untraced;
        // Nothing was too slow for lines that fit into the queue of the writer.
        assert_eq!(untraced.lost_lines, 0);
        assert!(untraced.calls > calls / 3 && untraced.lines == 2 * untraced.calls, "{untraced:?}");
        let lines = text.lines().count() as u64;
        assert_eq!(lines, 2 * calls - untraced.lines + untraced.notes);
        assert!(text.lines().all(|line| read_line(line).is_ok()));
    }
}
