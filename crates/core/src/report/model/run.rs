//! The report itself.

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::{
    Coverage, ErrorStats, Finding, LatencyStats, ProcessStats, SegmentStats, ServerInfo, StepStats,
    ThroughputStats, ToolStats, TraceStats, Validity, Verdict, Window,
};
use crate::{
    fault::FaultWindow,
    fuzz::FuzzStats,
    report::{Renderer as _, json, markdown, summary::BaselineSummary},
    scenario::ScenarioKind,
    server::shell_word,
    stats::grade::Grades,
    tally::{Lane, Pause},
    thresholds::{ThresholdViolation, Thresholds},
};

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
    /// What the fuzzer found; nothing for another scenario.
    #[serde(default)]
    pub fuzz: Option<FuzzStats>,
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
    /// Which gates applied.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// Which gates did not hold.
    pub threshold_violations: Vec<ThresholdViolation>,
    /// What was concluded.
    pub findings: Vec<Finding>,
    /// The word above everything else.
    pub verdict: Verdict,
    /// Whether a signal cut the run short.
    pub interrupted: bool,
    /// When the load was held on purpose; no rate counts that time.
    #[serde(default)]
    pub pauses: Vec<Pause>,
    /// What choices were derived from.
    pub seed: u64,
    /// Names under which the run is found again.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The calls of a burst one by one, where the scenario is one.
    #[serde(default)]
    pub burst: Vec<Lane>,
    /// When faults were at work, as the log of a mock or a proxy told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultWindow>,
    /// How it compares with an earlier run, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineSummary>,
}

impl Report {
    /// Whether every gate held and no bug was found.
    pub fn passed(&self) -> bool {
        self.verdict.passes()
    }

    /// The command that repeats the run, where its configuration was kept.
    pub fn again(&self) -> Option<String> {
        let config = self.run_dir.as_ref()?.join("config.toml");
        Some(format!("mcp-loadtest run --config {}", shell_word(&config.to_string_lossy())))
    }

    /// The share of calls that failed; nothing when there was no call.
    pub fn error_rate(&self) -> Option<f64> {
        let ended = self.ended();
        (ended > 0).then(|| self.errors.total as f64 / ended as f64)
    }

    /// The calls of which it is known how they ended.
    pub(crate) fn ended(&self) -> u64 {
        self.throughput.total_requests.saturating_sub(self.dropped)
    }

    /// How long the load was held on purpose.
    pub fn paused(&self) -> Duration {
        self.pauses.iter().map(Pause::length).sum()
    }

    /// The windows in which the load was not held: what the others lack is not the server's doing.
    pub fn unpaused_windows(&self) -> Vec<Window> {
        self.windows.iter().filter(|window| !window.is_within(&self.pauses)).cloned().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{healthy, violated, windows};

    #[test]
    fn calls_that_were_not_sent_did_not_fail() {
        for (due, dropped, errors, expected) in
            [(10, 4, 3, Some(0.5)), (10, 0, 0, Some(0.0)), (4, 4, 0, None), (0, 0, 0, None)]
        {
            let mut report = healthy();
            report.throughput.total_requests = due;
            (report.dropped, report.errors.total) = (dropped, errors);
            assert_eq!(report.error_rate(), expected, "{due} {dropped} {errors}");
        }
    }

    #[test]
    fn pauses_add_up_and_take_their_windows_with_them() {
        let secs = Duration::from_secs;
        let mut report = Report { windows: windows(&[(9, 0, 5); 6]), ..healthy() };
        assert_eq!((report.paused(), report.unpaused_windows().len()), (Duration::ZERO, 6));
        report.pauses =
            vec![Pause { from: secs(1), to: secs(2) }, Pause { from: secs(3), to: secs(5) }];
        assert_eq!(report.paused(), secs(3));
        let left: Vec<u64> =
            report.unpaused_windows().iter().map(|window| window.from_secs).collect();
        assert_eq!(left, [0, 2, 5]);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let nowhere = Path::new("no/such/directory/report");
        assert!(healthy().write_markdown(nowhere).is_err());
        assert!(healthy().write_json(nowhere).is_err());
    }

    #[test]
    fn a_finding_is_found_by_its_id() {
        let report = violated();
        assert_eq!(report.finding("errors"), report.findings.first());
        assert_eq!(report.finding("none"), None);
    }
}
