//! A way to end a run early that keeps what was measured.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// Ends a run when told to. Clones are the same signal.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    inner: Arc<(AtomicBool, Notify)>,
}

impl Stop {
    /// A signal that has not been given.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal: no further call is made, calls in flight get a moment, the report is written.
    pub fn stop(&self) {
        self.inner.0.store(true, Ordering::Release);
        self.inner.1.notify_waiters();
    }

    /// Whether the signal was given.
    pub fn is_stopped(&self) -> bool {
        self.inner.0.load(Ordering::Acquire)
    }

    /// Gives the signal when the result is dropped, however that comes about.
    #[must_use = "it stops at once when this is not kept"]
    pub fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    /// Waits for the signal.
    pub async fn stopped(&self) {
        loop {
            let notified = self.inner.1.notified();
            if self.is_stopped() {
                return;
            }
            notified.await;
        }
    }
}

/// Stops when it is dropped.
#[derive(Debug)]
pub struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
