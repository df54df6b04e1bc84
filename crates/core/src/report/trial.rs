//! One trial of a search: does the server keep its limits at this rate?

use std::time::Duration;

use crate::{
    stats::search::TrialOutcome,
    tally::Segment,
    thresholds::{Measured, Thresholds},
};

/// The share of the rate that must be sent for a trial to count.
const OFFERED: f64 = 0.97;

/// Judges the calls of a trial at `rate` for `hold`. An error says how it failed, and why.
pub fn judge_trial(
    seen: &[Segment],
    rate: f64,
    hold: Duration,
    limits: &Thresholds,
) -> Result<(), (TrialOutcome, String)> {
    let mut trial = Segment::default();
    seen.iter().for_each(|segment| trial.merge(segment));
    let counts = &trial.counts;
    if counts.dropped > 0 {
        return Err((TrialOutcome::Failed, format!("{} calls were dropped", counts.dropped)));
    }
    let sent_by = trial.first_start.map(|first| trial.last_sent.saturating_sub(first));
    let late = sent_by.is_some_and(|took| took.as_secs_f64() > hold.as_secs_f64() / OFFERED);
    if late || counts.issued == 0 {
        return Err((TrialOutcome::Invalid, format!("{rate:.0}/s could not be sent")));
    }
    let times = trial.response();
    let at = |quantile| crate::histogram::quantile(&times, quantile);
    let measured = Measured {
        p50_latency: at(0.50),
        p95_latency: at(0.95),
        p99_latency: at(0.99),
        p999_latency: at(0.999),
        error_rate: counts.error_rate(),
        memory_growth_mb: None,
        rps: None,
    };
    let global = Thresholds { memory_growth_mb: f64::INFINITY, min_rps: 0.0, ..limits.clone() };
    let violation = global.evaluate(&measured).into_iter().next();
    let slower = violation.or_else(|| {
        limits.tool.iter().find_map(|limits| {
            let tool = trial.tool(&limits.name)?;
            let times = tool.times.response();
            let at = |quantile| crate::histogram::quantile(times, quantile);
            let measured = Measured {
                p50_latency: at(0.50),
                p95_latency: at(0.95),
                p99_latency: at(0.99),
                p999_latency: at(0.999),
                error_rate: tool.counts.error_rate(),
                rps: Some(f64::INFINITY),
                ..Measured::default()
            };
            limits.evaluate(&measured).into_iter().next()
        })
    });
    match slower {
        None => Ok(()),
        Some(violated) => {
            let why =
                format!("{} {} (limit {})", violated.metric, violated.actual, violated.expected);
            Err((TrialOutcome::Failed, why))
        }
    }
}
