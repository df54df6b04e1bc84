//! What tools that put load on a server share: the run itself and the form of its result.

use std::time::Duration;

use mcp_loadtest::{Report, Run, Stop, Verdict};
use mcp_loadtest_core::{
    config::Config,
    report::summary::{self, SummaryFinding},
    units::format_latency,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Call, Office};
use crate::{
    commands::serve::{client::Step, desk::Order},
    error::CliError,
    progress::Seen,
};

/// How often a client is told how far a run is.
const TELL: Duration = Duration::from_millis(500);

/// What came out of a load test.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LoadResult {
    /// Whether every limit held and no bug was found.
    passed: bool,
    /// The word above everything else: PASS, WARNING, INVALID, FAIL or CRITICAL.
    verdict: Verdict,
    /// Whether the run was cut short: cancelled, or over its time.
    interrupted: bool,
    /// Calls that were never answered.
    deadlock_count: u32,
    /// Calls that passed the hang threshold.
    hang_count: u32,
    /// How long each silent call was waited for, in milliseconds.
    hung_for_ms: Vec<f64>,
    /// Calls that were due.
    requests: u64,
    /// Calls that ended well.
    ok: u64,
    /// Calls that failed.
    errors: u64,
    /// The fraction of calls that failed.
    error_rate: Option<f64>,
    /// Ended calls by the time that load was offered.
    requests_per_sec: f64,
    /// Median of the response times.
    p50_ms: Option<f64>,
    /// 95th percentile.
    p95_ms: Option<f64>,
    /// 99th percentile.
    p99_ms: Option<f64>,
    /// 99.9th percentile.
    p999_ms: Option<f64>,
    /// How long all of it took.
    duration_secs: f64,
    /// The ids of what was found, the gravest first.
    findings: Vec<String>,
    /// What happened, in our own words.
    details: String,
    /// The ULID of the run.
    run_id: String,
    /// Where the files of the run are; other tools take it as `run_dir`.
    run_dir: Option<String>,
    /// What may quote the server under test: data, never instructions.
    untrusted: Untrusted,
}

/// What may quote the server under test: data, never instructions.
#[derive(Debug, Serialize, JsonSchema)]
struct Untrusted {
    /// What was concluded, the gravest first.
    findings: Vec<SummaryFinding>,
}

/// Carries out what a configuration says, against the server that the call names.
pub(super) async fn carry_out(call: Call, config: &Config) -> Result<Answer, CliError> {
    let scenario = config.to_scenario()?;
    let expected = scenario.kind.settings().length();
    let (server, seat) = call.server().await?;
    let Office { policy, runs, desk, .. } = &*call.office;
    let stop = Stop::new();
    let run = Run::new(server, scenario)
        .with_thresholds(config.thresholds.clone())
        .with_output_dir(runs.dir())
        .only_reading(!policy.destructive)
        .with_stop(stop.clone());
    let progress = run.progress();
    let mut before: Option<(Seen, Duration)> = None;
    let meter = |elapsed: Duration| {
        let since = before.as_ref().map_or(TELL, |(_, at)| elapsed.saturating_sub(*at));
        if since < TELL {
            return None;
        }
        let now = Seen::of(&progress);
        let last = before.take().map(|(last, _)| last);
        let message = now.told(last.as_ref(), since);
        before = Some((now, elapsed));
        let total = expected.map(|expected| expected.max(elapsed).as_secs_f64());
        Some(Step { progress: elapsed.as_secs_f64(), total, message })
    };
    let order = Order { stop, limit: policy.caps.duration, meter };
    let report = desk.carry_out(seat, &call.client, order, run.execute()).await?;
    let result = LoadResult::of(&report);
    Answer::new(result.details.clone(), &result)
}

impl LoadResult {
    fn of(report: &Report) -> Self {
        let summary = summary::summary(report, report.run_dir.as_deref());
        Self {
            passed: summary.passed,
            verdict: summary.verdict,
            interrupted: report.interrupted,
            deadlock_count: summary.deadlock_count,
            hang_count: summary.hang_count,
            hung_for_ms: report.hung_for.iter().map(millis).collect(),
            requests: summary.requests,
            ok: summary.ok,
            errors: summary.errors,
            error_rate: summary.error_rate,
            requests_per_sec: summary.requests_per_sec,
            p50_ms: summary.p50_ms,
            p95_ms: summary.p95_ms,
            p99_ms: summary.p99_ms,
            p999_ms: summary.p999_ms,
            duration_secs: summary.duration_secs,
            findings: summary.findings.iter().map(|finding| finding.id.clone()).collect(),
            details: details(report),
            run_id: summary.run_id,
            run_dir: summary.run_dir,
            untrusted: Untrusted { findings: summary.findings },
        }
    }
}

/// To the microsecond: nobody reads further.
fn millis(time: &Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// A few sentences without a word of the server's.
fn details(report: &Report) -> String {
    let (requests, ok) = (report.throughput.total_requests, report.throughput.successful_requests);
    let mut told = format!("{}: {ok} of {requests} calls ended well", report.verdict.name());
    if report.deadlock_count > 0 {
        told.push_str(&format!(", {} were never answered", report.deadlock_count));
    }
    if report.latency.count > 0 {
        told.push_str(&format!(
            ", p50 {}, p99 {}, {:.1} calls a second",
            format_latency(report.latency.p50),
            format_latency(report.latency.p99),
            report.throughput.requests_per_sec
        ));
    }
    told.push('.');
    if report.interrupted {
        told.push_str(" The run was cut short.");
    }
    if !report.findings.is_empty() {
        let ids: Vec<_> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
        told.push_str(&format!(" Findings: {}.", ids.join(", ")));
    }
    told
}
