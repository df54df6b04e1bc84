//! How busy a load thread is, so that a run in which we were the limit can say so.

use std::{cell::Cell, time::Duration};

use mcp_loadtest_core::event::{Event, GENERATOR_INTERVAL, GeneratorSample};
use mcp_loadtest_wire::sink::Sink as _;

use crate::context::Context;

/// What the system knows of the thread that asks: time on a CPU, and time ready without one.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    cpu: Duration,
    starved: Duration,
}

/// Linux tells it in one line; elsewhere it is not known, and the report says nothing of it.
fn spent() -> Option<Spent> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map(|word| word.parse().map(Duration::from_nanos));
    Some(Spent { cpu: numbers.next()?.ok()?, starved: numbers.next()?.ok()? })
}

/// Watches the thread that it was made in.
pub(super) struct OwnTime<'a> {
    context: &'a Context,
    before: Cell<Option<(Duration, Spent)>>,
}

impl<'a> OwnTime<'a> {
    pub(super) fn begin(context: &'a Context) -> Self {
        Self { context, before: Cell::new(spent().map(|spent| (context.now(), spent))) }
    }

    /// Books what the thread did since the time before.
    pub(super) fn sample(&self) {
        let Some(((then, before), now)) = self.before.get().zip(spent()) else { return };
        let at = self.context.now();
        self.before.set(Some((at, now)));
        let sample = GeneratorSample {
            at,
            worker: self.context.worker,
            wall: at.saturating_sub(then),
            cpu: now.cpu.saturating_sub(before.cpu),
            starved: now.starved.saturating_sub(before.starved),
        };
        self.context.recorder.emit(&Event::Generator(sample));
    }

    /// Samples now and then until it is dropped.
    pub(super) async fn keep_sampling(&self) {
        loop {
            let held = self.context.is_held();
            tokio::time::sleep(GENERATOR_INTERVAL).await;
            if held || self.context.is_held() {
                // Idle on purpose says nothing of how busy load makes it.
                self.before.set(spent().map(|spent| (self.context.now(), spent)));
            } else {
                self.sample();
            }
        }
    }
}
