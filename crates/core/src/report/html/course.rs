//! What several plots know of the run in the same way: its windows, its steps, its limits.

use std::time::Duration;

use super::span::{Mark, Span};
use crate::{
    pace::Arrival,
    report::{Report, Window},
    tally::paused_within,
    thresholds::{NO_TIME_LIMIT, Thresholds},
};

/// Fewer windows in which calls ended have no course to plot.
const FEWEST_WINDOWS: usize = 3;
/// The share of the calls of an average window below which a window has no percentiles.
const HARDLY_A_CALL: f64 = 0.1;

/// The share of a run from which on a fault is at work all the time.
const NEARLY_ALL: f64 = 0.9;

/// The windows, if there are enough for a line.
pub(super) fn windows(report: &Report) -> Option<&[Window]> {
    let filled = report.windows.iter().filter(|window| ended(window) > 0).count();
    (filled >= FEWEST_WINDOWS).then_some(report.windows.as_slice())
}

/// The windows that were filled from end to end: the load may begin, end or be held within the
/// others.
pub(super) fn whole_windows(report: &Report) -> Vec<Window> {
    let first = report.windows.iter().position(|window| ended(window) > 0).unwrap_or(0);
    let last = report.windows.len().saturating_sub(1);
    let whole = report.windows.get(first + 1..last).unwrap_or_default();
    whole.iter().filter(|window| !window.is_within(&report.pauses)).cloned().collect()
}

/// Calls that ended in a window.
pub(super) fn ended(window: &Window) -> u64 {
    window.ok.saturating_add(window.errors)
}

/// Calls that ended in a window, a second.
pub(super) fn rate(window: &Window) -> f64 {
    ended(window) as f64 / window.secs.max(1) as f64
}

/// A figure of each window but for the last: the load ended somewhere within that one, and a fall
/// that is none misleads.
pub(super) fn but_for_the_last(windows: &[Window], figure: fn(&Window) -> f64) -> Vec<Option<f64>> {
    let last = windows.len().saturating_sub(1);
    windows.iter().enumerate().map(|(at, window)| (at < last).then(|| figure(window))).collect()
}

/// When windows begin.
pub(super) fn times(windows: &[Window]) -> Vec<f64> {
    windows.iter().map(|window| window.from_secs as f64).collect()
}

/// A quantile of each window, in milliseconds. Of a window with hardly a call, as after the end of
/// the load, only the longest time says something.
pub(super) fn quantiles(windows: &[Window], quantile: f64) -> Vec<Option<f64>> {
    let filled = windows.iter().map(ended).filter(|calls| *calls > 0).count().max(1);
    let calls = windows.iter().fold(0.0, |sum, window| sum + ended(window) as f64);
    let few = calls / filled as f64 * HARDLY_A_CALL;
    let at = |window: &Window| {
        let says = quantile >= 1.0 || ended(window) as f64 >= few;
        let time = window.response_ns.quantile(quantile).filter(|_| says);
        time.map(|time| time.as_secs_f64() * 1e3)
    };
    windows.iter().map(at).collect()
}

/// When the load began, to the window.
fn load_start(report: &Report) -> f64 {
    let first = report.windows.iter().find(|window| ended(window) > 0);
    first.map_or(0.0, |window| window.from_secs as f64)
}

/// Calls a second that were asked for in each window; nothing where calls start as others end.
pub(super) fn asked(report: &Report, windows: &[Window]) -> Option<Vec<Option<f64>>> {
    let Arrival::Open { rate, .. } = report.scenario_kind.settings().arrival()? else {
        return None;
    };
    let start = load_start(report);
    let at = |window: &Window| {
        if window.is_within(&report.pauses) {
            return None;
        }
        let middle = window.from_secs as f64 + window.secs as f64 / 2.0;
        let since = middle - start - paused_until(report, middle);
        let within = since >= 0.0 && since < rate.length().as_secs_f64();
        within.then(|| rate.level(Duration::from_secs_f64(since)))
    };
    Some(windows.iter().map(at).collect())
}

/// How long the load was held until then, in seconds.
fn paused_until(report: &Report, secs: f64) -> f64 {
    let until = Duration::try_from_secs_f64(secs).unwrap_or_default();
    paused_within(&report.pauses, Duration::ZERO, until).as_secs_f64()
}

/// The steps of the load, when it was held, and when faults were at work.
pub(super) fn spans(report: &Report) -> Vec<Span> {
    let mut from = load_start(report);
    let steps = report.scenario_kind.settings().steps().into_iter().map(|step| {
        let to = later(report, from, step.length.as_secs_f64());
        let span = Span { from, to, name: step.label, mark: Mark::Step };
        from = to;
        span
    });
    let pauses = report.pauses.iter().map(|pause| Span {
        from: pause.from.as_secs_f64(),
        to: pause.to.as_secs_f64(),
        name: "paused".into(),
        mark: Mark::Pause,
    });
    let steps: Vec<Span> = steps.filter(|span| span.to > span.from).collect();
    steps.into_iter().chain(pauses).chain(faults(report)).collect()
}

/// When faults were at work. Each fault has a number, by when it first was.
pub(super) fn faults(report: &Report) -> Vec<Span> {
    let mut names: Vec<&str> = Vec::new();
    let mut spans = Vec::new();
    for fault in &report.faults {
        let known = names.iter().position(|name| *name == fault.name);
        let number = known.unwrap_or_else(|| {
            names.push(&fault.name);
            names.len() - 1
        });
        let (from, to) = (fault.from.as_secs_f64(), fault.to.as_secs_f64());
        let lasts = to - from >= report.duration.as_secs_f64() * NEARLY_ALL;
        let mark = if lasts { Mark::Lasting(number) } else { Mark::Fault(number) };
        spans.push(Span { from, to, name: fault.name.clone(), mark });
    }
    spans
}

/// When so many seconds of load have passed: pauses come on top.
fn later(report: &Report, from: f64, secs: f64) -> f64 {
    let mut to = from + secs;
    for pause in &report.pauses {
        if pause.from.as_secs_f64() >= from && pause.from.as_secs_f64() < to {
            to += pause.length().as_secs_f64();
        }
    }
    to
}

/// The limits on latency, in milliseconds, with their names.
pub(super) fn latency_limits(report: &Report) -> Vec<(f64, String)> {
    let Thresholds { p50_latency, p95_latency, p99_latency, p999_latency, .. } = report.thresholds;
    let limits = [
        ("p50 limit", p50_latency),
        ("p95 limit", p95_latency),
        ("p99 limit", p99_latency),
        ("p99.9 limit", p999_latency),
    ];
    let set = limits.into_iter().filter(|(_, limit)| *limit != NO_TIME_LIMIT);
    set.map(|(name, limit)| (limit.as_secs_f64() * 1e3, name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fault::FaultWindow,
        histogram::Buckets,
        pace::{Level, Rate},
        report::fixture::{self, Run, healthy},
        scenario::Scenario,
        tally::Pause,
    };

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn report(calls: &[(u64, u64)]) -> Report {
        let calls: Vec<_> = calls.iter().map(|(ok, errors)| (*ok, *errors, 5)).collect();
        Report { windows: fixture::windows(&calls), ..healthy() }
    }

    /// A hundred calls a second, but four hundred from 8 s to 12 s of the load. It begins at 2 s.
    fn spike(pauses: &[(u64, u64)]) -> Report {
        let rate = |per_second| Level::Rate(Rate::per_second(per_second));
        let scenario = Scenario::spike().levels(rate(100.0), rate(400.0)).duration(secs(24));
        let run = Run::of(scenario.burst(secs(8), secs(4)));
        let pause = |(from, to): &(u64, u64)| Pause { from: secs(*from), to: secs(*to) };
        Report {
            windows: fixture::windows(&[[(0, 0, 0); 2].as_slice(), &[(9, 1, 5); 30]].concat()),
            pauses: pauses.iter().map(pause).collect(),
            ..run.report()
        }
    }

    #[test]
    fn three_windows_with_calls_have_a_course() {
        assert_eq!(windows(&report(&[(1, 0), (0, 0), (0, 1), (0, 0)])), None);
        let enough = report(&[(1, 0), (0, 0), (0, 1), (2, 0)]);
        assert_eq!(windows(&enough), Some(enough.windows.as_slice()));
    }

    #[test]
    fn a_window_is_whole_if_the_load_neither_begins_nor_ends_nor_rests_in_it() {
        let mut report = report(&[(0, 0), (5, 0), (0, 6), (7, 0), (8, 0), (9, 0)]);
        let whole = |report: &Report| times(&whole_windows(report));
        assert_eq!(whole(&report), [2.0, 3.0, 4.0]);
        report.pauses = vec![Pause { from: Duration::from_millis(3_500), to: secs(4) }];
        assert_eq!(whole(&report), [2.0, 4.0]);
        report.windows.truncate(2);
        assert!(whole(&report).is_empty());
        report.windows.clear();
        assert!(whole(&report).is_empty());
    }

    #[test]
    fn rates_are_those_of_whole_windows() {
        let of = |secs| Window { secs, ..report(&[(6, 1)]).windows.remove(0) };
        for (secs, expected) in [(2, 3.5), (1, 7.0), (0, 7.0)] {
            assert_eq!(rate(&of(secs)), expected, "{secs} s");
        }
        let rates = but_for_the_last(&[of(2), of(1), of(1)], rate);
        assert_eq!(rates, [Some(3.5), Some(7.0), None]);
        assert!(but_for_the_last(&[], rate).is_empty());
    }

    #[test]
    fn a_window_with_hardly_a_call_has_no_percentile_but_a_longest_time() {
        let medians = |calls: [u64; 3]| {
            let calls = calls.map(|calls| (calls, 0));
            quantiles(&report(&calls).windows, 0.5)
        };
        assert_eq!(medians([190, 0, 10]), [Some(5.0), None, Some(5.0)], "a tenth of the mean");
        assert_eq!(medians([191, 0, 9]), [Some(5.0), None, None]);
        let mut few = report(&[(191, 0), (0, 0), (0, 9)]).windows;
        few[2].response_ns = Buckets(vec![(1_000_000, 8), (70_000_000, 1)]);
        assert_eq!(quantiles(&few, 1.0), [Some(5.0), None, Some(70.0)]);
    }

    #[test]
    fn what_is_asked_for_follows_the_load_and_waits_for_pauses() {
        let held: &[(u64, u64)] = &[(4, 6)];
        for (name, pauses, from, length, expected) in [
            ("before the load", &[][..], 1, 1, None),
            ("its first second", &[], 2, 1, Some(100.0)),
            ("before the burst", &[], 9, 1, Some(100.0)),
            ("in the burst", &[], 10, 1, Some(400.0)),
            ("the middle of a long window counts", &[], 9, 4, Some(400.0)),
            ("and not its end", &[], 6, 6, Some(100.0)),
            ("the last second", &[], 25, 1, Some(100.0)),
            ("after the load", &[], 26, 1, None),
            ("held", held, 4, 1, None),
            ("held still", held, 5, 1, None),
            ("before the burst, which waited", held, 11, 1, Some(100.0)),
            ("in the burst, which waited", held, 12, 1, Some(400.0)),
            ("the last second, which waited", held, 27, 1, Some(100.0)),
            ("after what was held", held, 28, 1, None),
        ] {
            let report = spike(pauses);
            let window =
                Window { from_secs: from, secs: length, ..report.windows.last().unwrap().clone() };
            assert_eq!(asked(&report, &[window]), Some(vec![expected]), "{name}");
        }
        assert_eq!(asked(&healthy(), &[]), None, "calls that start as others end");
    }

    #[test]
    fn steps_are_longer_by_the_pauses_that_begin_in_them() {
        let steps = |pauses: &[(u64, u64)]| -> Vec<(f64, f64)> {
            let spans = spans(&spike(pauses)).into_iter();
            spans.filter(|span| span.mark == Mark::Step).map(|span| (span.from, span.to)).collect()
        };
        for (name, pauses, expected) in [
            ("none", &[][..], [(2.0, 10.0), (10.0, 14.0), (14.0, 26.0)]),
            ("in the first", &[(4, 6)], [(2.0, 12.0), (12.0, 16.0), (16.0, 28.0)]),
            ("as the first begins", &[(2, 3)], [(2.0, 11.0), (11.0, 15.0), (15.0, 27.0)]),
            ("as the second begins", &[(10, 12)], [(2.0, 10.0), (10.0, 16.0), (16.0, 28.0)]),
            ("before all", &[(0, 1)], [(2.0, 10.0), (10.0, 14.0), (14.0, 26.0)]),
            ("after all", &[(27, 29)], [(2.0, 10.0), (10.0, 14.0), (14.0, 26.0)]),
        ] {
            assert_eq!(steps(pauses), expected, "{name}");
        }
        let mut short = spike(&[]);
        short.scenario_kind =
            Scenario::spike().duration(secs(12)).burst(secs(8), secs(4)).build().kind;
        assert_eq!(spans(&short).len(), 2, "nothing follows the burst");
        let pause = Span { from: 4.0, to: 6.0, name: "paused".into(), mark: Mark::Pause };
        assert_eq!(spans(&spike(&[(4, 6)])).last(), Some(&pause));
    }

    #[test]
    fn a_fault_keeps_its_number_and_one_of_nine_tenths_of_the_run_lasts() {
        let fault = |name: &str, from, to| FaultWindow {
            name: name.into(),
            from: Duration::from_millis(from),
            to: Duration::from_millis(to),
            calls: 1,
        };
        let report = Report {
            duration: secs(10),
            faults: vec![
                fault("slow", 500, 9_500),
                fault("reset", 500, 9_400),
                fault("slow", 9_600, 9_700),
            ],
            ..healthy()
        };
        let marks: Vec<Mark> = faults(&report).into_iter().map(|span| span.mark).collect();
        assert_eq!(marks, [Mark::Lasting(0), Mark::Fault(1), Mark::Fault(0)]);
    }
}
