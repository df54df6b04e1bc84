//! What is known of one tool.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::{counts::Counts, times::Times};
use crate::{event::Call, histogram};

/// What is known of one tool.
#[derive(Debug, Clone)]
pub struct ToolTally {
    /// Its name.
    pub name: String,
    /// How its calls ended.
    pub counts: Counts,
    /// The times of its calls, failed ones included.
    pub times: Times,
    /// The longest service time among the calls that began before any had ended.
    pub first: Option<Duration>,
    /// How many such calls there were.
    pub first_batch: u32,
    first_done: Option<Duration>,
    /// Service times of calls that say nothing about the steady state: the first batch, and those
    /// that were never answered.
    aside: Histogram<u64>,
}

impl ToolTally {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            counts: Counts::default(),
            times: Times::default(),
            first: None,
            first_batch: 0,
            first_done: None,
            aside: histogram::new(),
        }
    }

    /// A tool of which only this much is known.
    pub(crate) fn of(name: &str, counts: Counts, response: Histogram<u64>) -> Self {
        Self { counts, times: Times::of(response), ..Self::new(name) }
    }

    /// Service times of answered calls that began after the first one had ended.
    pub fn steady(&self) -> Histogram<u64> {
        let mut steady = self.times.service();
        histogram::take_away(&mut steady, &self.aside);
        steady
    }

    /// Calls that were never answered say how long we waited, not how long the tool takes.
    #[inline]
    pub(super) fn observe_time(&mut self, call: &Call<'_>, at: Duration, answered: bool) {
        self.times.record(call, at);
        if answered && self.first_done.is_some_and(|done| call.started >= done) {
            return;
        }
        let service = at.saturating_sub(call.started);
        histogram::record(&mut self.aside, service);
        if answered {
            self.first = self.first.max(Some(service));
            self.first_batch = self.first_batch.saturating_add(1);
            self.first_done.get_or_insert(at);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.times.merge(&other.times);
        histogram::add(&mut self.aside, &other.aside);
        self.first = self.first.max(other.first);
        self.first_batch = self.first_batch.saturating_add(other.first_batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_which_little_is_known_keeps_what_is() {
        let mut response = histogram::new();
        histogram::record(&mut response, Duration::from_millis(4));
        let mut counts = Counts::default();
        counts.ok += 1;
        let tool = ToolTally::of("echo", counts, response.clone());
        assert_eq!((tool.name.as_str(), tool.counts.ok, tool.first), ("echo", 1, None));
        assert_eq!((tool.times.response(), &tool.times.service()), (&response, &response));
        assert_eq!(tool.steady(), response);
    }
}
