//! Load calls by the second in which they ended and by their tool, each with its own distribution.
//!
//! A call is recorded once, for its tool; the whole is the sum over the tools. The second that is
//! going on has a dense histogram; one that is over is kept as the few buckets that were hit, packed,
//! so that an hour costs megabytes and not gigabytes.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::packed::Packed;
use crate::histogram::{self, Buckets};

/// A run longer than this keeps its last second for all that follows.
const LONGEST: usize = 7 * 24 * 3600;
/// Tools that are told apart second by second. With more of them only the whole is.
const MOST_TOOLS: usize = 16;

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

impl Second {
    /// Adds what another has.
    pub fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.errors += other.errors;
        self.max_us = self.max_us.max(other.max_us);
    }
}

/// One second of one tool, for whoever keeps a timeline of what others saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Which second of the run.
    pub second: usize,
    /// The tool; none for all of those that are not told apart.
    pub tool: Option<String>,
    /// Its counts.
    pub counts: Second,
    /// Its response times.
    pub times: Buckets,
}

/// The load second by second.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    tools: Vec<(String, Seconds)>,
    /// Calls of further tools.
    others: Option<Box<Seconds>>,
    recent: usize,
}

impl Timeline {
    /// Books a call of this tool that ended at `at`.
    #[inline]
    pub(super) fn record(&mut self, tool: &str, at: Duration, response: Duration, failed: bool) {
        let known = self.tools.get(self.recent).is_some_and(|(name, _)| name == tool);
        if !known {
            match self.place(tool) {
                Some(place) => self.recent = place,
                None => return self.others.get_or_insert_default().record(at, response, failed),
            }
        }
        self.tools[self.recent].1.record(at, response, failed);
    }

    /// Where this tool is, if there is still room for it.
    fn place(&mut self, tool: &str) -> Option<usize> {
        let found = self.tools.iter().position(|(name, _)| name == tool);
        if found.is_some() || self.tools.len() == MOST_TOOLS {
            return found;
        }
        self.tools.push((tool.to_owned(), Seconds::default()));
        Some(self.tools.len() - 1)
    }

    /// What happened from one second on until another. Costs as much as these seconds hold.
    pub fn between(&self, from: usize, until: usize) -> Vec<Moment> {
        let known = self.tools.iter().map(|(name, seconds)| (Some(name.as_str()), seconds));
        let all = known.chain(self.others.iter().map(|seconds| (None, &**seconds)));
        let moments = all.flat_map(|(tool, seconds)| seconds.between(tool, from, until));
        moments.collect()
    }

    /// Adds a second that somebody else saw.
    pub fn add(&mut self, moment: &Moment) {
        let place = moment.tool.as_deref().and_then(|tool| self.place(tool));
        match place {
            Some(place) => self.tools[place].1.add(moment),
            None => self.others.get_or_insert_default().add(moment),
        }
    }

    /// The load of all tools.
    pub fn whole(&self) -> Seconds {
        let mut whole = Seconds::default();
        self.tools.iter().for_each(|(_, seconds)| whole.merge(seconds));
        self.others.iter().for_each(|seconds| whole.merge(seconds));
        whole
    }

    /// The load of this tool; nothing where there are too many tools to tell them apart.
    pub fn of(&self, tool: &str) -> Option<&Seconds> {
        let found = self.tools.iter().find(|(name, _)| name == tool)?;
        self.others.is_none().then_some(&found.1)
    }

    /// The counts of every second.
    pub fn seconds(&self) -> Vec<Second> {
        self.whole().counts
    }

    /// The response times of every second.
    pub fn distributions(&self) -> Vec<Buckets> {
        self.whole().distributions()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (tool, seconds) in &other.tools {
            match self.place(tool) {
                Some(place) => self.tools[place].1.merge(seconds),
                None => self.others.get_or_insert_default().merge(seconds),
            }
        }
        if let Some(seconds) = &other.others {
            self.others.get_or_insert_default().merge(seconds);
        }
    }
}

/// Calls second by second.
#[derive(Debug, Clone)]
pub struct Seconds {
    counts: Vec<Second>,
    over: Vec<Packed>,
    current: usize,
    dense: Histogram<u64>,
}

impl Default for Seconds {
    fn default() -> Self {
        Self { counts: Vec::new(), over: Vec::new(), current: 0, dense: histogram::coarse() }
    }
}

impl Seconds {
    #[inline]
    fn record(&mut self, at: Duration, response: Duration, failed: bool) {
        let index = (at.as_secs() as usize).min(LONGEST);
        if self.counts.len() <= index {
            self.counts.resize(index + 1, Second::default());
        }
        if index != self.current {
            self.settle();
            self.current = index;
        }
        histogram::record(&mut self.dense, response);
        let second = &mut self.counts[index];
        second.ok += u64::from(!failed);
        second.errors += u64::from(failed);
        second.max_us = second.max_us.max(response.as_micros() as u64);
    }

    /// The counts of every second.
    pub fn counts(&self) -> &[Second] {
        &self.counts
    }

    fn between(&self, tool: Option<&str>, from: usize, until: usize) -> Vec<Moment> {
        let until = until.min(self.counts.len());
        let filled = (from..until).filter(|second| self.counts[*second] != Second::default());
        let moment = |second: usize| {
            let mut times = self.over.get(second).map(Packed::buckets).unwrap_or_default();
            if second == self.current {
                times.merge(&Buckets::of(&self.dense));
            }
            Moment { second, tool: tool.map(str::to_owned), counts: self.counts[second], times }
        };
        filled.map(moment).collect()
    }

    fn add(&mut self, moment: &Moment) {
        let second = moment.second.min(LONGEST);
        if self.counts.len() <= second {
            self.counts.resize(second + 1, Second::default());
        }
        self.keep(second, &moment.times);
        self.counts[second].merge(&moment.counts);
    }

    /// The same, followed by empty seconds.
    pub(crate) fn lasting(&self, seconds: usize) -> Self {
        let mut longer = self.clone();
        longer.counts.resize(self.counts.len().max(seconds), Second::default());
        longer
    }

    /// The response times of every second.
    pub fn distributions(&self) -> Vec<Buckets> {
        let mut all: Vec<Buckets> = self.over.iter().map(Packed::buckets).collect();
        all.resize(self.counts.len(), Buckets::default());
        if let Some(current) = all.get_mut(self.current) {
            current.merge(&Buckets::of(&self.dense));
        }
        all
    }

    fn settle(&mut self) {
        if self.dense.is_empty() {
            return;
        }
        self.keep(self.current, &Buckets::of(&self.dense));
        self.dense.reset();
    }

    fn keep(&mut self, second: usize, times: &Buckets) {
        if self.over.len() <= second {
            self.over.resize(second + 1, Packed::default());
        }
        self.over[second].merge(times);
    }

    fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), Second::default());
        }
        for (second, theirs) in other.distributions().iter().enumerate() {
            if !theirs.0.is_empty() {
                self.keep(second, theirs);
            }
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            mine.merge(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(distributions: &[Buckets]) -> Vec<u64> {
        distributions.iter().map(Buckets::count).collect()
    }

    #[test]
    fn seconds_keep_their_own_distribution_in_whatever_order_they_come() {
        let mut timeline = Timeline::default();
        for (at, millis) in [(0, 10), (0, 20), (2, 500), (0, 30), (2, 500)] {
            let at = Duration::from_millis(at * 1_000 + 5);
            timeline.record("echo", at, Duration::from_millis(millis), millis == 500);
        }
        assert_eq!(counts(&timeline.distributions()), [3, 0, 2]);
        assert_eq!(timeline.seconds()[2], Second { ok: 0, errors: 2, max_us: 500_000 });
        let mut merged = timeline.clone();
        merged.merge(&timeline);
        assert_eq!(merged.distributions()[0].count(), 6);
    }

    #[test]
    fn the_whole_is_the_sum_over_the_tools() {
        let mut timeline = Timeline::default();
        for (tool, second) in [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("b", 1)] {
            let at = Duration::from_secs(second);
            timeline.record(tool, at, Duration::from_millis(second + 1), false);
        }
        let of = |tool| counts(&timeline.of(tool).unwrap().distributions());
        assert_eq!((of("a"), of("b")), (vec![1, 1], vec![1, 2]));
        assert_eq!(counts(&timeline.distributions()), [2, 3]);
        assert!(timeline.of("c").is_none());
    }

    #[test]
    fn seconds_that_were_told_one_by_one_make_the_same_timeline() {
        let mut timeline = Timeline::default();
        let mut told = Timeline::default();
        let mut next = 0;
        for n in 0..50_u64 {
            let (tool, at) = (if n % 3 == 0 { "a" } else { "b" }, Duration::from_millis(n * 130));
            timeline.record(tool, at, Duration::from_millis(n), n % 7 == 0);
            let now = at.as_secs() as usize;
            timeline.between(next, now).iter().for_each(|moment| told.add(moment));
            next = now;
        }
        timeline.between(next, usize::MAX).iter().for_each(|moment| told.add(moment));
        assert_eq!(told.seconds(), timeline.seconds());
        assert_eq!(told.distributions(), timeline.distributions());
        for tool in ["a", "b"] {
            assert_eq!(told.of(tool).unwrap().counts(), timeline.of(tool).unwrap().counts());
        }
    }

    #[test]
    fn too_many_tools_are_counted_but_not_told_apart() {
        let (mut one, mut other) = (Timeline::default(), Timeline::default());
        for index in 0..=MOST_TOOLS {
            one.record(&format!("tool {index}"), Duration::ZERO, Duration::from_millis(1), false);
            other.record(&format!("{index}"), Duration::ZERO, Duration::from_millis(1), false);
        }
        assert!(one.of("tool 1").is_none(), "part of it may be among the others");
        one.merge(&other);
        assert_eq!(counts(&one.distributions()), [2 * (MOST_TOOLS as u64 + 1)]);
    }

    #[test]
    fn a_week_is_kept_by_the_second_and_all_that_follows_in_the_last_one() {
        let mut timeline = Timeline::default();
        for second in [604_799, 604_800, 604_801, 9_000_000] {
            timeline.record("echo", Duration::from_secs(second), Duration::from_millis(1), false);
        }
        let counts = timeline.of("echo").unwrap().counts();
        assert_eq!((counts.len(), counts[604_799].ok, counts[604_800].ok), (604_801, 1, 3));
    }

    #[test]
    fn empty_seconds_follow_where_a_run_lasted_longer() {
        let mut timeline = Timeline::default();
        timeline.record("echo", Duration::from_secs(1), Duration::from_millis(1), false);
        let seconds = timeline.whole();
        for (lasting, expected) in [(4, vec![0, 1, 0, 0]), (1, vec![0, 1])] {
            let longer = seconds.lasting(lasting);
            assert_eq!(
                longer.counts().iter().map(|second| second.ok).collect::<Vec<_>>(),
                expected
            );
            assert_eq!(counts(&longer.distributions()), expected);
        }
    }

    #[test]
    fn what_is_not_told_apart_is_told_on_without_a_name() {
        let (mut seen, mut told) = (Timeline::default(), Timeline::default());
        for index in 0..=MOST_TOOLS + 1 {
            seen.record(&format!("{index}"), Duration::ZERO, Duration::from_millis(1), index == 0);
        }
        let moments = seen.between(0, 1);
        let named = moments.iter().filter(|moment| moment.tool.is_some()).count();
        assert_eq!((named, moments.len()), (MOST_TOOLS, MOST_TOOLS + 1));
        moments.iter().for_each(|moment| told.add(moment));
        let all = MOST_TOOLS as u64 + 2;
        assert_eq!(told.seconds(), [Second { ok: all - 1, errors: 1, max_us: 1_000 }]);
        assert_eq!(counts(&told.distributions()), [all]);
        assert!(told.of("1").is_none());
    }
}
