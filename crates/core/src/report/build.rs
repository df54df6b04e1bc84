//! From a tally to a report: figures, findings, gates and the verdict.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use super::model::{
    ErrorStats, LatencyStats, ProcessStats, Report, ServerInfo, Severity, StepStats,
    ThroughputStats, ToolStats, TraceStats, Verdict,
};
use super::{grading, segments, validity};
use crate::{
    analysis,
    config::Trace,
    event::note,
    histogram,
    outcome::ErrorCategory,
    scenario::{Scenario, ScenarioKind},
    tally::{Counts, Segment, Tally, ToolTally},
    thresholds::{Measured, NO_SAMPLES, ThresholdKind, ThresholdViolation, Thresholds},
    trace::Untraced,
};

/// What is known of a run besides its events.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// A ULID.
    pub run_id: String,
    /// When the run began.
    pub started_at: SystemTime,
    /// How long all of it took.
    pub duration: Duration,
    /// What was run.
    pub scenario: Scenario,
    /// Which gates apply.
    pub thresholds: Thresholds,
    /// Against whom.
    pub server_info: ServerInfo,
    /// Where the trace is; empty where none is kept.
    pub trace_path: PathBuf,
    /// How large it is.
    pub trace_bytes: u64,
    /// Which calls it keeps.
    pub trace: Trace,
    /// The directory of the run, if it has one.
    pub run_dir: Option<PathBuf>,
}

/// Judges a finished run.
pub fn build(info: RunInfo, tally: &Tally) -> Report {
    let mut findings = analysis::judge(tally, &info);
    let mut report = figures(info.clone(), tally);
    report.threshold_violations = violations(&info.thresholds, &report, tally);
    report.verdict = verdict(&report, &findings);
    let again = report.again();
    for finding in &mut findings {
        if finding.severity > Severity::Info && finding.reproduce.is_none() {
            finding.reproduce.clone_from(&again);
        }
    }
    report.findings = findings;
    report.grades = grading::grade(&report);
    report.coverage = grading::coverage(&report);
    report
}

/// The figures of a run that goes on: no finding, no gate, and a verdict that is none.
pub fn unjudged(info: RunInfo, tally: &Tally) -> Report {
    let mut report = figures(info, tally);
    report.coverage = grading::coverage(&report);
    report
}

fn figures(info: RunInfo, tally: &Tally) -> Report {
    let total = tally.total();
    let times = total.times();
    let trace = trace(&info, tally, &total.counts);
    let trace_events = if info.trace_path.as_os_str().is_empty() { 0 } else { traced(tally) };
    Report {
        run_id: info.run_id,
        started_at: info.started_at,
        duration: info.duration,
        seed: info.scenario.seed.0,
        scenario_kind: info.scenario.kind.clone(),
        server_info: info.server_info,
        latency: LatencyStats::from_histogram(times.response().clone()),
        service: LatencyStats::from_histogram(times.service()),
        throughput: throughput(tally, &total),
        errors: errors(tally, &total.counts),
        process: process(tally),
        tools: tools(tally, &total),
        steps: steps(tally),
        segments: segments::segments(&info.scenario.kind, tally),
        windows: segments::windows(&tally.timeline.whole()),
        validity: validity::validity(&info.scenario, tally, &total),
        grades: None,
        coverage: Default::default(),
        fuzz: analysis::fuzz_stats(tally),
        deadlock_count: u32::try_from(tally.deadlock_count).unwrap_or(u32::MAX),
        hang_count: u32::try_from(tally.hang_count).unwrap_or(u32::MAX),
        hung_for: tally.hung_for.clone(),
        dropped: total.counts.dropped,
        trace,
        trace_path: info.trace_path,
        run_dir: info.run_dir,
        calls: calls(tally),
        trace_events,
        thresholds: info.thresholds,
        threshold_violations: Vec::new(),
        findings: Vec::new(),
        verdict: Verdict::Invalid,
        interrupted: tally.was_interrupted(),
        pauses: tally.pauses.clone(),
        tags: Vec::new(),
        burst: match &info.scenario.kind {
            ScenarioKind::DeadlockProbe(_) => crate::tally::burst(&tally.lanes),
            _ => Vec::new(),
        },
        faults: Vec::new(),
        baseline: None,
    }
}

/// Lines of the trace.
fn traced(tally: &Tally) -> u64 {
    let Untraced { lines, lost_lines, notes, .. } = tally.untraced;
    (tally.events + notes).saturating_sub(lines + lost_lines)
}

fn trace(info: &RunInfo, tally: &Tally, counts: &Counts) -> TraceStats {
    let calls = counts.issued - counts.dropped;
    if info.trace_path.as_os_str().is_empty() {
        return TraceStats { calls, ..TraceStats::default() };
    }
    TraceStats {
        mode: info.trace,
        calls,
        kept_calls: calls.saturating_sub(tally.untraced.calls),
        lost_lines: tally.untraced.lost_lines,
        bytes: info.trace_bytes,
    }
}

/// The calls of the plan; those with made-up arguments say so.
fn calls(tally: &Tally) -> Vec<String> {
    let noted = |name| tally.notes.get(name).map(|note| note.examples.clone()).unwrap_or_default();
    let made_up = noted(note::MADE_UP_CALL).into_iter().map(|call| format!("{call} (made up)"));
    noted(note::PLANNED_CALL).into_iter().chain(made_up).collect()
}

fn throughput(tally: &Tally, total: &Segment) -> ThroughputStats {
    let mut done = 0;
    let seconds = tally.timeline.seconds();
    let timeline = seconds.iter().enumerate().map(|(second, counts)| {
        done += counts.ok + counts.errors;
        (Duration::from_secs(second as u64 + 1), done)
    });
    ThroughputStats {
        total_requests: total.counts.issued,
        successful_requests: total.counts.ok,
        requests_per_sec: total.throughput(),
        timeline: timeline.collect(),
        seconds,
    }
}

fn by_category(counts: &Counts) -> std::collections::BTreeMap<ErrorCategory, u64> {
    let counted = ErrorCategory::ALL.into_iter().map(|category| (category, counts.of(category)));
    counted.filter(|(_, count)| *count > 0).collect()
}

fn errors(tally: &Tally, counts: &Counts) -> ErrorStats {
    ErrorStats {
        total: counts.errors(),
        by_category: by_category(counts),
        examples: tally
            .failures
            .iter()
            .map(|(category, note)| (*category, note.examples.clone()))
            .collect(),
    }
}

fn process(tally: &Tally) -> ProcessStats {
    let samples = &tally.samples;
    // The first sample has nothing to compare with: its CPU is not known.
    let busy: Vec<f64> = samples.iter().skip(1).map(|sample| sample.cpu_pct).collect();
    let mean = busy.iter().fold(0.0, |sum, cpu| sum + cpu) / busy.len().max(1) as f64;
    ProcessStats {
        peak_rss_mb: samples.iter().map(|sample| sample.rss_mb).fold(0.0, f64::max),
        final_rss_mb: samples.last().map_or(0.0, |sample| sample.rss_mb),
        peak_pss_mb: samples.iter().filter_map(|sample| sample.pss_mb).reduce(f64::max),
        final_pss_mb: samples.iter().rev().find_map(|sample| sample.pss_mb),
        avg_cpu_pct: mean,
        samples: samples.clone(),
    }
}

fn tools(tally: &Tally, total: &Segment) -> Vec<ToolStats> {
    let mut tools: Vec<ToolStats> = total.tools.iter().map(tool).collect();
    segments::tool_windows(tally, &mut tools);
    tools
}

fn tool(tally: &ToolTally) -> ToolStats {
    ToolStats {
        name: tally.name.clone(),
        total_requests: tally.counts.issued,
        successful_requests: tally.counts.ok,
        errors: by_category(&tally.counts),
        latency: LatencyStats::from_histogram(tally.times.response().clone()),
        first_call: tally.first,
        steady_p50: histogram::quantile(&tally.steady(), 0.5),
        windows: Vec::new(),
    }
}

fn steps(tally: &Tally) -> Vec<StepStats> {
    let steps = tally.steps.iter().map(|(name, step)| StepStats {
        name: name.clone(),
        latency: LatencyStats::from_histogram(step.clone()),
    });
    steps.collect()
}

/// The limits on all calls, then those on single tools.
fn violations(limits: &Thresholds, report: &Report, tally: &Tally) -> Vec<ThresholdViolation> {
    if matches!(report.scenario_kind, ScenarioKind::Capacity(_)) {
        // A search goes beyond the limits on purpose, and each of its trials was judged by itself. Memory
        // grows over all of them.
        let memory_growth_mb = limits.memory_growth_mb;
        let memory = Thresholds { memory_growth_mb, ..Thresholds::default() };
        return memory.evaluate(&measured(report));
    }
    let mut violations = limits.evaluate(&measured(report));
    let seconds = tally.total().load_time().as_secs_f64();
    for limits in &limits.tool {
        let tool = report.tools.iter().find(|tool| tool.name == limits.name);
        let measured = tool.map_or_else(Measured::default, |tool| measured_tool(tool, seconds));
        violations.extend(limits.evaluate(&measured));
    }
    violations
}

fn measured_tool(tool: &ToolStats, seconds: f64) -> Measured {
    let ended = tool.ended();
    let errors = ended - tool.successful_requests;
    Measured {
        error_rate: (ended > 0).then(|| errors as f64 / ended as f64),
        memory_growth_mb: None,
        rps: (seconds > 0.0).then(|| ended as f64 / seconds),
        ..measured_times(&tool.latency)
    }
}

fn measured(report: &Report) -> Measured {
    Measured {
        error_rate: report.error_rate(),
        memory_growth_mb: report.process.growth_mb(),
        rps: (report.latency.count > 0).then_some(report.throughput.requests_per_sec),
        ..measured_times(&report.latency)
    }
}

fn measured_times(latency: &LatencyStats) -> Measured {
    let at = |value| (latency.count > 0).then_some(value);
    Measured {
        p50_latency: at(latency.p50),
        p95_latency: at(latency.p95),
        p99_latency: at(latency.p99),
        p999_latency: at(latency.p999),
        ..Measured::default()
    }
}

pub(super) fn verdict(report: &Report, findings: &[super::Finding]) -> Verdict {
    let worst = findings.iter().map(|finding| finding.severity).max();
    let unfinished = report.interrupted
        || (report.validity.client_bound && !report.threshold_violations.is_empty())
        || findings.iter().any(|finding| analysis::INVALIDATING.contains(&finding.id.as_str()));
    let is_the_servers = |violation| !report.validity.client_bound || is_told(violation, report);
    if worst == Some(Severity::Critical) {
        Verdict::Critical
    } else if report.threshold_violations.iter().any(is_the_servers) {
        Verdict::Fail
    } else if unfinished {
        Verdict::Invalid
    } else if worst == Some(Severity::Warning) {
        Verdict::Warning
    } else {
        Verdict::Pass
    }
}

/// Whether a limit was broken by what the server said or keeps. All else is about time, and cannot be
/// blamed on it when we were the limit ourselves.
fn is_told(violation: &ThresholdViolation, report: &Report) -> bool {
    match violation.metric {
        ThresholdKind::MemoryGrowthMb => violation.actual != NO_SAMPLES,
        ThresholdKind::ErrorRate => told_errors(violation.tool.as_deref(), report)
            .is_some_and(|(share, limit)| share > limit),
        _ => false,
    }
}

/// The share of calls that the server itself let fail, and its limit.
fn told_errors(tool: Option<&str>, report: &Report) -> Option<(f64, f64)> {
    let (ended, errors, limit) = match tool {
        None => (report.ended(), &report.errors.by_category, report.thresholds.error_rate),
        Some(name) => {
            let tool = report.tools.iter().find(|tool| tool.name == name)?;
            let limits = report.thresholds.tool.iter().find(|limits| limits.name == name)?;
            (tool.ended(), &tool.errors, limits.error_rate)
        }
    };
    let told = errors.iter().filter(|(category, _)| !category.is_about_time());
    let told: u64 = told.map(|(_, count)| count).sum();
    (ended > 0).then(|| (told as f64 / ended as f64, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::note,
        report::fixture::{Run, healthy},
        thresholds::ToolThresholds,
    };

    fn sustained() -> Run {
        Run::of(Scenario::sustained())
    }

    #[test]
    fn what_matters_can_be_shown_again() {
        let run = sustained().ok("t", 10, 9).failed("t", ErrorCategory::ToolError, 5, "no");
        let report = run.noted(note::OUR_TROUBLE, "a file was slow").report();
        let again = report.again();
        assert!(again.is_some());
        for severity in [Severity::Info, Severity::Warning] {
            let found = report.findings.iter().filter(|finding| finding.severity == severity);
            let expected = again.as_ref().filter(|_| severity > Severity::Info);
            let found: Vec<_> = found.map(|finding| finding.reproduce.as_ref()).collect();
            assert!(!found.is_empty(), "{severity:?}: {:?}", report.findings);
            assert!(found.iter().all(|known| *known == expected), "{severity:?}: {found:?}");
        }
    }

    #[test]
    fn the_trace_has_what_happened_but_for_what_was_left_out() {
        let mut run = sustained().ok("t", 10, 9);
        run.tally.untraced = Untraced { calls: 4, lines: 7, lost_lines: 3, notes: 2 };
        run.tally.segments[0].counts.dropped = 1;
        let (info, tally) = (run.info, run.tally);
        let report = unjudged(info.clone(), &tally);
        assert_eq!(report.trace_events, 20 + 2 - 7 - 3, "a request and a response each");
        let (mode, bytes) = (info.trace, info.trace_bytes);
        let expected = TraceStats { mode, calls: 9, kept_calls: 5, lost_lines: 3, bytes };
        assert_eq!(report.trace, expected);
        let report = unjudged(RunInfo { trace_path: PathBuf::new(), ..info }, &tally);
        assert_eq!(report.trace, TraceStats { calls: 9, ..TraceStats::default() });
        assert_eq!((report.trace_events, report.verdict), (0, Verdict::Invalid));
    }

    #[test]
    fn calls_with_made_up_arguments_say_so() {
        let run = sustained().noted(note::MADE_UP_CALL, "b {}").noted(note::PLANNED_CALL, "a {}");
        assert_eq!(run.report().calls, ["a {}", "b {} (made up)"]);
    }

    #[test]
    fn limits_see_what_was_measured_and_nothing_else() {
        let report = healthy();
        let latency = &report.latency;
        let times = Measured {
            p50_latency: Some(latency.p50),
            p95_latency: Some(latency.p95),
            p99_latency: Some(latency.p99),
            p999_latency: Some(latency.p999),
            ..Measured::default()
        };
        let rps = Some(report.throughput.requests_per_sec);
        let all = Measured { error_rate: Some(0.0), memory_growth_mb: Some(1.0), rps, ..times };
        assert_eq!(measured(&report), all);
        assert_eq!(measured(&sustained().report()), Measured::default());
        let run = sustained().ok("t", 30, 9_000).failed("t", ErrorCategory::ToolError, 10, "no");
        let tool = run.report().tools.remove(0);
        let (error_rate, rps) = (Some(0.25), Some(20.0));
        let expected = Measured { error_rate, rps, ..measured_times(&tool.latency) };
        assert_eq!(measured_tool(&tool, 2.0), expected);
        assert_eq!(measured_tool(&tool, 0.0).rps, None, "in no time");
        let unused = ToolStats {
            successful_requests: 0,
            errors: Default::default(),
            latency: LatencyStats::default(),
            ..tool
        };
        let expected = Measured { rps: Some(0.0), ..Measured::default() };
        assert_eq!(measured_tool(&unused, 2.0), expected);
    }

    #[test]
    fn what_the_server_says_and_keeps_is_its_own_however_slow_we_were() {
        use ErrorCategory::{Cancelled, Deadlock, Hang, Timeout, ToolError};
        let of_all = Thresholds { error_rate: 0.2, ..Thresholds::default() };
        let of_one = ToolThresholds { error_rate: 0.2, ..ToolThresholds::new("t") };
        let of_one = Thresholds { tool: vec![of_one], ..Thresholds::default() };
        let late = |mut report: Report| {
            report.validity.client_bound = true;
            verdict(&report, &[])
        };
        for limits in [of_all, of_one] {
            for (category, told) in [(ToolError, 3), (Timeout, 2), (Hang, 2), (Cancelled, 2)] {
                let run = sustained().limits(limits.clone()).ok("t", 7, 9);
                let run = run.failed("t", ToolError, 2, "no").failed("t", category, 1, "no");
                // What other tools say has nothing to do with a limit on one.
                let others = if limits.tool.is_empty() { 0 } else { 20 };
                let report = run.failed("u", ToolError, others, "no").report();
                let expected = if told == 3 { Verdict::Fail } else { Verdict::Invalid };
                assert_eq!(late(report), expected, "{category:?} {limits:?}");
            }
        }
        assert!(Deadlock.is_about_time());
        let limits = |memory_growth_mb| Thresholds { memory_growth_mb, ..Thresholds::default() };
        let grown = |memory: &[f64]| sustained().limits(limits(5.0)).ok("t", 7, 9).memory(memory);
        assert_eq!(late(grown(&[1.0, 9.0]).report()), Verdict::Fail);
        assert_eq!(late(grown(&[]).report()), Verdict::Invalid, "it was not seen");
    }

    #[test]
    fn a_run_that_its_gate_has_ended_does_not_pass() {
        let limits = |error_rate| Thresholds { error_rate, ..Thresholds::default() };
        let ended = |error_rate: f64, is_ended: bool| {
            let run = sustained().limits(limits(error_rate)).ok("t", 1_000, 9);
            let run = run.failed("t", ErrorCategory::ToolError, 50, "no");
            let run =
                if is_ended { run.noted(note::ENDED_ON_FAIL, "50 of 100 failed") } else { run };
            run.report()
        };
        assert_eq!(ended(0.01, true).verdict, Verdict::Fail);
        let kept = ended(0.1, true);
        assert_eq!((kept.verdict, kept.passed()), (Verdict::Invalid, false));
        assert_eq!(ended(0.1, false).verdict, Verdict::Warning);
    }

    #[test]
    fn a_search_is_judged_as_a_whole_by_its_memory_alone() {
        let p50_latency = Duration::from_millis(1);
        let limits = Thresholds { p50_latency, memory_growth_mb: 5.0, ..Thresholds::default() };
        let broken = |scenario: Scenario, memory: &[f64]| -> Vec<_> {
            let run = Run::of(scenario).limits(limits.clone()).ok("t", 200, 9_000).memory(memory);
            run.report().threshold_violations.iter().map(|broken| broken.metric).collect()
        };
        let (grown, level) = ([1.0, 9.0], [1.0, 1.5]);
        let both = [ThresholdKind::P50Latency, ThresholdKind::MemoryGrowthMb];
        assert_eq!(broken(Scenario::sustained().build(), &grown), both);
        assert_eq!(broken(Scenario::capacity().build(), &grown), both[1..]);
        assert_eq!(broken(Scenario::capacity().build(), &level), []);
    }
}
