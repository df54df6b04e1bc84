//! The glimpses of all threads, folded.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use hdrhistogram::Histogram;

use super::{
    glimpse::{Glimpse, LogLine},
    snapshot::{LatencyFigures, Snapshot, State, ToolFigures},
};
use crate::{
    display::visible,
    event::ProcessSample,
    histogram::{self, Buckets},
    outcome::ErrorCategory,
    pace::Arrival,
    report::{Report, RunInfo, phrases, unjudged},
    tally::{Counts, Pause, Second, Segment, Tally, Timeline, ToolTally},
};

/// Lines that are kept.
const LOG: usize = 200;
/// Seconds that are shown one by one.
const HISTORY: usize = 240;
/// Seconds that are kept for that: one thread may tell of its own later than another.
const KEPT: usize = 2 * HISTORY;
/// A second in which no call ended.
static NOTHING: (Second, Buckets) = (Second { ok: 0, errors: 0, max_us: 0 }, Buckets(Vec::new()));
/// Seconds that "now" means for percentiles.
const RECENT: usize = 5;
/// How far back the rate looks.
const RATE_SPAN: Duration = Duration::from_millis(1_000);
const LONGEST_NAME: usize = 64;
const LONGEST_LINE: usize = 200;

/// What is known of a run that goes on.
#[derive(Debug, Default)]
pub struct View {
    info: Option<Box<RunInfo>>,
    workers: BTreeMap<u16, Worker>,
    timeline: Timeline,
    /// The last seconds, for all tools together.
    whole: BTreeMap<usize, (Second, Buckets)>,
    by_tool: Vec<(String, Histogram<u64>)>,
    samples: Vec<ProcessSample>,
    log: VecDeque<LogLine>,
    /// How many calls had ended when.
    ticks: VecDeque<(Duration, u64)>,
}

/// What is known of one thread.
#[derive(Debug)]
struct Worker {
    at: Duration,
    counts: Counts,
    tools: Vec<(String, Counts)>,
    first_start: Option<Duration>,
    segment: u16,
    hangs: u64,
    deadlocks: u64,
}

impl View {
    /// The session is open: who is tested, and with what.
    pub fn begin(&mut self, info: &RunInfo) {
        if self.info.is_none() {
            self.info = Some(Box::new(info.clone()));
        }
    }

    /// Folds a glimpse in.
    pub fn add(&mut self, glimpse: Glimpse) {
        for moment in &glimpse.seconds {
            self.timeline.add(moment);
            let (counts, times) = self.whole.entry(moment.second).or_default();
            counts.merge(&moment.counts);
            times.merge(&moment.times);
            if let Some(tool) = &moment.tool {
                let histogram = self.times_of(tool);
                for (value, count) in &moment.times.0 {
                    histogram.saturating_record_n(*value, *count);
                }
            }
        }
        while self.whole.len() > KEPT {
            self.whole.pop_first();
        }
        self.samples.extend(glimpse.samples);
        self.log.extend(glimpse.log);
        self.log.make_contiguous().sort_by_key(|line| line.at);
        while self.log.len() > LOG {
            self.log.pop_front();
        }
        let Glimpse { worker, at, counts, tools, first_start, segment, hangs, deadlocks, .. } =
            glimpse;
        let seen = Worker { at, counts, tools, first_start, segment, hangs, deadlocks };
        self.workers.insert(worker, seen);
    }

    fn times_of(&mut self, tool: &str) -> &mut Histogram<u64> {
        let known = self.by_tool.iter().position(|(name, _)| name == tool);
        let place = known.unwrap_or_else(|| {
            self.by_tool.push((tool.to_owned(), histogram::coarse()));
            self.by_tool.len() - 1
        });
        &mut self.by_tool[place].1
    }

    fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.workers.values().for_each(|worker| all.merge(&worker.counts));
        all
    }

    fn tools(&self) -> Vec<(String, Counts)> {
        let mut all: Vec<(String, Counts)> = Vec::new();
        for (name, counts) in self.workers.values().flat_map(|worker| &worker.tools) {
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => sum.merge(counts),
                None => all.push((name.clone(), counts.clone())),
            }
        }
        all
    }

    /// When the first call should have started.
    fn first_start(&self) -> Option<Duration> {
        self.workers.values().filter_map(|worker| worker.first_start).min()
    }

    /// The seconds that all threads have told of, from the first with a call.
    fn seconds(&self) -> Vec<&(Second, Buckets)> {
        let until = self.workers.values().map(|worker| worker.at.as_secs()).min().unwrap_or(0);
        let first = self.first_start().map_or(until, |first| first.as_secs());
        let last = (first as usize).max((until as usize).saturating_sub(HISTORY));
        let second = |at| self.whole.get(&at).unwrap_or(&NOTHING);
        (last..until as usize).map(second).collect()
    }

    /// Calls that ended in about the last second.
    fn per_sec(&mut self, now: Duration, ended: u64) -> f64 {
        if self.ticks.back().is_none_or(|(at, _)| *at < now) {
            self.ticks.push_back((now, ended));
        }
        while self.ticks.len() > 2 && self.ticks[1].0 + RATE_SPAN <= now {
            self.ticks.pop_front();
        }
        let Some((then, before)) = self.ticks.front() else { return 0.0 };
        let span = now.saturating_sub(*then).as_secs_f64();
        if span > 0.0 { (ended - before.min(&ended)) as f64 / span } else { 0.0 }
    }

    /// Calls a second that are asked for after so much load.
    fn asked(&self, load: Duration) -> Option<f64> {
        match self.info.as_ref()?.scenario.kind.settings().arrival()? {
            Arrival::Open { rate, .. } => (load <= rate.length()).then(|| rate.level(load)),
            Arrival::Closed(_) => None,
        }
    }

    /// The run at this moment, after it was held for so long.
    pub fn snapshot(&mut self, state: State, now: Duration, paused: Duration) -> Snapshot {
        let counts = self.counts();
        let latest = self.workers.values().map(|worker| worker.at).max().unwrap_or_default();
        let per_sec = self.per_sec(latest, counts.ended());
        let load = self.first_start().map_or(Duration::ZERO, |first| now.saturating_sub(first));
        let load = load.saturating_sub(paused);
        let (info, seconds) = (self.info.as_deref(), self.seconds());
        let rss = |sample: &ProcessSample| sample.rss_mb;
        Snapshot {
            state,
            target: info.map_or_else(String::new, |info| visible(&info.server_info.target, 120)),
            scenario: info.map_or_else(String::new, |info| phrases::scenario(&info.scenario.kind)),
            load_secs: load.as_secs_f64(),
            expected_secs: info
                .and_then(|info| info.scenario.kind.settings().length())
                .map(|length| length.as_secs_f64()),
            paused_secs: paused.as_secs_f64(),
            step: self.workers.values().map(|worker| worker.segment).max().unwrap_or(0),
            issued: counts.issued,
            ok: counts.ok,
            failed: counts.errors(),
            dropped: counts.dropped,
            in_flight: counts.open(),
            hangs: self.workers.values().map(|worker| worker.hangs).sum(),
            per_sec,
            asked_per_sec: self.asked(load),
            errors: ErrorCategory::ALL
                .into_iter()
                .map(|category| (category, counts.of(category)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            recent: recent(&seconds),
            overall: overall(self.by_tool.iter().map(|(_, times)| times)),
            rss_mb: self.samples.last().map(rss),
            first_rss_mb: self.samples.first().map(rss),
            cpu_pct: self.samples.last().map(|sample| sample.cpu_pct),
            tools: self.tools().iter().map(|(name, counts)| self.tool(name, counts)).collect(),
            rates: seconds.iter().map(|(second, _)| second.ok + second.errors).collect(),
            failures: seconds.iter().map(|(second, _)| second.errors).collect(),
            p99_ms: seconds.iter().map(|(_, times)| times.quantile(0.99).map(millis)).collect(),
            log: self.log.iter().map(shown).collect(),
        }
    }

    fn tool(&self, name: &str, counts: &Counts) -> ToolFigures {
        let times = self.by_tool.iter().filter(|(known, _)| known == name).map(|(_, times)| times);
        ToolFigures {
            name: visible(name, LONGEST_NAME),
            calls: counts.ended(),
            failed: counts.errors(),
            in_flight: counts.open(),
            overall: overall(times),
        }
    }

    /// The report as far as the run has come. It is not judged: no finding, no limit, no verdict.
    /// Nothing before the session is open.
    pub fn report(&self, now: Duration, pauses: Vec<Pause>) -> Option<Report> {
        let info = RunInfo { duration: now, ..*self.info.clone()? };
        let tools = self.tools();
        let known = |name: &str| self.by_tool.iter().find(|(tool, _)| tool == name);
        let tool = |(name, counts): &(String, Counts)| {
            let times = known(name).map(|(_, times)| Buckets::of(times).to_histogram());
            ToolTally::of(name, counts.clone(), times.unwrap_or_else(histogram::new))
        };
        let mut segment = Segment::default();
        (segment.counts, segment.tools) = (self.counts(), tools.iter().map(tool).collect());
        segment.first_start = self.first_start();
        (segment.last_start, segment.last_sent, segment.last_end) = (now, now, now);
        let tally = Tally {
            segments: vec![segment],
            timeline: self.timeline.clone(),
            samples: self.samples.clone(),
            pauses,
            hang_count: self.workers.values().map(|worker| worker.hangs).sum(),
            deadlock_count: self.workers.values().map(|worker| worker.deadlocks).sum(),
            ..Tally::default()
        };
        let mut report = unjudged(info, &tally);
        // Calls are not told apart by step before the end.
        report.segments.clear();
        Some(report)
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn shown(line: &LogLine) -> LogLine {
    LogLine { text: visible(&line.text, LONGEST_LINE), ..line.clone() }
}

fn recent(seconds: &[&(Second, Buckets)]) -> LatencyFigures {
    let last = &seconds[seconds.len().saturating_sub(RECENT)..];
    let mut times = Buckets::default();
    last.iter().for_each(|(_, second)| times.merge(second));
    let longest = last.iter().map(|(second, _)| second.max_us).max().filter(|us| *us > 0);
    let at = |quantile| times.quantile(quantile).map(millis);
    LatencyFigures {
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
        max_ms: longest.map(|us| us as f64 / 1e3),
    }
}

fn overall<'a>(times: impl Iterator<Item = &'a Histogram<u64>>) -> LatencyFigures {
    let mut all = histogram::coarse();
    times.for_each(|times| histogram::add(&mut all, times));
    let at = |quantile| histogram::quantile(&all, quantile).map(millis);
    LatencyFigures {
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
        max_ms: at(1.0),
    }
}

#[cfg(test)]
mod tests;
