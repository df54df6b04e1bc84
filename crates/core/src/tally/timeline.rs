//! Load calls by the second in which they ended, each second with its own distribution.
//!
//! The second that is going on has a dense histogram; one that is over is kept as the few buckets
//! that were hit, so that an hour costs megabytes and not gigabytes.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::histogram::{self, Buckets};

/// A run longer than this keeps its last second for all that follows.
const LONGEST: usize = 7 * 24 * 3600;

/// One second of the load.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
pub struct Second {
    /// Calls that ended well in it.
    pub ok: u64,
    /// Calls that failed in it.
    pub errors: u64,
    /// The longest response time of a call that ended in it, in microseconds.
    pub max_us: u64,
}

/// The load second by second.
#[derive(Debug, Clone)]
pub struct Timeline {
    seconds: Vec<Second>,
    over: Vec<Buckets>,
    current: usize,
    dense: Histogram<u64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { seconds: Vec::new(), over: Vec::new(), current: 0, dense: histogram::coarse() }
    }
}

impl Timeline {
    /// Books a call that ended at `at`.
    #[inline]
    pub(super) fn record(&mut self, at: Duration, response: Duration, failed: bool) {
        let index = (at.as_secs() as usize).min(LONGEST);
        if self.seconds.len() <= index {
            self.seconds.resize(index + 1, Second::default());
        }
        if index != self.current {
            self.settle();
            self.current = index;
        }
        histogram::record(&mut self.dense, response);
        let second = &mut self.seconds[index];
        second.ok += u64::from(!failed);
        second.errors += u64::from(failed);
        second.max_us = second.max_us.max(response.as_micros() as u64);
    }

    /// The counts of every second.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// The response times of every second.
    pub fn distributions(&self) -> Vec<Buckets> {
        let mut settled = self.clone();
        settled.settle();
        settled.over.resize(settled.seconds.len(), Buckets::default());
        settled.over
    }

    fn settle(&mut self) {
        if self.dense.is_empty() {
            return;
        }
        if self.over.len() <= self.current {
            self.over.resize(self.current + 1, Buckets::default());
        }
        self.over[self.current].merge(&Buckets::of(&self.dense));
        self.dense.reset();
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let theirs = other.distributions();
        self.settle();
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), Second::default());
        }
        if self.over.len() < theirs.len() {
            self.over.resize(theirs.len(), Buckets::default());
        }
        for (mine, theirs) in self.over.iter_mut().zip(&theirs) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.ok += theirs.ok;
            mine.errors += theirs.errors;
            mine.max_us = mine.max_us.max(theirs.max_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_their_own_distribution_in_whatever_order_they_come() {
        let mut timeline = Timeline::default();
        for (at, millis) in [(0, 10), (0, 20), (2, 500), (0, 30), (2, 500)] {
            let at = Duration::from_millis(at * 1_000 + 5);
            timeline.record(at, Duration::from_millis(millis), millis == 500);
        }
        let counts: Vec<u64> = timeline.distributions().iter().map(Buckets::count).collect();
        assert_eq!(counts, [3, 0, 2]);
        assert_eq!(timeline.seconds()[2], Second { ok: 0, errors: 2, max_us: 500_000 });
        let mut merged = timeline.clone();
        merged.merge(&timeline);
        assert_eq!(merged.distributions()[0].count(), 6);
    }
}
