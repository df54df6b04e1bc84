//! How long calls took, what they waited for, and what the server kept.

use super::literal;
use crate::{
    analysis::{LAZY_INIT_CLIFF, LEAK_DETECTED},
    report::{
        figures::{counted, ratio, rough_percent, total},
        model::{Report, StepStats, ToolStats},
    },
    scenario::ScenarioKind,
    units::format_latency,
};

/// The finding decides what a cliff is; the figures tell how high the highest is.
pub(super) fn lazy_init(report: &Report) -> Option<String> {
    report.finding(LAZY_INIT_CLIFF)?;
    let firsts =
        report.tools.iter().filter_map(|tool| Some((tool, tool.first_call?, tool.steady_p50?)));
    let (tool, first, steady) =
        firsts.max_by_key(|(_, first, steady)| first.saturating_sub(*steady))?;
    Some(format!(
        "The first call to {} took {}, later ones {} (median): users of a fresh process wait.",
        literal(&tool.name),
        format_latency(first),
        format_latency(steady),
    ))
}

pub(super) fn start_phases(report: &Report) -> Option<String> {
    let is_cold_start = matches!(report.scenario_kind, ScenarioKind::ColdStart(_));
    let steps: Vec<&StepStats> =
        report.steps.iter().filter(|step| step.latency.count > 0).collect();
    if !is_cold_start || steps.len() < 2 {
        return None;
    }
    let longest = steps.iter().max_by_key(|step| step.latency.p50)?;
    let sum = steps.iter().map(|step| step.latency.p50).sum::<std::time::Duration>();
    let share = longest.latency.p50.as_secs_f64() / sum.as_secs_f64().max(1e-9);
    let (name, took) = (literal(&longest.name), format_latency(longest.latency.p50));
    let of = format!("{took} of {} ({}, medians)", format_latency(sum), rough_percent(share));
    Some(if share >= 0.5 {
        format!("A start spends most of its time in {name}: {of}.")
    } else {
        format!("No single step dominates a start; the longest is {name}: {of}.")
    })
}

/// Below a hundred calls the 99th percentile is the slowest call, and is called that. Where half of
/// the calls were never answered, the median is only the time that we waited.
pub(super) fn latency(report: &Report) -> Option<String> {
    let stats = &report.latency;
    if stats.count < 2 || u64::from(report.deadlock_count) >= stats.count.div_ceil(2) {
        return None;
    }
    let (whose, slow) = match stats.count {
        ..100 => ("; the slowest took", stats.max),
        _ => (" and 99% at most", stats.p99),
    };
    let (half, slowly) = (format_latency(stats.p50), format_latency(slow));
    let mut told =
        format!("Half of the {} took at most {half}{whose} {slowly}", counted(stats.count, "call"));
    if slow >= stats.p50 * 2 {
        told += &format!(", {} times the median", ratio(slow, stats.p50));
    }
    told.push('.');
    if report.deadlock_count > 0 {
        told.push_str(" Calls never answered count with the time waited for them.");
    }
    Some(told)
}

/// The tail is what lies at or above the 99th percentile, once that is twice the median. It is
/// concentrated on a tool that has two thirds of it and half as much again as its share of calls.
pub(super) fn slow_tail(report: &Report) -> Option<String> {
    const FEWEST: u64 = 5;
    let bound = report.latency.p99;
    if report.tools.len() < 2 || bound < report.latency.p50 * 2 {
        return None;
    }
    let nanos = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
    let slow = |tool: &ToolStats| tool.latency.histogram.count_between(nanos, u64::MAX);
    let all = total(report.tools.iter().map(slow));
    let tool = report.tools.iter().max_by_key(|tool| slow(tool))?;
    let share = slow(tool) as f64 / all.max(1) as f64;
    let calls = tool.latency.count as f64 / report.latency.count.max(1) as f64;
    (all >= FEWEST && share >= 2.0 / 3.0 && share >= calls * 1.5).then(|| {
        format!(
            "The slow tail is concentrated on {}: {} of all calls, but {} of those that took {} or longer.",
            literal(&tool.name),
            rough_percent(calls),
            rough_percent(share),
            format_latency(bound),
        )
    })
}

/// Response times are twice the service times and more: calls waited before they were sent.
pub(super) fn waiting(report: &Report) -> Option<String> {
    let (response, service) = (report.latency.p99, report.service.p99);
    let noticeable = std::time::Duration::from_millis(1);
    (report.latency.count >= 100 && response >= service * 2 && response - service >= noticeable)
        .then(|| {
            let (due, sent) = (format_latency(response), format_latency(service));
            format!(
                "Calls waited before they were sent: 99% ended within {due} of when they were due, \
             but within {sent} of when they were sent."
            )
        })
}

/// A change of a tenth and of five megabytes: less is the noise of any allocator.
pub(super) fn memory(report: &Report) -> Option<String> {
    let growth = report.process.growth_mb()?;
    let (first, last) = (report.process.samples.first()?.rss_mb, report.process.final_rss_mb);
    let is_change = growth.abs() >= 5.0 && growth.abs() >= first * 0.1;
    is_change.then(|| {
        let verb = if growth > 0.0 { "grew" } else { "fell" };
        let is_open = growth > 0.0 && report.finding(LEAK_DETECTED).is_none();
        let caution = if is_open { "; only a longer run tells whether that goes on" } else { "" };
        format!("The server's memory {verb} from {first:.1} MB to {last:.1} MB{caution}.")
    })
}

/// Who found a deadlock has other worries than percentiles.
pub(super) fn few_calls(report: &Report) -> Option<String> {
    match report.latency.count {
        _ if report.deadlock_count > 0 => None,
        0 | 1_000.. => None,
        1 => Some("One call is too few for percentiles.".into()),
        calls @ 2..100 => Some(format!(
            "{calls} calls are too few for p99 and p999: both are just the slowest call."
        )),
        calls => Some(format!("{calls} calls are too few for p999: it is just the slowest call.")),
    }
}
