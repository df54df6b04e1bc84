//! The members of `metrics.json`. Their words are the file format: members may be added to version
//! 1, but none may be renamed, removed or given another meaning.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::numbers::{Millis, Seconds, Timestamp};
use crate::{
    event::ProcessSample,
    fault::FaultWindow,
    fuzz::FuzzStats,
    histogram::{self, Buckets},
    outcome::ErrorCategory,
    pace::Level,
    report::model::{Coverage, Finding, ServerInfo, TraceStats, Verdict, Window},
    scenario::ScenarioKind,
    stats::grade::Grades,
    tally::{Lane, Pause, Second},
    thresholds::{ThresholdViolation, Thresholds},
};

/// Everything that one run of mcp-loadtest measured and concluded.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest metrics, version 1")]
pub(super) struct Document {
    /// Names this format and its version.
    #[schemars(extend("const" = super::SCHEMA))]
    pub(super) schema: String,
    /// The ULID of the run.
    pub(super) run_id: String,
    /// When the run began.
    pub(super) started_at: Timestamp,
    /// How long all of it took.
    pub(super) duration_secs: Seconds,
    /// What was run.
    pub(super) scenario: ScenarioSettings,
    /// Response times: from when a call was due until it ended. Calls that were never answered
    /// count with the time that was waited for them.
    pub(super) latency_ms: Figures,
    /// How much was done.
    pub(super) throughput: Throughput,
    /// How calls failed.
    pub(super) errors: Errors,
    /// The server's process tree.
    pub(super) process: Process,
    /// Calls that were never answered.
    pub(super) deadlock_count: u32,
    /// Calls that passed the hang threshold.
    pub(super) hang_count: u32,
    /// The limits that applied; those that are not set are left out.
    #[serde(default)]
    pub(super) thresholds: Thresholds,
    /// The limits that were not kept.
    pub(super) threshold_violations: Vec<ThresholdViolation>,
    /// Whether every limit held and no bug was found.
    pub(super) passed: bool,
    /// The word above everything else.
    pub(super) verdict: Verdict,
    /// What was concluded, the gravest first.
    pub(super) findings: Vec<Finding>,
    /// Whether a signal cut the run short.
    pub(super) interrupted: bool,
    /// When the load was held on purpose; no rate counts that time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pauses: Vec<Pause>,
    /// Against whom.
    pub(super) server: ServerInfo,
    /// What random choices were derived from.
    pub(super) seed: u64,
    /// Calls that were due but not sent.
    pub(super) dropped: u64,
    /// How long each call that passed the hang threshold was waited for.
    pub(super) hung_for_ms: Vec<Millis>,
    /// Service times: from when a call was sent until it ended.
    pub(super) service_ms: Figures,
    /// By tool.
    pub(super) tools: Vec<Tool>,
    /// By named step, such as a phase of a cold start.
    pub(super) steps: Vec<Step>,
    /// The trace of the run; empty when none was kept.
    pub(super) trace_path: String,
    /// The directory of the run, if it has one.
    #[serde(default)]
    pub(super) run_dir: Option<String>,
    /// What was called, with its arguments.
    #[serde(default)]
    pub(super) calls: Vec<String>,
    /// How many lines the trace has.
    pub(super) trace_events: u64,
    /// How much of the run the trace has. Only a trace without holes gives every number again.
    #[serde(default = "TraceStats::of_older_file")]
    pub(super) trace: TraceStats,
    /// Pairs of seconds since the start and how many calls had ended by then.
    pub(super) timeline: Vec<(Seconds, u64)>,
    /// The calls that ended in each second of the run.
    pub(super) seconds: Vec<Second>,
    /// By step of the scenario.
    #[serde(default)]
    pub(super) segments: Vec<SegmentFigures>,
    /// By time: seconds, or several of them in a long run.
    #[serde(default)]
    pub(super) windows: Vec<Window>,
    /// Whether the figures are the server's, or the generator's own.
    #[serde(default)]
    pub(super) validity: ValidityFigures,
    /// Grades by published limits; null for a run that cannot be judged.
    #[serde(default)]
    pub(super) grades: Option<Grades>,
    /// Which of the server's tools were called.
    #[serde(default)]
    pub(super) coverage: Coverage,
    /// What the fuzzer found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fuzz: Option<FuzzStats>,
    /// Names under which the run is found again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<String>,
    /// The calls of a burst one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) burst: Vec<Lane>,
    /// When faults were at work, as the log of a mock or a proxy told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) faults: Vec<FaultWindow>,
    /// All times, for one's own analysis.
    pub(super) histograms_ns: Histograms,
}

/// What was run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ScenarioSettings {
    /// Which scenario, such as `Sustained`.
    pub(super) kind: String,
    /// How many calls could be in flight at once.
    pub(super) concurrent: u32,
    /// How long the load was to last, where that was known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) duration_secs: Option<Seconds>,
    /// All its settings, under the names that they have in code.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub(super) settings: ScenarioKind,
}

/// Figures of a distribution of times. All but `count` are null when there was no sample.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub(super) struct Figures {
    /// Median.
    pub(super) p50: Option<Millis>,
    /// 95th percentile.
    pub(super) p95: Option<Millis>,
    /// 99th percentile.
    pub(super) p99: Option<Millis>,
    /// 99.9th percentile.
    pub(super) p999: Option<Millis>,
    /// Shortest.
    pub(super) min: Option<Millis>,
    /// Longest.
    pub(super) max: Option<Millis>,
    /// Mean.
    pub(super) mean: Option<Millis>,
    /// Standard deviation.
    pub(super) stddev: Option<Millis>,
    /// How many samples.
    pub(super) count: u64,
}

/// How much was done.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub(super) struct Throughput {
    /// Calls that were due.
    pub(super) total_requests: u64,
    /// Calls that ended well.
    pub(super) successful_requests: u64,
    /// Ended calls by the time that load was offered.
    pub(super) requests_per_sec: f64,
}

/// How calls failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Errors {
    /// All failures.
    pub(super) total: u64,
    /// Every category, those without a failure included.
    pub(super) by_category: BTreeMap<ErrorCategory, u64>,
    /// What the first few failures of a category said. This is text from the server.
    #[serde(default)]
    pub(super) examples: BTreeMap<ErrorCategory, Vec<String>>,
}

/// The server's process tree. The figures are null when no sample was taken, as for a server that
/// was reached by its address.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Process {
    /// The most memory seen.
    pub(super) peak_rss_mb: Option<f64>,
    /// The memory at the end.
    pub(super) final_rss_mb: Option<f64>,
    /// The most memory seen, with what is shared divided among its users; only where the system
    /// tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peak_pss_mb: Option<f64>,
    /// The same at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) final_pss_mb: Option<f64>,
    /// Mean CPU; 100 is one core.
    pub(super) avg_cpu_pct: Option<f64>,
    /// All samples.
    #[serde(default)]
    pub(super) samples: Vec<ProcessSample>,
}

/// What is known of one tool.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// Its calls.
    pub(super) total_requests: u64,
    /// Those that ended well.
    pub(super) successful_requests: u64,
    /// Its failures by category; categories without a failure are left out.
    pub(super) errors: BTreeMap<ErrorCategory, u64>,
    /// Its response times.
    pub(super) latency_ms: Figures,
    /// The longest of the calls that began before any had ended.
    pub(super) first_call_ms: Option<Millis>,
    /// The median of the calls after those.
    pub(super) steady_p50_ms: Option<Millis>,
    /// By time: those `windows` of all calls in which calls of this tool ended. Left out where only
    /// one tool was called, or too many to tell them apart second by second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) windows: Vec<Window>,
    /// Its response times as pairs of nanoseconds and count.
    #[serde(with = "histogram::as_pairs")]
    #[schemars(with = "Vec<(u64, u64)>")]
    pub(super) histogram_ns: Histogram<u64>,
}

/// How long a named step took.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Step {
    /// Its name.
    pub(super) name: String,
    /// Its times.
    pub(super) latency_ms: Figures,
    /// Its times as pairs of nanoseconds and count.
    #[serde(with = "histogram::as_pairs")]
    #[schemars(with = "Vec<(u64, u64)>")]
    pub(super) histogram_ns: Histogram<u64>,
}

/// One step of the scenario.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct SegmentFigures {
    /// What it is called.
    pub(super) label: String,
    /// Its load, where one number says it: calls in flight, or a rate such as `"500/s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) load: Option<Level>,
    /// Calls that were due.
    pub(super) total_requests: u64,
    /// Calls that ended well.
    pub(super) successful_requests: u64,
    /// Calls that failed.
    pub(super) errors: u64,
    /// Calls that were due but not sent.
    pub(super) dropped: u64,
    /// Ended calls by the time that load was offered.
    pub(super) requests_per_sec: f64,
    /// Its response times.
    pub(super) latency_ms: Figures,
    /// The same as pairs of nanoseconds and count.
    #[serde(with = "histogram::as_pairs")]
    #[schemars(with = "Vec<(u64, u64)>")]
    pub(super) histogram_ns: Histogram<u64>,
}

/// Whether the figures are the server's, or the generator's own.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(super) struct ValidityFigures {
    /// Whether the generator was the limit. Such a run is not graded.
    pub(super) client_bound: bool,
    /// Why.
    pub(super) reasons: Vec<String>,
    /// Calls a second that were asked for, where they start on a schedule.
    pub(super) asked_per_sec: Option<f64>,
    /// Calls a second that were sent.
    pub(super) offered_per_sec: Option<f64>,
    /// How much later than due calls were sent.
    pub(super) lag_ms: Figures,
    /// The same as pairs of nanoseconds and count.
    pub(super) lag_ns: Buckets,
    /// The share of its time that the busiest load thread was on a CPU.
    pub(super) busiest_thread: Option<f64>,
    /// The share of its time that a load thread was ready but got no CPU, at worst.
    pub(super) starved_thread: Option<f64>,
    /// CPU time of the load threads by call, in microseconds.
    pub(super) cpu_us_per_call: Option<f64>,
}

/// All times as pairs of nanoseconds and count. The figures above are read off these.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Histograms {
    /// Response times.
    #[serde(with = "histogram::as_pairs")]
    #[schemars(with = "Vec<(u64, u64)>")]
    pub(super) latency: Histogram<u64>,
    /// Service times.
    #[serde(with = "histogram::as_pairs")]
    #[schemars(with = "Vec<(u64, u64)>")]
    pub(super) service: Histogram<u64>,
}
