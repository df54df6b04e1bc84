//! The fold over events: one tally a worker thread, merged at the end.
//!
//! The live run and the trace reader feed the same function, so a saved trace gives the same numbers.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use crate::{
    event::{Call, Diagnosis, Event, Failure, Phase, ProcessSample, note},
    histogram,
    outcome::ErrorCategory,
};

/// How many examples of a kind of note or failure are kept.
const EXAMPLES: usize = 5;

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

    /// Every issued call has ended in exactly one way.
    pub fn closes(&self) -> bool {
        self.issued == self.ok + self.errors() + self.dropped
    }

    fn fail(&mut self, category: ErrorCategory) {
        self.failed[category as usize] += 1;
    }

    fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.ok += other.ok;
        self.dropped += other.dropped;
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
    }
}

/// What is known of one tool.
#[derive(Debug, Clone)]
pub struct ToolTally {
    /// Its name.
    pub name: String,
    /// How its calls ended.
    pub counts: Counts,
    /// Response times of its calls, failed ones included.
    pub latency: Histogram<u64>,
    /// Service times of calls that began after the first one had ended.
    pub steady: Histogram<u64>,
    /// The longest service time among the calls that began before any had ended.
    pub first: Option<Duration>,
    /// How many such calls there were.
    pub first_batch: u32,
    first_done: Option<Duration>,
}

impl ToolTally {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            counts: Counts::default(),
            latency: histogram::new(),
            steady: histogram::new(),
            first: None,
            first_batch: 0,
            first_done: None,
        }
    }

    /// Calls that were never answered say how long we waited, not how long the tool takes.
    fn observe_time(&mut self, call: &Call<'_>, at: Duration, answered: bool) {
        histogram::record(&mut self.latency, at.saturating_sub(call.intended));
        if !answered {
            return;
        }
        let service = at.saturating_sub(call.started);
        match self.first_done {
            Some(done) if call.started >= done => histogram::record(&mut self.steady, service),
            _ => {
                self.first = self.first.max(Some(service));
                self.first_batch = self.first_batch.saturating_add(1);
                self.first_done.get_or_insert(at);
            }
        }
    }
}

/// Something that was noted, how often, and the first few times in words.
///
/// The examples go by time and not by arrival: a trace has the notes of all workers in one stream,
/// and must give those that the workers' own tallies gave when they were merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Note {
    /// How often.
    pub count: u64,
    /// The first few that differ.
    pub examples: Vec<String>,
    /// When each of them came.
    times: Vec<Duration>,
}

impl Note {
    fn add(&mut self, at: Duration, example: &str) {
        self.count += 1;
        self.keep(at, example);
    }

    fn keep(&mut self, at: Duration, example: &str) {
        if let Some(known) = self.examples.iter().position(|known| known == example) {
            if self.times[known] <= at {
                return;
            }
            self.examples.remove(known);
            self.times.remove(known);
        }
        let earlier = self
            .times
            .iter()
            .zip(&self.examples)
            .filter(|known| (*known.0, known.1.as_str()) < (at, example));
        let place = earlier.count();
        if place < EXAMPLES {
            self.examples.insert(place, example.to_owned());
            self.times.insert(place, at);
            self.examples.truncate(EXAMPLES);
            self.times.truncate(EXAMPLES);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (at, example) in other.times.iter().zip(&other.examples) {
            self.keep(*at, example);
        }
    }
}

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

/// Everything that a report is made of.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Load calls by how they ended.
    pub counts: Counts,
    /// Response times of load calls, from their intended start; calls never answered count with the
    /// time that was waited for them.
    pub latency: Histogram<u64>,
    /// Service times of load calls, from their true start.
    pub service: Histogram<u64>,
    /// Load calls by tool.
    pub tools: Vec<ToolTally>,
    /// Durations of named steps, such as the phases of a cold start, in the order of their first time.
    pub steps: Vec<(String, Histogram<u64>)>,
    /// Load calls by the second in which they ended.
    pub timeline: Vec<Second>,
    /// The server's process tree over time.
    pub samples: Vec<ProcessSample>,
    /// What else was noted.
    pub notes: BTreeMap<String, Note>,
    /// Examples of failures by category.
    pub failures: BTreeMap<ErrorCategory, Note>,
    /// What silent calls turned out to be, with the evidence.
    pub diagnoses: BTreeMap<Diagnosis, Note>,
    /// Load calls that passed the hang threshold.
    pub hang_count: u64,
    /// Load calls that were never answered.
    pub deadlock_count: u64,
    /// How long each call that hung was waited for.
    pub hung_for: Vec<Duration>,
    /// When the first load call should have started.
    pub first_start: Option<Duration>,
    /// When the last load call ended.
    pub last_end: Duration,
    /// Events that were folded in.
    pub events: u64,
    recent_tool: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            latency: histogram::new(),
            service: histogram::new(),
            tools: Vec::new(),
            steps: Vec::new(),
            timeline: Vec::new(),
            samples: Vec::new(),
            notes: BTreeMap::new(),
            failures: BTreeMap::new(),
            diagnoses: BTreeMap::new(),
            hang_count: 0,
            deadlock_count: 0,
            hung_for: Vec::new(),
            first_start: None,
            last_end: Duration::ZERO,
            events: 0,
            recent_tool: 0,
        }
    }
}

/// A run longer than this keeps its last second for all that follows.
const LONGEST_TIMELINE: usize = 7 * 24 * 3600;

impl Tally {
    /// Folds one event in.
    pub fn observe(&mut self, event: &Event<'_>) {
        self.events += 1;
        match event {
            Event::Request { call, .. } => self.observe_request(call),
            Event::Response { call, at, .. } => {
                if call.phase == Phase::Load {
                    self.counts.ok += 1;
                    let tool = self.observe_end(call, *at, None);
                    tool.counts.ok += 1;
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
            Event::Process(sample) => self.samples.push(*sample),
            Event::Scenario { at, name, detail, took } => {
                self.observe_note(*at, name, detail, *took)
            }
        }
    }

    fn observe_request(&mut self, call: &Call<'_>) {
        if call.phase != Phase::Load {
            return;
        }
        self.counts.issued += 1;
        let intended = call.intended;
        self.first_start = Some(self.first_start.map_or(intended, |first| first.min(intended)));
        self.tool(call).counts.issued += 1;
    }

    fn observe_error(&mut self, call: &Call<'_>, at: Duration, failure: &Failure<'_>) {
        if call.phase != Phase::Load {
            return;
        }
        self.counts.fail(failure.category);
        let what = match failure.code {
            Some(code) => format!("{code}: {}", failure.message),
            None => failure.message.clone().into_owned(),
        };
        self.failures.entry(failure.category).or_default().add(at, &what);
        if failure.category == ErrorCategory::Hang {
            self.hung_for.push(at.saturating_sub(call.started));
        }
        let tool = if failure.category == ErrorCategory::Cancelled {
            self.last_end = self.last_end.max(at);
            self.tool(call)
        } else {
            self.observe_end(call, at, Some(failure.category))
        };
        tool.counts.fail(failure.category);
    }

    /// Books the time of a call that has ended.
    fn observe_end(
        &mut self,
        call: &Call<'_>,
        at: Duration,
        failed: Option<ErrorCategory>,
    ) -> &mut ToolTally {
        let response = at.saturating_sub(call.intended);
        histogram::record(&mut self.latency, response);
        histogram::record(&mut self.service, at.saturating_sub(call.started));
        self.last_end = self.last_end.max(at);
        let second = (at.as_secs() as usize).min(LONGEST_TIMELINE);
        if self.timeline.len() <= second {
            self.timeline.resize(second + 1, Second::default());
        }
        let second = &mut self.timeline[second];
        second.ok += u64::from(failed.is_none());
        second.errors += u64::from(failed.is_some());
        second.max_us = second.max_us.max(response.as_micros() as u64);
        let tool = self.tool(call);
        tool.observe_time(call, at, failed.is_none_or(ErrorCategory::was_answered));
        tool
    }

    fn observe_note(&mut self, at: Duration, name: &str, detail: &str, took: Option<Duration>) {
        if let Some(took) = took {
            histogram::record(self.step(name), took);
        } else {
            self.notes.entry(name.to_owned()).or_default().add(at, detail);
        }
    }

    /// The tool that a call is for; a method that calls no tool stands for itself.
    fn tool(&mut self, call: &Call<'_>) -> &mut ToolTally {
        let name = call.tool.as_deref().unwrap_or(&call.method);
        let known = self.tools.get(self.recent_tool).is_some_and(|tool| tool.name == name);
        if !known {
            let found = self.tools.iter().position(|tool| tool.name == name);
            self.recent_tool = found.unwrap_or_else(|| {
                self.tools.push(ToolTally::new(name));
                self.tools.len() - 1
            });
        }
        &mut self.tools[self.recent_tool]
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
        self.counts.merge(&other.counts);
        add(&mut self.latency, &other.latency);
        add(&mut self.service, &other.service);
        for tool in other.tools {
            self.merge_tool(tool);
        }
        for (name, step) in other.steps {
            add(self.step(&name), &step);
        }
        self.merge_timeline(&other.timeline);
        self.samples.extend(other.samples);
        self.samples.sort_by_key(|sample| sample.at);
        merge_notes(&mut self.notes, other.notes);
        merge_notes(&mut self.failures, other.failures);
        merge_notes(&mut self.diagnoses, other.diagnoses);
        self.hang_count += other.hang_count;
        self.deadlock_count += other.deadlock_count;
        self.hung_for.extend(other.hung_for);
        self.first_start = match (self.first_start, other.first_start) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.last_end = self.last_end.max(other.last_end);
        self.events += other.events;
    }

    fn merge_tool(&mut self, other: ToolTally) {
        let Some(tool) = self.tools.iter_mut().find(|tool| tool.name == other.name) else {
            self.tools.push(other);
            return;
        };
        tool.counts.merge(&other.counts);
        add(&mut tool.latency, &other.latency);
        add(&mut tool.steady, &other.steady);
        tool.first = tool.first.max(other.first);
        tool.first_batch = tool.first_batch.saturating_add(other.first_batch);
    }

    fn merge_timeline(&mut self, other: &[Second]) {
        if self.timeline.len() < other.len() {
            self.timeline.resize(other.len(), Second::default());
        }
        for (mine, theirs) in self.timeline.iter_mut().zip(other) {
            mine.ok += theirs.ok;
            mine.errors += theirs.errors;
            mine.max_us = mine.max_us.max(theirs.max_us);
        }
    }

    /// How long load was offered: from the first intended start to the last end.
    pub fn load_time(&self) -> Duration {
        self.first_start.map_or(Duration::ZERO, |first| self.last_end.saturating_sub(first))
    }

    /// How often something was noted.
    pub fn noted(&self, name: &str) -> u64 {
        self.notes.get(name).map_or(0, |note| note.count)
    }

    /// Whether the run was cut short by a signal.
    pub fn was_interrupted(&self) -> bool {
        self.noted(note::INTERRUPTED) > 0
    }
}

fn add(to: &mut Histogram<u64>, from: &Histogram<u64>) {
    to.add(from).expect("all histograms of a run have the same bounds");
}

fn merge_notes<K: Ord>(to: &mut BTreeMap<K, Note>, from: BTreeMap<K, Note>) {
    for (key, note) in from {
        to.entry(key).or_default().merge(&note);
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
        let tool = &tally.tools[0];
        assert_eq!(tool.first, Some(Duration::from_millis(5_002)));
        assert_eq!(tool.steady.len(), 10);
        assert_eq!(tool.latency.len(), 13);
        assert!(tally.counts.closes());
    }

    #[test]
    fn a_call_that_was_never_answered_is_no_slow_first_call() {
        let mut tally = Tally::default();
        for id in 0..2 {
            tally.observe(&request(&call(id, "t", 0)));
        }
        tally.observe(&end(&call(0, "t", 0), 10, None));
        tally.observe(&end(&call(1, "t", 0), 15_000, Some(ErrorCategory::Deadlock)));
        assert_eq!(tally.tools[0].first, Some(Duration::from_millis(10)));
        assert_eq!(tally.tools[0].latency.len(), 2);
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
        assert_eq!(tally.counts, Counts::default());
        assert!(tally.latency.is_empty());
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
            prop_assert!(all.counts.closes());
            prop_assert_eq!(all.counts.issued as usize, ends.len());
            let by_tool: u64 = all.tools.iter().map(|tool| tool.counts.issued).sum();
            prop_assert_eq!(by_tool, all.counts.issued);
            let ended: u64 = all.timeline.iter().map(|second| second.ok + second.errors).sum();
            prop_assert_eq!(ended, all.latency.len());
        }
    }
}
