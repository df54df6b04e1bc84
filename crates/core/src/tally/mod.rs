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
    arguments::{CROSSED, NOT_ECHOED},
    event::{Call, Diagnosis, Event, Failure, Phase, ProcessSample, note as notes},
    histogram,
    jsonrpc::Defect,
    outcome::ErrorCategory,
    trace::Untraced,
    units::nanos,
};

pub use counts::Counts;
pub use generator::Generator;
pub use lanes::Lane;
pub(crate) use lanes::burst;
pub use note::Note;
pub(crate) use pauses::load_time;
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
    /// Malformed replies that were well formed themselves, but were those of other calls. They have
    /// examples of their own: among all that is malformed, what comes often would crowd them out.
    pub crossed: Note,
    /// The same of replies that do not show whose they are.
    pub not_echoed: Note,
    /// Malformed replies that were only longer than we take.
    pub oversized: u64,
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
        if failure.category == ErrorCategory::Malformed {
            self.observe_malformed(at, &failure.message);
        }
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

    fn observe_malformed(&mut self, at: Duration, message: &str) {
        if message.starts_with(CROSSED) {
            self.crossed.add(at, message);
        } else if message.starts_with(NOT_ECHOED) {
            self.not_echoed.add(at, message);
        } else if message == Defect::TooLarge.slug() {
            self.oversized += 1;
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
        self.crossed.merge(&other.crossed);
        self.not_echoed.merge(&other.not_echoed);
        self.oversized += other.oversized;
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
mod tests;
