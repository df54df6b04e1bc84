//! `summary.json` and `--json`: the little that a gate, a dashboard or an agent needs of a run.

use std::{collections::BTreeMap, io, path::Path};

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Finding, Report, Severity, Verdict,
    json::{layout, numbers::finite},
    phrases::printable,
};
use crate::{
    analysis::UNWRITTEN,
    compare::{Comparison, ComparisonVerdict},
    exit::Exit,
    fault::FaultWindow,
    fuzz::Class,
    mcp::Revision,
    scenario::ScenarioName,
    thresholds::ThresholdViolation,
};

/// What the member `schema` of every summary says.
pub const SCHEMA: &str = "mcp-loadtest/summary/v1";

/// What came out of one run of mcp-loadtest, in short. Figures are null where nothing was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest summary, version 1")]
pub struct Summary {
    /// Names this format and its version.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The ULID of the run.
    pub run_id: String,
    /// Whether every limit held and no bug was found.
    pub passed: bool,
    /// What the run came to by itself, whatever it is compared with.
    pub verdict: Verdict,
    /// What the command returns to the shell: 0 passed, 1 failed, 2 not carried out as it was asked for,
    /// 130 interrupted.
    pub exit_code: u8,
    /// What was run.
    pub scenario: ScenarioName,
    /// The command line or address of the server.
    pub server: String,
    /// The MCP revision that was spoken.
    pub revision: Option<Revision>,
    /// Calls that were due.
    pub requests: u64,
    /// Calls that ended well.
    pub ok: u64,
    /// Calls that failed.
    pub errors: u64,
    /// The fraction of calls that failed.
    pub error_rate: Option<f64>,
    /// Ended calls by the time that load was offered.
    pub requests_per_sec: f64,
    /// Median of the response times.
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// 99.9th percentile.
    pub p999_ms: Option<f64>,
    /// Calls that were never answered.
    pub deadlock_count: u32,
    /// Calls that passed the hang threshold.
    pub hang_count: u32,
    /// The cases of the fuzzer by what became of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<BTreeMap<Class, u64>>,
    /// The limits that were not kept.
    pub threshold_violations: Vec<ThresholdViolation>,
    /// What was concluded, the gravest first.
    pub findings: Vec<SummaryFinding>,
    /// How long all of it took.
    pub duration_secs: f64,
    /// When the run began, in UTC as RFC 3339 has it.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Where the files of the run are.
    pub run_dir: Option<String>,
    /// What random choices were derived from.
    pub seed: u64,
    /// Names under which the run is found again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When faults were at work, as the log of a mock or a proxy told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultWindow>,
    /// How it compares with an earlier run, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineSummary>,
}

/// A comparison in short; `comparison.json` has all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineSummary {
    /// The ULID of the earlier run.
    pub run_id: String,
    /// Where the files of the earlier run are.
    pub run_dir: Option<String>,
    /// The word above everything else.
    pub verdict: ComparisonVerdict,
    /// Why, in a few words.
    pub message: String,
}

/// A finding without its evidence, which is in `metrics.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryFinding {
    /// A stable snake_case id.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence.
    pub message: String,
    /// What to try next.
    pub hint: Option<String>,
    /// The command that shows it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

impl From<&Finding> for SummaryFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            id: finding.id.clone(),
            severity: finding.severity,
            message: finding.message.clone(),
            hint: finding.hint.clone(),
            reproduce: finding.reproduce.clone(),
        }
    }
}

impl From<&Comparison> for BaselineSummary {
    fn from(comparison: &Comparison) -> Self {
        let run = comparison.base.runs.first();
        Self {
            run_id: run.map(|run| run.run_id.clone()).unwrap_or_default(),
            run_dir: run.and_then(|run| run.run_dir.clone()),
            verdict: comparison.verdict,
            message: comparison.headline(),
        }
    }
}

/// What a run found counts before what it is compared with.
fn headline(own: Verdict, baseline: Option<&BaselineSummary>) -> &'static str {
    match baseline {
        Some(baseline) if own.passes() && baseline.verdict != ComparisonVerdict::Pass => {
            baseline.verdict.name()
        }
        _ => own.name(),
    }
}

impl Report {
    /// The word above the run: its own verdict, or that of the comparison which it does not pass.
    pub fn headline(&self) -> &'static str {
        headline(self.verdict, self.baseline.as_ref())
    }
}

impl Summary {
    /// Adds how the run compares with an earlier one. The exit code becomes what the command
    /// returns with both in mind.
    pub fn compared(&mut self, comparison: &Comparison, exit: Exit) {
        self.baseline = Some(comparison.into());
        self.exit_code = exit.code();
    }

    /// The word above the run: its own, unless its gate is one that the run does not simply pass.
    pub fn headline(&self) -> &'static str {
        headline(self.verdict, self.baseline.as_ref())
    }

    /// Writes the summary as `summary.json` has it.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        layout::write(self, out)
    }
}

/// What a run command returns to the shell. Whoever interrupts a run asks for 130, whatever had
/// been found by then; `passed` and `verdict` still tell it. A run whose files are missing has not been
/// carried out as it was asked for.
pub fn exit(report: &Report) -> Exit {
    if report.finding(UNWRITTEN).is_some() {
        return Exit::Usage;
    }
    match (report.interrupted, report.passed()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Pass,
        (false, false) => Exit::Fail,
    }
}

/// Sums a report up.
pub fn summary(report: &Report, run_dir: Option<&Path>) -> Summary {
    let latency = &report.latency;
    let millis =
        |time: std::time::Duration| (latency.count > 0).then_some(time.as_nanos() as f64 / 1e6);
    Summary {
        schema: SCHEMA.to_owned(),
        run_id: report.run_id.clone(),
        passed: report.passed(),
        verdict: report.verdict,
        exit_code: exit(report).code(),
        scenario: report.scenario_kind.name(),
        server: report.server_info.target.clone(),
        revision: report.server_info.revision,
        requests: report.throughput.total_requests,
        ok: report.throughput.successful_requests,
        errors: report.errors.total,
        error_rate: report.error_rate().map(finite),
        requests_per_sec: finite(report.throughput.requests_per_sec),
        p50_ms: millis(latency.p50),
        p95_ms: millis(latency.p95),
        p99_ms: millis(latency.p99),
        p999_ms: millis(latency.p999),
        deadlock_count: report.deadlock_count,
        hang_count: report.hang_count,
        fuzz: report.fuzz.as_ref().map(|fuzz| fuzz.classes.clone()),
        threshold_violations: report.threshold_violations.clone(),
        findings: report.findings.iter().map(SummaryFinding::from).collect(),
        duration_secs: report.duration.as_secs_f64(),
        started_at: humantime::format_rfc3339(printable(report.started_at)).to_string(),
        run_dir: run_dir.map(|path| path.to_string_lossy().into_owned()),
        seed: report.seed,
        tags: report.tags.clone(),
        faults: report.faults.clone(),
        baseline: report.baseline.clone(),
    }
}

/// `schemas/summary.v1.json`.
pub fn schema() -> Value {
    schema_for!(Summary).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{Policy, runs},
        report::fixture::{healthy, violated},
    };

    #[test]
    fn whoever_interrupts_asks_for_130_and_missing_files_are_bad_usage() {
        let unwritten = |mut report: Report| {
            let mut found = violated().findings.remove(0);
            found.id = UNWRITTEN.to_owned();
            report.findings.push(found);
            report
        };
        let interrupted = |report: Report| Report { interrupted: true, ..report };
        for (name, report, expected) in [
            ("passed", healthy(), Exit::Pass),
            ("failed", violated(), Exit::Fail),
            ("interrupted", interrupted(healthy()), Exit::Interrupted),
            ("failed and interrupted", interrupted(violated()), Exit::Interrupted),
            ("interrupted and unwritten", unwritten(interrupted(healthy())), Exit::Usage),
        ] {
            assert_eq!(exit(&report), expected, "{name}");
            assert_eq!(summary(&report, None).exit_code, expected.code(), "{name}");
        }
    }

    #[test]
    fn a_comparison_brings_its_word_and_the_exit_code() {
        let base = healthy();
        let comparison = runs(&base, &base, &Policy::default());
        let mut told = summary(&base, None);
        told.compared(&comparison, Exit::Fail);
        let expected = BaselineSummary {
            run_id: base.run_id,
            run_dir: comparison.base.runs[0].run_dir.clone(),
            verdict: comparison.verdict,
            message: comparison.headline(),
        };
        assert_eq!((told.baseline, told.exit_code), (Some(expected), 1));
    }
}
