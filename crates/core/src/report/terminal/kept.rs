//! The limits that held, and how much room there was.

use crate::{
    report::{
        Report,
        figures::{decimal, percent},
    },
    scenario::ScenarioKind,
    thresholds::{NO_LIMIT, NO_MINIMUM, NO_TIME_LIMIT, ThresholdKind},
    units::{format_latency, format_span},
};

/// `p99_latency 24.1ms of 200ms, error_rate 0.10% of 1.00%`; nothing where no limit was set and held.
pub(super) fn kept(report: &Report) -> Option<String> {
    if matches!(report.scenario_kind, ScenarioKind::Capacity(_)) {
        // A search goes beyond its limits on purpose.
        return None;
    }
    let limits = &report.thresholds;
    let latency = &report.latency;
    let seen = [latency.p50, latency.p95, latency.p99, latency.p999];
    let times = limits.latencies().into_iter().zip(seen).filter_map(|((kind, _, limit), seen)| {
        let told = format!("{kind} {} of {}", format_latency(seen), format_span(limit));
        (limit != NO_TIME_LIMIT).then_some((kind, told))
    });
    let others = [
        (limits.error_rate < NO_LIMIT).then(|| {
            let seen = report.error_rate().map_or("none".into(), percent);
            (ThresholdKind::ErrorRate, format!("{seen} of {}", percent(limits.error_rate)))
        }),
        (limits.memory_growth_mb < NO_LIMIT).then(|| {
            let seen = report.process.growth_mb().map_or("none".into(), decimal);
            let told = format!("{seen} of {}", decimal(limits.memory_growth_mb));
            (ThresholdKind::MemoryGrowthMb, told)
        }),
        (limits.min_rps > NO_MINIMUM).then(|| {
            let seen = decimal(report.throughput.requests_per_sec);
            (ThresholdKind::MinRps, format!("{seen}, at least {}", decimal(limits.min_rps)))
        }),
    ];
    let others = others.into_iter().flatten().map(|(kind, told)| (kind, format!("{kind} {told}")));
    let is_violated =
        |kind| report.threshold_violations.iter().any(|violation| violation.metric == kind);
    let held: Vec<String> =
        times.chain(others).filter(|(kind, _)| !is_violated(*kind)).map(|(_, told)| told).collect();
    (!held.is_empty()).then(|| held.join(", "))
}
