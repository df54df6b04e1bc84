//! The figures of a report, and its seconds.

use super::{RunRef, Target};
use crate::{
    report::{LatencyStats, Report, ToolStats, Window, phrases},
    stats::{
        bootstrap::{Block, Figure},
        part::Part,
    },
};

/// One side in words and sums.
pub(super) fn target(label: &str, reports: &[Report]) -> Target {
    let first = reports.first();
    let run = |report: &Report| RunRef {
        run_id: report.run_id.clone(),
        run_dir: report.run_dir.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
        started_at: humantime::format_rfc3339(phrases::printable(report.started_at)).to_string(),
        verdict: report.verdict,
    };
    let sum = |count: fn(&Report) -> u64| reports.iter().map(count).fold(0, u64::saturating_add);
    Target {
        label: label.to_owned(),
        server: first.map(|report| report.server_info.target.clone()).unwrap_or_default(),
        transport: first.map(|report| report.server_info.transport.clone()).unwrap_or_default(),
        scenario: first.map(|one| phrases::scenario(&one.scenario_kind)).unwrap_or_default(),
        runs: reports.iter().map(run).collect(),
        requests: sum(|report| report.throughput.total_requests),
        errors: sum(|report| report.errors.total),
    }
}

/// A figure of a whole run; percentiles in nanoseconds.
pub(super) fn of_run(report: &Report, figure: Figure) -> Option<f64> {
    match figure {
        Figure::ErrorRate => report.error_rate(),
        Figure::Throughput => {
            let (ok, errors) = (report.throughput.successful_requests, report.errors.total);
            let ended = ok as f64 + errors as f64;
            (ended > 0.0).then(|| report.throughput.requests_per_sec * ok as f64 / ended)
        }
        _ => of_times(&report.latency, figure),
    }
}

/// A figure of a tool. How often it was called is the generator's choice.
pub(super) fn of_tool(tool: &ToolStats, figure: Figure) -> Option<f64> {
    match figure {
        Figure::Throughput => None,
        Figure::ErrorRate => {
            let part = part(tool);
            let ended = part.ok as f64 + part.errors as f64;
            (ended > 0.0).then(|| part.errors as f64 / ended)
        }
        _ => of_times(&tool.latency, figure),
    }
}

fn of_times(times: &LatencyStats, figure: Figure) -> Option<f64> {
    let time = match figure {
        Figure::P50 => times.p50,
        Figure::P95 => times.p95,
        Figure::P99 => times.p99,
        Figure::ErrorRate | Figure::Throughput => return None,
    };
    (times.count > 0).then_some(time.as_nanos() as f64)
}

/// The calls of a tool.
pub(super) fn part(tool: &ToolStats) -> Part {
    let hit = tool.latency.histogram.iter_recorded();
    Part {
        times: hit.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect(),
        ok: tool.successful_requests,
        errors: tool.errors.values().fold(0, |sum, count| sum.saturating_add(*count)),
    }
}

/// How many seconds each block of two runs covers, so that both cover the same.
pub(super) fn common_secs(base: &[Window], current: &[Window]) -> u64 {
    let secs = |windows: &[Window]| windows.first().map_or(1, |window| window.secs.max(1));
    let (a, b) = (secs(base), secs(current));
    (a.max(b)..=a.saturating_mul(b)).find(|size| size % a == 0 && size % b == 0).unwrap_or(a)
}

/// The seconds of a run from the first with a call to the last. Seconds without a call in between are
/// blocks too.
pub(super) fn blocks(windows: &[Window], secs: u64) -> Vec<Block> {
    let called = |window: &Window| window.ok > 0 || window.errors > 0;
    let first = windows.iter().position(called).unwrap_or(windows.len());
    let last = windows.iter().rposition(called).unwrap_or(0);
    let size = windows.first().map_or(1, |window| window.secs.max(1));
    let active = windows.get(first..=last).unwrap_or_default();
    let group = usize::try_from(secs / size).unwrap_or(1).max(1);
    active.chunks_exact(group).map(block).collect()
}

fn block(windows: &[Window]) -> Block {
    Block {
        times: windows.iter().flat_map(|window| window.response_ns.0.iter().copied()).collect(),
        ok: windows.iter().fold(0, |sum, window| sum.saturating_add(window.ok)),
        errors: windows.iter().fold(0, |sum, window| sum.saturating_add(window.errors)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{histogram::Buckets, outcome::ErrorCategory};

    fn windows(secs: u64, ok: &[u64]) -> Vec<Window> {
        let window = |(at, ok): (usize, &u64)| Window {
            from_secs: at as u64 * secs,
            secs,
            ok: *ok,
            errors: 0,
            response_ns: Buckets(if *ok > 0 { vec![(1_000, *ok)] } else { Vec::new() }),
        };
        ok.iter().enumerate().map(window).collect()
    }

    fn counts(windows: &[Window], secs: u64) -> Vec<u64> {
        blocks(windows, secs).iter().map(|block| block.ok).collect()
    }

    #[test]
    fn empty_seconds_count_between_the_first_call_and_the_last() {
        assert_eq!(counts(&windows(1, &[0, 0, 5, 0, 0, 7, 3]), 1), [5, 0, 0, 7, 3]);
        assert_eq!(counts(&windows(1, &[5]), 1), [5]);
        assert_eq!(counts(&windows(1, &[0, 0]), 1), [] as [u64; 0]);
        assert_eq!(counts(&[], 1), [] as [u64; 0]);
    }

    #[test]
    fn runs_of_another_length_are_cut_alike() {
        let (long, short) = (windows(3, &[9, 9, 9]), windows(2, &[4, 4, 4, 4, 4, 4, 4]));
        assert_eq!(common_secs(&long, &short), 6);
        assert_eq!(counts(&long, 6), [18]);
        assert_eq!(counts(&short, 6), [12, 12]);
        assert_eq!(common_secs(&[], &[]), 1);
    }

    #[test]
    fn a_second_with_nothing_but_failures_has_calls_too() {
        let mut all = windows(1, &[0, 0, 5, 0, 0]);
        (all[1].errors, all[3].errors) = (2, 1);
        let found: Vec<_> = blocks(&all, 1).iter().map(|block| (block.ok, block.errors)).collect();
        assert_eq!(found, [(0, 2), (5, 0), (0, 1)]);
        assert_eq!(blocks(&all, 1)[1].times, [(1_000, 5)]);
        let both = blocks(&windows(1, &[1, 2, 4, 8, 16]), 2);
        assert_eq!(both.iter().map(|block| block.ok).collect::<Vec<_>>(), [3, 12]);
        assert_eq!(both[1].times, [(1_000, 4), (1_000, 8)]);
    }

    #[test]
    fn blocks_cover_the_smallest_span_that_both_have() {
        for (a, b, common) in [(1, 1, 1), (2, 4, 4), (4, 6, 12), (6, 4, 12), (3, 5, 15), (0, 2, 2)]
        {
            assert_eq!(common_secs(&windows(a, &[1]), &windows(b, &[1])), common, "{a} and {b}");
        }
    }

    #[test]
    fn figures_of_a_run_and_of_a_tool_are_shares_rates_and_nanoseconds() {
        let mut report = crate::compare::tests::run(crate::compare::tests::USUAL);
        report.throughput.total_requests = 60;
        report.throughput.successful_requests = 30;
        report.throughput.requests_per_sec = 8.0;
        report.errors.total = 10;
        let times = LatencyStats {
            count: 1,
            p50: Duration::from_nanos(50),
            p95: Duration::from_nanos(95),
            p99: Duration::from_nanos(99),
            ..report.latency.clone()
        };
        report.latency = times.clone();
        let mut tool = report.tools[0].clone();
        tool.latency = times;
        tool.successful_requests = 6;
        tool.errors = [(ErrorCategory::ToolError, 1), (ErrorCategory::Crash, 1)].into();
        let of = |report: &Report| Figure::ALL.map(|figure| of_run(report, figure));
        let tool_of = |tool: &ToolStats| Figure::ALL.map(|figure| of_tool(tool, figure));
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(Some);
        assert_eq!(of(&report), [p50, p95, p99, Some(10.0 / 60.0), Some(6.0)]);
        assert_eq!(tool_of(&tool), [p50, p95, p99, Some(0.25), None]);
        (report.latency.count, tool.latency.count) = (0, 0);
        (report.throughput.successful_requests, report.errors.total) = (0, 0);
        (report.throughput.total_requests, tool.successful_requests) = (0, 0);
        tool.errors.clear();
        assert_eq!(of(&report), [None; 5]);
        assert_eq!(tool_of(&tool), [None; 5]);
        assert_eq!(of_times(&report.latency, Figure::Throughput), None);
    }

    #[test]
    fn a_side_sums_its_runs() {
        let mut report = crate::compare::tests::run(crate::compare::tests::USUAL);
        (report.throughput.total_requests, report.errors.total) = (7, 2);
        report.run_dir = Some("runs/x".into());
        let side = target("a", &[report.clone(), report]);
        assert_eq!((side.requests, side.errors, side.runs.len()), (14, 4, 2));
        assert_eq!(side.runs[1].run_dir.as_deref(), Some("runs/x"));
    }
}
