//! Latency that grows over a soak.

use super::finding;
use crate::{
    histogram::Buckets,
    report::{Finding, RunInfo, Severity},
    scenario::{ScenarioKind, Soak},
    stats::{
        drift::{Drift, DriftFit, DriftVerdict, judge_drift},
        envelope::default_warmup,
    },
    tally::{Tally, load_time},
};
use std::time::Duration;

/// Calls get slower and slower.
pub(crate) const LATENCY_DRIFT: &str = "latency_drift";
/// Whether they do cannot be told.
const DRIFT_INDETERMINATE: &str = "drift_indeterminate";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::Soak(soak) = &info.scenario.kind else { return Vec::new() };
    let warmup = default_warmup(soak.duration).as_secs_f64();
    let begin = tally.segments.iter().filter_map(|segment| segment.first_start).min();
    let begin = begin.unwrap_or_default();
    let seconds = tally.timeline.distributions();
    // The duration of a soak leaves out what the load was held, so its seconds do as well.
    let series = seconds.iter().enumerate().filter_map(|(second, times)| {
        let at = load_time(&tally.pauses, begin, Duration::from_secs(second as u64))?;
        let at = at.as_secs_f64();
        (at >= warmup).then(|| Some((at, mean_ms(times)?)))?
    });
    let series: Vec<_> = series.collect();
    told(&judge_drift(&series, soak.duration, soak.latency_drift_ms_per_sec), soak)
        .into_iter()
        .collect()
}

fn told(drift: &Drift, soak: &Soak) -> Option<Finding> {
    match (drift.verdict, drift.fit) {
        (DriftVerdict::Drifting, Some(fit)) => Some(slower(&fit, soak)),
        (DriftVerdict::Indeterminate, _) => Some(unclear(drift, soak)),
        _ => None,
    }
}

fn slower(fit: &DriftFit, soak: &Soak) -> Finding {
    // The level at the start is that of the first fifth of what is judged: its middle is a tenth.
    let judged = soak.duration.saturating_sub(default_warmup(soak.duration)).as_secs_f64();
    let end = fit.start + fit.slope * judged * 0.9;
    let message = format!(
        "calls get slower by {:.3} ms every second: from about {:.1} ms after the warm-up to {end:.1} ms at the end; the limit is {} ms a second",
        fit.slope, fit.start, soak.latency_drift_ms_per_sec
    );
    finding(LATENCY_DRIFT, Severity::Critical, message)
}

/// Who sets a limit wants to know whether it is kept. With the usual one a short run is not to blame for
/// being short, but it shows no more than that.
fn unclear(drift: &Drift, soak: &Soak) -> Finding {
    let usual = Soak::default().latency_drift_ms_per_sec;
    let is_set = soak.latency_drift_ms_per_sec != usual;
    let severity = if is_set { Severity::Warning } else { Severity::Info };
    let why = drift.explain();
    let message = format!("INDETERMINATE: whether calls get slower cannot be told: {why}");
    let mut found = finding(DRIFT_INDETERMINATE, severity, message);
    found.hint = Some("run it for longer".into());
    found
}

fn mean_ms(times: &Buckets) -> Option<f64> {
    let count = times.count();
    let sum: f64 = times.0.iter().map(|(value, count)| *value as f64 * *count as f64).sum();
    (count > 0).then(|| sum / count as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Event, note},
        scenario::Scenario,
    };

    fn soak(latency: fn(u64) -> u64) -> Vec<Finding> {
        let run = (0..1_000).fold(Run::default(), |run, n| run.ok(n * 100, latency(n)));
        judge(&run.tally, &info(Scenario::soak().duration(Duration::from_secs(100))))
    }

    #[test]
    fn calls_that_get_slower_are_told_and_steady_ones_are_not() {
        assert_eq!(soak(|n| 10 + n / 10)[0].id, LATENCY_DRIFT);
        assert_eq!(soak(|n| 10 + n % 7), []);
        assert_eq!(soak(|n| 110 - n / 10), []);
    }

    #[test]
    fn the_warm_up_counts_from_the_first_call() {
        // The first call comes at 20 s, and a quarter of the 100 s is warm-up: slow until 45 s.
        let run = (0..1_000_u64).fold(Run::default(), |run, n| {
            run.ok(20_000 + n * 100, if n < 250 { 200 } else { 10 + (n - 250) / 10 })
        });
        let soak = info(Scenario::soak().duration(Duration::from_secs(100)));
        let found = judge(&run.tally, &soak);
        assert_eq!(found[0].id, LATENCY_DRIFT);
        assert!(found[0].message.contains("ms every second: from about 1"), "{}", found[0].message);
    }

    #[test]
    fn a_pause_in_the_middle_hides_no_drift_and_makes_none() {
        // Held for 900 s after 50 of the 100: over all of it, the slope is a tenth of what it is.
        let held = |latency: fn(u64) -> u64| {
            let mut run = (0..1_000).fold(Run::default(), |run, n| {
                run.ok(n * 100 + if n < 500 { 0 } else { 900_000 }, latency(n))
            });
            run.tally.observe(&Event::Scenario {
                at: Duration::from_secs(950),
                name: note::PAUSED.into(),
                detail: "by hand".into(),
                took: Some(Duration::from_secs(900)),
            });
            judge(&run.tally, &info(Scenario::soak().duration(Duration::from_secs(100))))
        };
        let found = held(|n| 10 + n / 20);
        assert_eq!(found[0].id, LATENCY_DRIFT);
        assert!(found[0].message.contains("by 0.5"), "{}", found[0].message);
        assert_eq!(held(|n| 10 + n % 7), []);
    }

    #[test]
    fn a_run_that_shows_no_trend_says_so_and_warns_where_a_limit_was_set() {
        let judged = |seconds: u64, limit: f64| {
            let run = (0..seconds * 10).fold(Run::default(), |run, n| run.ok(n * 100, 10));
            let soak = Scenario::soak().duration(Duration::from_secs(seconds));
            judge(&run.tally, &info(soak.latency_drift_ms_per_sec(limit)))
        };
        let short = judged(12, 0.5).remove(0);
        assert_eq!((short.id.as_str(), short.severity), (DRIFT_INDETERMINATE, Severity::Warning));
        let told = "INDETERMINATE: whether calls get slower cannot be told: 9 points do not show how latency changes";
        assert_eq!(short.message, told);
        assert_eq!(judged(12, 0.1)[0].severity, Severity::Info, "nobody asked");
        assert_eq!(judged(14, 0.5), []);
    }

    #[test]
    fn a_mean_is_that_of_all_calls_in_milliseconds() {
        let mean = |pairs: &[(u64, u64)]| mean_ms(&Buckets(pairs.to_vec()));
        assert_eq!(mean(&[(1_000_000, 1), (3_000_000, 3)]), Some(2.5));
        assert_eq!(mean(&[]), None);
    }
}
