//! The types of a report.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Renderer as _, json, markdown};
use crate::{
    config::Trace,
    event::ProcessSample,
    histogram::{self, Buckets},
    mcp::{Era, Revision},
    outcome::ErrorCategory,
    pace::Level,
    scenario::ScenarioKind,
    stats::grade::Grades,
    tally::Second,
    thresholds::ThresholdViolation,
};

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably a problem, but not a proven bug.
    Warning,
    /// A bug.
    Critical,
}

/// Something that an analysis concluded. It has the same id wherever it appears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A stable snake_case id.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence.
    pub message: String,
    /// What shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The figures of the message by name, for those who do not read sentences.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// Adds a figure. JSON has no NaN, and three decimals read back as they were written.
    #[must_use]
    pub(crate) fn figure(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.figures.insert(name.to_owned(), (value * 1e3).round() / 1e3);
        }
        self
    }
}

/// The word above everything else.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing was found and every gate held.
    Pass,
    /// Every gate held, but look at the findings.
    Warning,
    /// The run cannot be judged: nothing was measured, or the accounting does not close.
    Invalid,
    /// A threshold was violated.
    Fail,
    /// A bug was found.
    Critical,
}

impl Verdict {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warning => "WARNING",
            Self::Invalid => "INVALID",
            Self::Fail => "FAIL",
            Self::Critical => "CRITICAL",
        }
    }

    /// Whether a gate may let it through.
    pub const fn passes(self) -> bool {
        matches!(self, Self::Pass | Self::Warning)
    }
}

/// Who was tested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// The command line or URL, as a person would write it.
    pub target: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The name that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The era that was spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// The revision that was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// How many tools it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u32>,
    /// Their names; those beyond the first thousand are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_names: Vec<String>,
}

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

/// Whether the figures are the server's, or the generator's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Whether the generator was the limit.
    pub client_bound: bool,
    /// Why, in sentences; also what else speaks against the figures.
    pub reasons: Vec<String>,
    /// Calls a second that were asked for, where they start on a schedule.
    pub asked_per_sec: Option<f64>,
    /// Calls a second that were sent.
    pub offered_per_sec: Option<f64>,
    /// How much later than due calls were sent; empty where they start as they come.
    pub lag: LatencyStats,
    /// The share of its time that the busiest load thread was on a CPU.
    pub busiest_thread: Option<f64>,
    /// The share of its time that a load thread was ready but got no CPU, at worst.
    pub starved_thread: Option<f64>,
    /// CPU time of the load threads by call, in microseconds.
    pub cpu_us_per_call: Option<f64>,
}

/// Which of the server's tools were called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// How many tools the server lists.
    pub registered: usize,
    /// How many of them were called.
    pub exercised: usize,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

/// How much of the run its trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStats {
    /// Which calls were to be kept; `off` where no trace was.
    pub mode: Trace,
    /// Load calls that were made.
    pub calls: u64,
    /// Load calls that were not left out.
    pub kept_calls: u64,
    /// Lines that were not written because the disk was too slow.
    pub lost_lines: u64,
}

impl Default for TraceStats {
    fn default() -> Self {
        Self { mode: Trace::Off, calls: 0, kept_calls: 0, lost_lines: 0 }
    }
}

impl TraceStats {
    /// What a file of before there were modes means: a trace of everything.
    pub(super) fn of_older_file() -> Self {
        Self { mode: Trace::Full, ..Self::default() }
    }

    /// Whether everything that happened is in the trace.
    pub fn is_whole(&self) -> bool {
        self.mode != Trace::Off && self.kept_calls == self.calls && self.lost_lines == 0
    }
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// A ULID.
    pub run_id: String,
    /// When the run began.
    pub started_at: SystemTime,
    /// How long all of it took.
    pub duration: Duration,
    /// What was run.
    pub scenario_kind: ScenarioKind,
    /// Against whom.
    pub server_info: ServerInfo,
    /// Response times, from the intended start of each call.
    pub latency: LatencyStats,
    /// Service times, from the true start of each call.
    pub service: LatencyStats,
    /// How much was done.
    pub throughput: ThroughputStats,
    /// How calls failed.
    pub errors: ErrorStats,
    /// The server's process tree.
    pub process: ProcessStats,
    /// By tool.
    pub tools: Vec<ToolStats>,
    /// By step.
    pub steps: Vec<StepStats>,
    /// By step of the scenario; empty where it is all of one piece.
    pub segments: Vec<SegmentStats>,
    /// By time.
    pub windows: Vec<Window>,
    /// Whether the figures are the server's.
    pub validity: Validity,
    /// Grades by published limits; none for a run that cannot be judged.
    pub grades: Option<Grades>,
    /// Which of the server's tools were called.
    pub coverage: Coverage,
    /// Calls that were never answered.
    pub deadlock_count: u32,
    /// Calls that passed the hang threshold.
    pub hang_count: u32,
    /// How long each silent call was waited for.
    pub hung_for: Vec<Duration>,
    /// Calls that were due but not sent.
    pub dropped: u64,
    /// Where the trace is, if one was kept.
    pub trace_path: PathBuf,
    /// The directory of the run, if it has one.
    pub run_dir: Option<PathBuf>,
    /// What was called, with its arguments.
    pub calls: Vec<String>,
    /// How many lines the trace has.
    pub trace_events: u64,
    /// How much of the run the trace has.
    pub trace: TraceStats,
    /// Which gates did not hold.
    pub threshold_violations: Vec<ThresholdViolation>,
    /// What was concluded.
    pub findings: Vec<Finding>,
    /// The word above everything else.
    pub verdict: Verdict,
    /// Whether a signal cut the run short.
    pub interrupted: bool,
    /// What choices were derived from.
    pub seed: u64,
    /// Names under which the run is found again.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl Report {
    /// Whether every gate held and no bug was found.
    pub fn passed(&self) -> bool {
        self.verdict.passes()
    }

    /// The share of calls that failed; nothing when there was no call.
    pub fn error_rate(&self) -> Option<f64> {
        let ended = self.throughput.total_requests.saturating_sub(self.dropped);
        (ended > 0).then(|| self.errors.total as f64 / ended as f64)
    }

    /// The finding with this id, if there is one.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// Writes the report for people.
    pub fn write_markdown(&self, path: &Path) -> io::Result<()> {
        markdown::Markdown.render(self, &mut std::fs::File::create(path)?)
    }

    /// Writes the metrics for machines.
    pub fn write_json(&self, path: &Path) -> io::Result<()> {
        json::Metrics.render(self, &mut std::fs::File::create(path)?)
    }
}
