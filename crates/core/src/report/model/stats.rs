//! The figures: of all calls, of a tool, of a step, of a second.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    event::ProcessSample,
    histogram::{self, Buckets},
    outcome::ErrorCategory,
    pace::Level,
    tally::{Pause, Second, paused_within},
};

/// Times of calls. All are zero when there was no call; `count` says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// All times, for one's own analysis: nanoseconds.
    #[serde(with = "histogram::as_pairs")]
    pub histogram: Histogram<u64>,
    /// Median.
    pub p50: Duration,
    /// 95th percentile.
    pub p95: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// 99.9th percentile.
    pub p999: Duration,
    /// Shortest.
    pub min: Duration,
    /// Longest.
    pub max: Duration,
    /// Mean.
    pub mean: Duration,
    /// Standard deviation.
    pub stddev: Duration,
    /// How many.
    pub count: u64,
}

impl Default for LatencyStats {
    fn default() -> Self {
        Self::from_histogram(histogram::new())
    }
}

impl LatencyStats {
    /// Reads the figures off a histogram.
    pub fn from_histogram(histogram: Histogram<u64>) -> Self {
        let at = |quantile| histogram::quantile(&histogram, quantile).unwrap_or_default();
        let nanos =
            |value: f64| Duration::from_nanos(if value.is_finite() { value as u64 } else { 0 });
        Self {
            p50: at(0.50),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            min: Duration::from_nanos(if histogram.is_empty() { 0 } else { histogram.min() }),
            max: Duration::from_nanos(histogram.max()),
            mean: nanos(histogram.mean()),
            stddev: nanos(histogram.stdev()),
            count: histogram.len(),
            histogram,
        }
    }
}

/// How much was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThroughputStats {
    /// Calls that were due.
    pub total_requests: u64,
    /// Calls that ended well.
    pub successful_requests: u64,
    /// Ended calls by the time that load was offered.
    pub requests_per_sec: f64,
    /// Offset and how many calls had ended by then.
    pub timeline: Vec<(Duration, u64)>,
    /// The same by the second, with failures and the longest response time.
    pub seconds: Vec<Second>,
}

/// How calls failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorStats {
    /// All failures.
    pub total: u64,
    /// By category; categories without a failure are left out.
    pub by_category: BTreeMap<ErrorCategory, u64>,
    /// What the first few of each said.
    pub examples: BTreeMap<ErrorCategory, Vec<String>>,
}

/// The server's process tree over time. Empty for a server whose process is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessStats {
    /// The most memory seen.
    pub peak_rss_mb: f64,
    /// The memory at the end.
    pub final_rss_mb: f64,
    /// The most memory seen, with what is shared divided among its users.
    #[serde(default)]
    pub peak_pss_mb: Option<f64>,
    /// The same at the end.
    #[serde(default)]
    pub final_pss_mb: Option<f64>,
    /// Mean CPU, 100 = one core.
    pub avg_cpu_pct: f64,
    /// All samples.
    pub samples: Vec<ProcessSample>,
}

impl ProcessStats {
    /// How much the memory grew from the first sample to the last.
    pub fn growth_mb(&self) -> Option<f64> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        (self.samples.len() > 1).then_some(last.rss_mb - first.rss_mb)
    }
}

/// What is known of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolStats {
    /// Its name.
    pub name: String,
    /// Its calls.
    pub total_requests: u64,
    /// Those that ended well.
    pub successful_requests: u64,
    /// Its failures by category.
    pub errors: BTreeMap<ErrorCategory, u64>,
    /// Its response times.
    pub latency: LatencyStats,
    /// The longest of the calls that began before any had ended.
    pub first_call: Option<Duration>,
    /// The median of the calls after those.
    pub steady_p50: Option<Duration>,
    /// Those windows of all calls in which calls of this tool ended, with its calls alone. Empty
    /// where there is only this tool, or where there are too many to tell them apart.
    pub windows: Vec<Window>,
}

impl ToolStats {
    /// The calls of which it is known how they ended.
    pub(crate) fn ended(&self) -> u64 {
        self.successful_requests + self.errors.values().sum::<u64>()
    }
}

/// How long a named step took, such as a phase of a cold start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStats {
    /// Its name.
    pub name: String,
    /// Its times.
    pub latency: LatencyStats,
}

/// One step of a run, such as a level of a ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentStats {
    /// What it is called.
    pub label: String,
    /// Its load, where one number says it.
    pub load: Option<Level>,
    /// Calls that were due.
    pub total_requests: u64,
    /// Calls that ended well.
    pub successful_requests: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Calls that were due but not sent.
    pub dropped: u64,
    /// Ended calls by the time that load was offered.
    pub requests_per_sec: f64,
    /// Response times.
    pub latency: LatencyStats,
}

/// A part of the run of equal length, with its own distribution: a second, or several in a long run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Seconds from the start of the run to the beginning of the window.
    pub from_secs: u64,
    /// How many seconds it covers.
    pub secs: u64,
    /// Calls that ended well in it.
    pub ok: u64,
    /// Calls that failed in it.
    pub errors: u64,
    /// The response times of calls that ended in it: pairs of nanoseconds and count.
    pub response_ns: Buckets,
}

impl Window {
    /// Whether the load was held in a part of it.
    pub fn is_within(&self, pauses: &[Pause]) -> bool {
        let from = Duration::from_secs(self.from_secs);
        !paused_within(pauses, from, from + Duration::from_secs(self.secs)).is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::fixture, scenario::Scenario};

    #[test]
    fn growth_needs_two_samples() {
        let growth = |megabytes: &[f64]| {
            let run = fixture::Run::of(Scenario::sustained()).memory(megabytes);
            run.report().process.growth_mb()
        };
        for (megabytes, expected) in [
            (&[][..], None),
            (&[100.0], None),
            (&[100.0, 130.0], Some(30.0)),
            (&[100.0, 130.0, 80.0], Some(-20.0)),
        ] {
            assert_eq!(growth(megabytes), expected, "{megabytes:?}");
        }
    }

    #[test]
    fn a_window_was_held_if_a_pause_lies_in_a_part_of_it() {
        let window = Window { from_secs: 10, secs: 5, ..fixture::windows(&[(1, 0, 5)]).remove(0) };
        for (from, to, expected) in
            [(12, 13, true), (14, 20, true), (0, 11, true), (0, 10, false), (15, 16, false)]
        {
            let [from, to] = [from, to].map(Duration::from_secs);
            assert_eq!(window.is_within(&[Pause { from, to }]), expected, "{from:?}");
        }
    }
}
