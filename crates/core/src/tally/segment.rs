//! One step of a run: a level of a ramp, the burst of a spike, a trial of a search.
//!
//! Every call belongs to exactly one, so the totals of a run are sums over its segments and no call
//! is recorded twice. A scenario without steps has one segment, number 0.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::{
    counts::Counts,
    pauses::{Pause, paused_within},
    times::Times,
    tool::ToolTally,
};
use crate::event::Call;

/// The calls of one step.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    /// How its calls ended.
    pub counts: Counts,
    /// The same by tool.
    pub tools: Vec<ToolTally>,
    /// When its first call should have started.
    pub first_start: Option<Duration>,
    /// When its last call should have started.
    pub last_start: Duration,
    /// When its last call was sent.
    pub last_sent: Duration,
    /// When its first call ended.
    pub first_end: Option<Duration>,
    /// When its last call ended.
    pub last_end: Duration,
    /// How long the load was held meanwhile; known once [`leave_out`](Self::leave_out) was told.
    pub paused: Duration,
    recent_tool: usize,
}

impl Segment {
    /// The times of all its calls.
    pub fn times(&self) -> Times {
        let mut all = Times::default();
        self.tools.iter().for_each(|tool| all.merge(&tool.times));
        all
    }

    /// Response times of all its calls.
    pub fn response(&self) -> Histogram<u64> {
        self.times().response().clone()
    }

    /// The tool with this name, if it was called.
    pub fn tool(&self, name: &str) -> Option<&ToolTally> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// How long load was offered: from the first intended start to the last end, without pauses.
    pub fn load_time(&self) -> Duration {
        let whole = self.first_start.map(|first| self.last_end.saturating_sub(first));
        whole.unwrap_or_default().saturating_sub(self.paused)
    }

    /// Takes note of what of these pauses lies between its first start and its last end.
    pub fn leave_out(&mut self, pauses: &[Pause]) {
        let from = self.first_start.unwrap_or(self.last_end);
        self.paused = paused_within(pauses, from, self.last_end);
    }

    /// Ended calls a second.
    pub fn throughput(&self) -> f64 {
        let seconds = self.load_time().as_secs_f64();
        if seconds > 0.0 { self.counts.ended() as f64 / seconds } else { 0.0 }
    }

    pub(super) fn observe_end(&mut self, at: Duration) {
        self.first_end = Some(self.first_end.map_or(at, |first| first.min(at)));
        self.last_end = self.last_end.max(at);
    }

    pub(super) fn observe_start(&mut self, intended: Duration, count: u64) {
        self.counts.issued += count;
        self.first_start = Some(self.first_start.map_or(intended, |first| first.min(intended)));
        self.last_start = self.last_start.max(intended);
    }

    /// The tool that a call is for; a method that calls no tool stands for itself.
    #[inline]
    pub(super) fn tool_of(&mut self, call: &Call<'_>) -> &mut ToolTally {
        let name = call.tool.as_deref().unwrap_or(&call.method);
        let known = self.tools.get(self.recent_tool).is_some_and(|tool| tool.name == name);
        if !known {
            self.recent_tool = self.place(name);
        }
        &mut self.tools[self.recent_tool]
    }

    fn place(&mut self, name: &str) -> usize {
        let found = self.tools.iter().position(|tool| tool.name == name);
        found.unwrap_or_else(|| {
            self.tools.push(ToolTally::new(name));
            self.tools.len() - 1
        })
    }

    /// Adds what another worker saw of the same step.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        for theirs in &other.tools {
            let place = self.place(&theirs.name);
            self.tools[place].merge(theirs);
        }
        self.first_start = earlier(self.first_start, other.first_start);
        self.first_end = earlier(self.first_end, other.first_end);
        self.last_start = self.last_start.max(other.last_start);
        self.last_sent = self.last_sent.max(other.last_sent);
        self.last_end = self.last_end.max(other.last_end);
    }
}

fn earlier(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Phase;

    fn call(tool: Option<&'static str>) -> Call<'static> {
        Call {
            request_id: 1,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "ping".into(),
            tool: tool.map(Into::into),
            segment: 0,
            intended: Duration::ZERO,
            started: Duration::ZERO,
        }
    }

    /// Calls that all began at `start` and ended at `end`, in milliseconds.
    fn segment(start: u64, end: u64, tools: &[&'static str]) -> Segment {
        let mut segment = Segment::default();
        for tool in tools {
            segment.observe_start(Duration::from_millis(start), 1);
            segment.observe_end(Duration::from_millis(end));
            segment.counts.ok += 1;
            segment.tool_of(&call(Some(tool))).counts.ok += 1;
        }
        segment
    }

    #[test]
    fn tools_are_told_apart_and_a_method_stands_for_itself() {
        let mut calls = segment(0, 1, &["a", "b", "b", "a", "c", "b"]);
        calls.tool_of(&call(None)).counts.ok += 1;
        calls.merge(&segment(0, 1, &["d", "b"]));
        let ok = |name: &str| calls.tool(name).map(|tool| tool.counts.ok);
        assert_eq!(["a", "b", "c", "d"].map(ok), [Some(2), Some(4), Some(1), Some(1)]);
        assert_eq!((ok("ping"), ok("e")), (Some(1), None));
    }

    #[test]
    fn the_load_lasts_from_the_first_start_to_the_last_end() {
        let (early, late) = (segment(500, 1_500, &["a"; 3]), segment(1_000, 3_000, &["a"; 2]));
        for (mut one, other) in [(early.clone(), &late), (late.clone(), &early)] {
            one.merge(other);
            assert_eq!(one.first_start, Some(Duration::from_millis(500)));
            assert_eq!(one.first_end, Some(Duration::from_millis(1_500)));
            assert_eq!(one.last_start, Duration::from_secs(1));
            assert_eq!(one.load_time(), Duration::from_millis(2_500));
            assert_eq!((one.counts.issued, one.throughput()), (5, 2.0));
        }
        let mut only = Segment::default();
        only.merge(&late);
        assert_eq!(only.first_start, Some(Duration::from_secs(1)));
        assert_eq!(segment(7, 7, &["a"]).throughput(), 0.0, "no time is no rate");
        assert_eq!(Segment::default().load_time(), Duration::ZERO);
    }
}
