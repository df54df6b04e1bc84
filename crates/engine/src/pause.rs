//! A way to hold the load and let it go on. The schedule waits with it: a pause is neither a stall of
//! the server nor load that was not offered.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use mcp_loadtest_core::tally::Pause as Span;
use mcp_loadtest_wire::clock::Clock;
use tokio::sync::Notify;

/// Holds the load when told to. Clones are the same switch.
#[derive(Debug, Clone, Default)]
pub struct Pause {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    held: AtomicBool,
    /// Nanoseconds of all pauses that are over.
    spent: AtomicU64,
    resumed: Notify,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The clock of the run, while there is load that can be held.
    clock: Option<Clock>,
    since: Option<Duration>,
    spans: Vec<Span>,
}

impl Pause {
    /// A switch that is not pressed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds the load: calls in flight end, no further one is made. `false` where there is no load
    /// that can be held: before the first call, and in scenarios whose steps depend on time.
    pub fn hold(&self) -> bool {
        let mut state = self.state();
        let Some(clock) = state.clock else { return false };
        if state.since.is_none() {
            state.since = Some(clock.now());
            self.inner.held.store(true, Ordering::Release);
        }
        true
    }

    /// Lets the load go on.
    pub fn resume(&self) {
        let mut state = self.state();
        let (Some(clock), Some(from)) = (state.clock, state.since.take()) else { return };
        let span = Span { from, to: clock.now() };
        state.spans.push(span);
        let spent = span.length().as_nanos() as u64;
        self.inner.spent.fetch_add(spent, Ordering::Release);
        self.inner.held.store(false, Ordering::Release);
        self.inner.resumed.notify_waiters();
    }

    /// Whether the load is held now.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.inner.held.load(Ordering::Acquire)
    }

    /// How long the load was held so far.
    pub fn total(&self) -> Duration {
        let state = self.state();
        let now = state.clock.zip(state.since);
        let now = now.map_or(Duration::ZERO, |(clock, since)| clock.now().saturating_sub(since));
        self.spent() + now
    }

    /// The pauses so far; one that goes on ends now.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let state = self.state();
        let going =
            state.clock.zip(state.since).map(|(clock, from)| Span { from, to: clock.now() });
        state.spans.iter().copied().chain(going).collect()
    }

    /// How long all pauses that are over took: so much later is everything that was planned.
    #[inline]
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.inner.spent.load(Ordering::Acquire))
    }

    /// Waits while the load is held.
    pub(crate) async fn resumed(&self) {
        loop {
            let resumed = self.inner.resumed.notified();
            if !self.is_held() {
                return;
            }
            resumed.await;
        }
    }

    /// From now on there is load that can be held.
    pub(crate) fn arm(&self, clock: Clock) {
        self.state().clock = Some(clock);
    }

    /// The load is over. Gives the pauses that there were, the last one ended.
    pub(crate) fn disarm(&self) -> Vec<Span> {
        self.resume();
        let mut state = self.state();
        state.clock = None;
        std::mem::take(&mut state.spans)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_load_that_is_on_can_be_held_and_every_pause_is_kept() {
        let a_moment = Duration::from_millis(5);
        let pause = Pause::new();
        assert!(!pause.hold() && !pause.is_held());
        pause.arm(Clock::start());
        for _ in 0..2 {
            assert!(pause.hold() && pause.is_held());
            tokio::time::sleep(a_moment).await;
            pause.resume();
            pause.resumed().await;
            assert!(!pause.is_held());
        }
        assert!(pause.hold() && pause.spent() >= a_moment * 2);
        tokio::time::sleep(a_moment).await;
        assert!(pause.total() >= pause.spent() + a_moment);
        let spans = pause.disarm();
        assert_eq!(spans.len(), 3);
        assert!(spans.iter().all(|span| span.length() >= a_moment));
        assert_eq!(pause.spent(), spans.iter().map(Span::length).sum());
        assert!(!pause.is_held() && !pause.hold());
    }
}
