//! Load calls by how they ended.

use crate::outcome::ErrorCategory;

/// Load calls by how they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that were due, sent or not.
    pub issued: u64,
    /// Good results.
    pub ok: u64,
    /// Failures, in the order of [`ErrorCategory::ALL`].
    failed: [u64; ErrorCategory::ALL.len()],
    /// Calls that were due but could not be sent because too many were in flight.
    pub dropped: u64,
}

impl Counts {
    /// How many calls ended in this category.
    pub fn of(&self, category: ErrorCategory) -> u64 {
        self.failed[category as usize]
    }

    /// All failures.
    pub fn errors(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Calls that were sent and have ended.
    pub fn ended(&self) -> u64 {
        self.ok + self.errors()
    }

    /// Calls that have neither ended nor been dropped.
    pub fn open(&self) -> u64 {
        self.issued.saturating_sub(self.ended() + self.dropped)
    }

    /// Every issued call has ended in exactly one way.
    pub fn closes(&self) -> bool {
        self.issued == self.ended() + self.dropped
    }

    /// The share of sent calls that failed; nothing when none was sent.
    pub fn error_rate(&self) -> Option<f64> {
        (self.ended() > 0).then(|| self.errors() as f64 / self.ended() as f64)
    }

    pub(super) fn fail(&mut self, category: ErrorCategory) {
        self.failed[category as usize] += 1;
    }

    /// Adds what another has.
    pub fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.ok += other.ok;
        self.dropped += other.dropped;
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
    }
}
