//! Percentiles of the response times over time.

use std::time::Duration;

use crate::{
    report::{
        Report,
        html::{
            course::{self, quantiles, times, whole_windows},
            figure::{Figure, Picture},
            time::{Series, Shape, Thin, TimeChart, Unit},
        },
    },
    stats::drift::{DriftReason, judge_drift},
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let line = |(name, quantile, colour)| Series {
        name,
        unit: Unit::Millis,
        colour,
        thin: Thin::Highest,
        values: quantiles(windows, quantile),
    };
    let lines =
        [("p50", 0.5, 0), ("p90", 0.9, 2), ("p99", 0.99, 3), ("p99.9", 0.999, 1), ("max", 1.0, 4)];
    let chart = TimeChart {
        at: times(windows),
        series: lines.into_iter().map(line).collect(),
        limits: course::latency_limits(report),
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

/// Whether the median drifts: beyond chance, and by enough to matter.
fn reading(report: &Report) -> String {
    let whole = whole_windows(report);
    let medians = times(&whole).into_iter().zip(quantiles(&whole, 0.5));
    let medians: Vec<(f64, f64)> = medians.filter_map(|(at, median)| Some((at, median?))).collect();
    let covered: u64 = whole.iter().map(|window| window.secs).sum();
    let drift = judge_drift(&medians, Duration::from_secs(covered), 0.0);
    let Some(fit) = drift.fit else {
        let windows = match drift.points {
            1 => "One window is".to_owned(),
            several => format!("{several} windows are"),
        };
        return format!("{windows} too few to tell whether calls get slower.");
    };
    let told = match drift.reason {
        DriftReason::Slower => {
            format!("Calls get slower: the median by {:.2} ms over the run", fit.predicted)
        }
        DriftReason::TooSmall => "The median rises, but by too little to matter".to_owned(),
        DriftReason::WithinNoise => "The median rises by no more than chance explains".to_owned(),
        DriftReason::TooFewPoints | DriftReason::WithinLimit => {
            "The median does not rise over the run".to_owned()
        }
    };
    format!(
        "{told} (slope {:.3} ms/s, 95 % between {:.3} and {:.3}, {} windows).",
        fit.slope, fit.slope_interval.low, fit.slope_interval.high, drift.points
    )
}
