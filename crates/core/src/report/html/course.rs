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
        let within = since >= 0.0 && since <= rate.length().as_secs_f64();
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
