//! The clock of a run: offsets from one start that all threads share.

use std::time::Duration;

use tokio::time::Instant;

/// Offsets from the start of a run. Cheap to copy; the same in every thread.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// The offset of this moment.
    #[inline]
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The moment of an offset.
    pub fn at(&self, offset: Duration) -> Instant {
        self.start + offset
    }
}
