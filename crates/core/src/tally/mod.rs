//! The fold over events: one tally a worker thread, merged at the end.
//!
//! The live run and the trace reader feed the same function, so a saved trace gives the same numbers.
//!
//! | file       | what it holds                                                      |
//! |------------|--------------------------------------------------------------------|
//! | `counts`   | how calls ended                                                    |
//! | `times`    | response and service times                                         |
//! | `tool`     | one tool: counts, times, the first call apart from the steady ones |
//! | `segment`  | one step of the run: its tools                                     |
//! | `timeline` | one second after another, by tool                                  |
//! | `note`     | what was noted, with examples                                      |
//! | `pauses`   | when the load was held on purpose                                  |
//! | `generator`| how busy and how late we were ourselves                            |

mod counts;
mod generator;
mod lanes;
mod note;
mod packed;
mod pauses;
mod segment;
mod timeline;
mod times;
mod tool;

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use crate::{
    arguments::is_misdelivered,
    event::{Call, Diagnosis, Event, Failure, Phase, ProcessSample, note as notes},
    histogram,
    outcome::ErrorCategory,
    trace::Untraced,
    units::nanos,
};

pub use counts::Counts;
pub use generator::Generator;
pub use lanes::Lane;
pub(crate) use lanes::burst;
pub use note::Note;
pub use pauses::{Pause, paused_within};
pub use segment::Segment;
pub use timeline::{Moment, Second, Seconds, Timeline};
pub use times::Times;
pub use tool::ToolTally;

/// Everything that a report is made of.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Load calls by the step of the scenario that they belong to.
    pub segments: Vec<Segment>,
    /// Durations of named steps, such as the phases of a cold start, in the order of their first time.
    pub steps: Vec<(String, Histogram<u64>)>,
    /// Load calls by the second in which they ended.
    pub timeline: Timeline,
    /// The server's process tree over time.
    pub samples: Vec<ProcessSample>,
    /// How busy and how late the generator was.
    pub generator: Generator,
    /// What else was noted.
    pub notes: BTreeMap<String, Note>,
    /// Examples of failures by category.
    pub failures: BTreeMap<ErrorCategory, Note>,
    /// The first calls, one by one.
    pub lanes: Vec<Lane>,
    /// Failures of which the reply itself was well formed, but was that of another call, or may be.
    pub misdelivered: u64,
    /// What silent calls turned out to be, with the evidence.
    pub diagnoses: BTreeMap<Diagnosis, Note>,
    /// When the load was held on purpose, in order.
    pub pauses: Vec<Pause>,
    /// Load calls that passed the hang threshold.
    pub hang_count: u64,
    /// Load calls that were never answered.
    pub deadlock_count: u64,
    /// How long each call that hung was waited for.
    pub hung_for: Vec<Duration>,
    /// Events that were folded in.
    pub events: u64,
    /// What of them is not in the trace.
    pub untraced: Untraced,
}

/// More steps than this are folded into the last one.
const MOST_SEGMENTS: usize = 4096;

impl Tally {
    /// Folds one event in.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.events += 1;
        match event {
            Event::Request { call, .. } => self.observe_request(call),
            Event::Response { call, at, .. } => {
                if call.phase == Phase::Load {
                    self.observe_end(call, *at, None);
                }
            }
            Event::Error { call, at, failure } => self.observe_error(call, *at, failure),
            Event::Hang { call, .. } if call.phase == Phase::Load => self.hang_count += 1,
            Event::Deadlock { call, at, diagnosis, evidence } if call.phase == Phase::Load => {
                self.deadlock_count += 1;
                self.hung_for.push(at.saturating_sub(call.started));
                self.diagnoses.entry(*diagnosis).or_default().add(*at, evidence);
            }
            Event::Hang { .. } | Event::Deadlock { .. } => {}
            Event::Dropped { at, segment, count, .. } => {
                let segment = self.segment(*segment);
                segment.observe_start(*at, *count);
                segment.counts.dropped += count;
            }
            Event::Process(sample) => self.samples.push(*sample),
            Event::Generator(sample) => self.generator.observe(sample),
            Event::Scenario { at, name, detail, took } => {
                self.observe_note(*at, name, detail, *took)
            }
        }
    }

    fn observe_request(&mut self, call: &Call<'_>) {
        if call.phase != Phase::Load {
            return;
        }
        if call.started > call.intended {
            self.generator.observe_lag(call.started - call.intended);
        }
        let segment = self.segment(call.segment);
        segment.observe_start(call.intended, 1);
        segment.last_sent = segment.last_sent.max(call.started);
        segment.tool_of(call).counts.issued += 1;
    }

    fn observe_error(&mut self, call: &Call<'_>, at: Duration, failure: &Failure<'_>) {
        if call.phase != Phase::Load {
            return;
        }
        let what = match failure.code {
            Some(code) => format!("{code}: {}", failure.message),
            None => failure.message.clone().into_owned(),
        };
        self.failures.entry(failure.category).or_default().add(at, &what);
        self.misdelivered += u64::from(is_misdelivered(&failure.message));
        if failure.category == ErrorCategory::Hang {
            self.hung_for.push(at.saturating_sub(call.started));
        }
        if failure.category == ErrorCategory::Cancelled {
            let segment = self.segment(call.segment);
            segment.observe_end(at);
            segment.counts.fail(failure.category);
            segment.tool_of(call).counts.fail(failure.category);
        } else {
            self.observe_end(call, at, Some(failure.category));
        }
    }

    /// Books a call that has ended.
    #[inline]
    fn observe_end(&mut self, call: &Call<'_>, at: Duration, failed: Option<ErrorCategory>) {
        if self.lanes.len() < lanes::MOST {
            self.lanes.push(Lane { from: call.started, to: at, failed });
        }
        let name = call.tool.as_deref().unwrap_or(&call.method);
        self.timeline.record(name, at, at.saturating_sub(call.intended), failed.is_some());
        let segment = self.segment(call.segment);
        segment.observe_end(at);
        let count = |counts: &mut Counts| match failed {
            None => counts.ok += 1,
            Some(category) => counts.fail(category),
        };
        count(&mut segment.counts);
        let tool = segment.tool_of(call);
        count(&mut tool.counts);
        tool.observe_time(call, at, failed.is_none_or(ErrorCategory::was_answered));
    }

    fn observe_note(&mut self, at: Duration, name: &str, detail: &str, took: Option<Duration>) {
        if let (notes::PAUSED, Some(took)) = (name, took) {
            self.pauses.push(Pause { from: at.saturating_sub(took), to: at });
        } else if let Some(took) = took {
            histogram::record(self.step(name), took);
        } else {
            self.notes.entry(name.to_owned()).or_default().add(at, detail);
        }
    }

    #[inline]
    fn segment(&mut self, index: u16) -> &mut Segment {
        let index = usize::from(index).min(MOST_SEGMENTS);
        if self.segments.len() <= index {
            self.segments.resize_with(index + 1, Segment::default);
        }
        &mut self.segments[index]
    }

    fn step(&mut self, name: &str) -> &mut Histogram<u64> {
        let known = self.steps.iter().position(|(step, _)| step == name);
        let index = known.unwrap_or_else(|| {
            self.steps.push((name.to_owned(), histogram::new()));
            self.steps.len() - 1
        });
        &mut self.steps[index].1
    }

    /// Adds what another worker saw.
    pub fn merge(&mut self, other: Self) {
        if self.segments.len() < other.segments.len() {
            self.segments.resize_with(other.segments.len(), Segment::default);
        }
        for (mine, theirs) in self.segments.iter_mut().zip(&other.segments) {
            mine.merge(theirs);
        }
        for (name, step) in other.steps {
            histogram::add(self.step(&name), &step);
        }
        self.timeline.merge(&other.timeline);
        self.samples.extend(other.samples);
        self.samples.sort_by_key(|sample| sample.at);
        self.generator.merge(other.generator);
        note::merge_notes(&mut self.notes, other.notes);
        note::merge_notes(&mut self.failures, other.failures);
        note::merge_notes(&mut self.diagnoses, other.diagnoses);
        self.misdelivered += other.misdelivered;
        lanes::merge(&mut self.lanes, other.lanes);
        self.pauses.extend(other.pauses);
        self.pauses.sort_by_key(|pause| pause.from);
        self.hang_count += other.hang_count;
        self.deadlock_count += other.deadlock_count;
        self.hung_for.extend(other.hung_for);
        self.events += other.events;
        self.untraced.merge(&other.untraced);
    }

    /// All steps in one.
    pub fn total(&self) -> Segment {
        let mut total = Segment::default();
        self.segments.iter().for_each(|segment| total.merge(segment));
        for tool in &mut total.tools {
            // Later steps have first calls too, but only the very first can pay for a late start.
            let mut first = self.segments.iter().filter_map(|segment| segment.tool(&tool.name));
            if let Some(first) = first.find(|first| first.first.is_some()) {
                (tool.first, tool.first_batch) = (first.first, first.first_batch);
            }
        }
        total.leave_out(&self.pauses);
        total
    }

    /// How load calls ended.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.segments.iter().for_each(|segment| counts.merge(&segment.counts));
        counts
    }

    /// How many load calls took longer than each of these times.
    pub fn over<const N: usize>(&self, limits: [Duration; N]) -> [u64; N] {
        let tools = self.segments.iter().flat_map(|segment| &segment.tools);
        let mut over = [0; N];
        for response in tools.map(|tool| tool.times.response()) {
            for (count, limit) in over.iter_mut().zip(limits) {
                let limit = nanos(limit);
                if limit < response.max() {
                    *count += response.count_between(limit.saturating_add(1), u64::MAX);
                }
            }
        }
        over
    }

    /// When the last load call ended.
    pub fn last_end(&self) -> Duration {
        self.segments.iter().map(|segment| segment.last_end).max().unwrap_or_default()
    }

    /// How often something was noted.
    pub fn noted(&self, name: &str) -> u64 {
        self.notes.get(name).map_or(0, |note| note.count)
    }

    /// Whether the run was cut short by a signal.
    pub fn was_interrupted(&self) -> bool {
        self.noted(notes::INTERRUPTED) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(id: u64, tool: &'static str, started: u64) -> Call<'static> {
        Call {
            request_id: id,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "tools/call".into(),
            tool: Some(tool.into()),
            segment: 0,
            intended: Duration::from_millis(started),
            started: Duration::from_millis(started),
        }
    }

    fn request(call: &Call<'static>) -> Event<'static> {
        Event::Request { call: call.clone(), params: b"{}".as_slice().into() }
    }

    fn end(call: &Call<'static>, at: u64, category: Option<ErrorCategory>) -> Event<'static> {
        let (call, at) = (call.clone(), Duration::from_millis(at));
        match category {
            None => Event::Response { call, at, result: b"{}".as_slice().into() },
            Some(category) => Event::Error {
                call,
                at,
                failure: Failure { category, message: "x".into(), code: None },
            },
        }
    }

    #[test]
    fn the_first_batch_is_kept_apart_from_steady_calls() {
        let mut tally = Tally::default();
        for id in 0..3 {
            tally.observe(&request(&call(id, "t", 0)));
        }
        for id in 0..3 {
            tally.observe(&end(&call(id, "t", 0), 5_000 + id, None));
        }
        for id in 3..13 {
            tally.observe(&request(&call(id, "t", 6_000)));
            tally.observe(&end(&call(id, "t", 6_000), 6_010, None));
        }
        let tool = &tally.total().tools[0];
        assert_eq!(tool.first, Some(Duration::from_millis(5_002)));
        assert_eq!(tool.steady().len(), 10);
        assert_eq!(tool.times.response().len(), 13);
        assert!(tally.counts().closes());
    }

    #[test]
    fn calls_are_counted_by_how_long_they_took_and_how_late_they_began() {
        let mut tally = Tally::default();
        for (id, took) in [(0, 10), (1, 20), (2, 40), (3, 40)] {
            let mut late = call(id, "t", 100);
            late.intended = Duration::from_millis(95);
            tally.observe(&request(&late));
            tally.observe(&end(&late, 95 + took, None));
        }
        let limits = [9, 11, 15, 30, 50].map(Duration::from_millis);
        assert_eq!(tally.over(limits), [4, 3, 3, 2, 0]);
        assert_eq!(tally.last_end(), Duration::from_millis(135));
        let lag = histogram::quantile(&tally.generator.lag(), 0.5).unwrap();
        assert!(lag.abs_diff(Duration::from_millis(5)) < Duration::from_micros(10), "{lag:?}");
    }

    #[test]
    fn a_call_that_was_never_answered_is_no_slow_first_call() {
        let mut tally = Tally::default();
        for id in 0..2 {
            tally.observe(&request(&call(id, "t", 0)));
        }
        tally.observe(&end(&call(0, "t", 0), 10, None));
        tally.observe(&end(&call(1, "t", 0), 15_000, Some(ErrorCategory::Deadlock)));
        let tool = &tally.total().tools[0];
        assert_eq!(tool.first, Some(Duration::from_millis(10)));
        assert_eq!((tool.times.response().len(), tool.steady().len()), (2, 0));
    }

    #[test]
    fn a_pause_is_nobodys_time() {
        let mut tally = Tally::default();
        for (id, at) in [(1, 0), (2, 5_000)] {
            tally.observe(&request(&call(id, "t", at)));
            tally.observe(&end(&call(id, "t", at), at + 10, None));
        }
        assert_eq!(tally.total().load_time(), Duration::from_millis(5_010));
        tally.observe(&Event::Scenario {
            at: Duration::from_millis(4_900),
            name: notes::PAUSED.into(),
            detail: "".into(),
            took: Some(Duration::from_millis(4_800)),
        });
        assert_eq!(tally.total().load_time(), Duration::from_millis(210));
        assert_eq!(tally.steps.len(), 0, "a pause is no step of the server's");
    }

    #[test]
    fn examples_are_the_earliest_however_the_notes_arrive() {
        let note =
            |at: u64, text: &str| Event::note(Duration::from_millis(at), "n", text.to_owned());
        let one: Vec<_> = (0..8).map(|n| note(n * 10, &format!("one {n}"))).collect();
        let other: Vec<_> =
            (0..8).map(|n| note(n * 10 + 5, if n % 2 == 0 { "again" } else { "one 7" })).collect();
        let fold = |events: &[&[Event<'_>]]| {
            let mut tally = Tally::default();
            events.iter().flat_map(|events| events.iter()).for_each(|event| tally.observe(event));
            tally
        };
        let mut merged = fold(&[&one]);
        merged.merge(fold(&[&other]));
        for told in [merged, fold(&[&one, &other]), fold(&[&other, &one])] {
            assert_eq!(told.notes["n"].count, 16);
            assert_eq!(told.notes["n"].examples, ["one 0", "again", "one 1", "one 7", "one 2"]);
        }
    }

    #[test]
    fn calls_outside_the_load_do_not_count() {
        let mut tally = Tally::default();
        let setup = Call { phase: Phase::Setup, ..call(1, "t", 0) };
        tally.observe(&request(&setup));
        tally.observe(&end(&setup, 9, None));
        assert_eq!(tally.counts(), Counts::default());
        assert!(tally.total().response().is_empty());
    }

    #[test]
    fn a_late_start_counts_in_the_response_and_not_in_the_service() {
        let mut tally = Tally::default();
        let on_time = call(1, "t", 100);
        let late = Call { intended: Duration::from_millis(40), ..call(2, "t", 100) };
        for call in [&on_time, &late] {
            tally.observe(&request(call));
            tally.observe(&end(call, 110, None));
        }
        let times = tally.total().times();
        assert_eq!(times.response().max() / 1_000_000, 70);
        assert_eq!((times.service().max() / 1_000_000, times.service().len()), (10, 2));
        assert_eq!(tally.generator.lag().len(), 1);
    }

    #[test]
    fn steps_are_kept_apart_and_dropped_calls_are_counted() {
        let mut tally = Tally::default();
        for (id, segment) in [(1, 1), (2, 2), (3, 2)] {
            let call = Call { segment, ..call(id, "t", 10) };
            tally.observe(&request(&call));
            tally.observe(&end(&call, 20, None));
        }
        tally.observe(&Event::Dropped {
            at: Duration::from_millis(30),
            worker: 0,
            segment: 2,
            count: 4,
        });
        assert_eq!(tally.segments[2].counts.issued, 6);
        assert_eq!((tally.counts().ok, tally.counts().dropped), (3, 4));
        assert!(tally.counts().closes());
    }

    proptest! {
        #[test]
        fn the_accounting_closes_however_calls_end_and_workers_merge(
            ends in prop::collection::vec((0_usize..11, 0_u64..2, 0_u64..9_000), 0..60),
        ) {
            let mut workers = [Tally::default(), Tally::default()];
            for (id, (how, worker, at)) in ends.iter().enumerate() {
                let call = call(id as u64, if at % 2 == 0 { "a" } else { "b" }, 10);
                let worker = &mut workers[*worker as usize];
                worker.observe(&request(&call));
                worker.observe(&end(&call, 10 + at, ErrorCategory::ALL.get(*how).copied()));
            }
            let [mut all, other] = workers;
            all.merge(other);
            let total = all.total();
            prop_assert!(total.counts.closes());
            prop_assert_eq!(total.counts.issued as usize, ends.len());
            let by_tool: u64 = total.tools.iter().map(|tool| tool.counts.issued).sum();
            prop_assert_eq!(by_tool, total.counts.issued);
            let seconds = all.timeline.seconds();
            let ended: u64 = seconds.iter().map(|second| second.ok + second.errors).sum();
            prop_assert_eq!(ended, total.response().len());
            let spread: u64 = all.timeline.distributions().iter().map(|second| second.count()).sum();
            prop_assert_eq!(ended, spread);
        }
    }
}
