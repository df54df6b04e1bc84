//! Whether calls get slower while the load stays the same.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    envelope::after_warmup,
    interval::Interval,
    order,
    regression::{least_squares, theil_sen},
};

/// Fewer points than this show no trend.
pub const ENOUGH: usize = 10;
/// The change over the run that matters, as a share of the level at the start …
pub const NOTICEABLE_SHARE: f64 = 0.2;
/// … and in milliseconds: below this nobody minds.
pub const NOTICEABLE_MILLIS: f64 = 1.0;

/// What the series says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftVerdict {
    /// Calls get slower.
    Drifting,
    /// They do not, or not by enough to matter.
    Steady,
    /// There are too few points.
    Indeterminate,
}

/// Why it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftReason {
    /// There are too few points, or none that a line can be drawn through.
    TooFewPoints,
    /// The slope is within the limit.
    WithinLimit,
    /// The slope is beyond the limit, but the noise alone could have made it.
    WithinNoise,
    /// The slope is real, but the change over the run is too small to matter.
    TooSmall,
    /// Calls get slower, for sure and by enough to matter.
    Slower,
}

/// The line through the series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftFit {
    /// Milliseconds by which calls get slower each second.
    pub slope: f64,
    /// Where the slope lies with 95 % confidence.
    pub slope_interval: Interval,
    /// The share of the variation that the line explains.
    pub r2: f64,
    /// The change over the whole run, in milliseconds.
    pub predicted: f64,
    /// The level at the start, in milliseconds: the median of the first fifth of the points.
    pub start: f64,
}

/// How latency changed over a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// What the series says.
    pub verdict: DriftVerdict,
    /// Why.
    pub reason: DriftReason,
    /// The line, where there is one.
    pub fit: Option<DriftFit>,
    /// How many points were used.
    pub points: usize,
}

impl Drift {
    /// The reason in a sentence.
    pub fn explain(&self) -> String {
        let Some(fit) = self.fit else {
            return format!("{} points do not show how latency changes", self.points);
        };
        let change = format!(
            "latency changes by {:.2} ms over the run, from {:.2} ms ({:.4} ms/s, 95 % between {:.4} and {:.4}, R² {:.2}, {} points)",
            fit.predicted,
            fit.start,
            fit.slope,
            fit.slope_interval.low,
            fit.slope_interval.high,
            fit.r2,
            self.points,
        );
        match self.reason {
            DriftReason::TooFewPoints | DriftReason::WithinLimit => {
                format!("{change}, within the limit")
            }
            DriftReason::WithinNoise => format!("{change}, which noise alone may explain"),
            DriftReason::TooSmall => format!("{change}, too little to matter"),
            DriftReason::Slower => format!("calls get slower: {change}"),
        }
    }
}

/// Judges a series of `(seconds, mean or median latency in milliseconds)`, warm-up already left out,
/// of a run that lasted `duration`; `limit` is the slope in milliseconds per second that is allowed.
///
/// It is a drift only if the slope exceeds the limit, and both the interval of least squares and
/// that of Theil and Sen lie above zero (so that one slow second at the end is none), and the change
/// over the run is [`NOTICEABLE_SHARE`] of the start and [`NOTICEABLE_MILLIS`].
pub fn judge_drift(series: &[(f64, f64)], duration: Duration, limit: f64) -> Drift {
    let points = after_warmup(series, Duration::ZERO);
    let Some((fit, surely_rises)) = fit(&points, duration.as_secs_f64()) else {
        return Drift {
            verdict: DriftVerdict::Indeterminate,
            reason: DriftReason::TooFewPoints,
            fit: None,
            points: points.len(),
        };
    };
    let matters =
        fit.predicted >= NOTICEABLE_MILLIS && fit.predicted >= NOTICEABLE_SHARE * fit.start;
    let (verdict, reason) = match () {
        () if fit.slope <= 0.0 || fit.slope <= limit => {
            (DriftVerdict::Steady, DriftReason::WithinLimit)
        }
        () if !surely_rises => (DriftVerdict::Steady, DriftReason::WithinNoise),
        () if !matters => (DriftVerdict::Steady, DriftReason::TooSmall),
        () => (DriftVerdict::Drifting, DriftReason::Slower),
    };
    Drift { verdict, reason, fit: Some(fit), points: points.len() }
}

/// The line, and whether it rises beyond doubt.
fn fit(points: &[(f64, f64)], seconds: f64) -> Option<(DriftFit, bool)> {
    if points.len() < ENOUGH {
        return None;
    }
    let line = least_squares(points)?;
    let trend = theil_sen(points)?;
    let fit = DriftFit {
        slope: line.slope,
        slope_interval: line.slope_interval,
        r2: line.r2,
        predicted: line.slope * seconds,
        start: order::median(points.iter().take(points.len().div_ceil(5)).map(|(_, y)| *y))?,
    };
    let surely_rises = line.slope_interval.low > 0.0 && trend.slope_interval.low > 0.0;
    (fit.predicted.is_finite() && fit.start.is_finite()).then_some((fit, surely_rises))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, dice, either_way, normal, series};
    use super::*;
    use proptest::prelude::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_tool_that_gets_slower_with_every_call_drifts() {
        let mut dice = dice(1);
        let slower = series(60, 1.0, |t| 20.0 + 0.2 * t + normal(&mut dice));
        let drift = judge_drift(&slower, MINUTE, 0.05);
        assert_eq!((drift.verdict, drift.reason), (DriftVerdict::Drifting, DriftReason::Slower));
        let fit = drift.fit.unwrap();
        assert!(fit.slope_interval.contains(0.2) && (fit.predicted - 12.0).abs() < 2.0, "{fit:?}");
        assert!(drift.explain().starts_with("calls get slower: latency changes by"));
        assert_eq!(judge_drift(&slower, MINUTE, 0.5).reason, DriftReason::WithinLimit);
    }

    #[test]
    fn a_curve_and_a_level_that_rises_for_good_drift_too() {
        let curve = series(60, 1.0, |t| 10.0 + t * t / 100.0);
        assert_eq!(judge_drift(&curve, MINUTE, 0.0).verdict, DriftVerdict::Drifting);
        let mut dice = dice(2);
        let level = series(60, 1.0, |t| {
            let step = if t < 30.0 { 10.0 } else { 30.0 };
            step + normal(&mut dice)
        });
        assert_eq!(judge_drift(&level, MINUTE, 0.0).verdict, DriftVerdict::Drifting);
    }

    #[test]
    fn a_slow_last_second_a_warm_up_and_a_tiny_rise_do_not() {
        let mut last = series(60, 1.0, |t| 10.0 + (t % 3.0) * 0.1);
        last[58].1 = 900.0;
        last[59].1 = 900.0;
        assert_eq!(judge_drift(&last, MINUTE, 0.0).reason, DriftReason::WithinNoise);
        let faster = series(60, 1.0, |t| 50.0 - t * 0.5);
        assert_eq!(judge_drift(&faster, MINUTE, 0.0).reason, DriftReason::WithinLimit);
        let tiny = series(60, 1.0, |t| 100.0 + t * 0.1);
        assert_eq!(judge_drift(&tiny, MINUTE, 0.0).reason, DriftReason::TooSmall);
        let fast = series(60, 1.0, |t| 0.1 + t * 0.01);
        assert_eq!(judge_drift(&fast, MINUTE, 0.0).reason, DriftReason::TooSmall);
    }

    #[test]
    fn too_few_points_say_nothing() {
        let few = series(ENOUGH - 1, 1.0, |t| t);
        assert_eq!(judge_drift(&few, MINUTE, 0.0).verdict, DriftVerdict::Indeterminate);
        assert_eq!(judge_drift(&[], Duration::ZERO, f64::NAN).points, 0);
    }

    #[test]
    fn steady_noise_hardly_ever_drifts() {
        // The noise is as large as half of the level, so that 20 % of change are soon predicted.
        let drifting = (0..500).filter(|seed| {
            let mut dice = dice(*seed);
            let steady = series(30, 1.0, |_| 20.0 + 10.0 * either_way(&mut dice));
            judge_drift(&steady, Duration::from_secs(30), 0.0).verdict == DriftVerdict::Drifting
        });
        let drifting = drifting.count();
        assert!(drifting <= 20, "{drifting} of 500, where the interval alone allows 12");
    }

    #[test]
    fn a_change_that_is_no_number_is_no_line() {
        // Powers of two, so that the line itself is exact: 2^1000 ms a second.
        let steep = series(ENOUGH, 2.0_f64.powi(-500), |t| t * 2.0_f64.powi(1_000));
        assert!(judge_drift(&steep, MINUTE, 0.0).fit.is_some());
        let endless = judge_drift(&steep, Duration::MAX, 0.0);
        assert_eq!((endless.verdict, endless.fit), (DriftVerdict::Indeterminate, None));
    }

    proptest! {
        #[test]
        fn odd_numbers_do_no_harm(
            points in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..30),
            seconds in 0_u64..100, limit in prop::sample::select(ODD.to_vec()),
        ) {
            let drift = judge_drift(&points, Duration::from_secs(seconds), limit);
            prop_assert!(drift.fit.is_none_or(|fit| fit.predicted.is_finite()));
        }
    }

    #[test]
    fn ten_points_are_enough() {
        let ten = judge_drift(&series(ENOUGH, 1.0, |t| 20.0 + 5.0 * t), MINUTE, 0.0);
        assert_eq!((ten.reason, ten.points), (DriftReason::Slower, ENOUGH));
        let nine = judge_drift(&series(ENOUGH - 1, 1.0, |t| 20.0 + 5.0 * t), MINUTE, 0.0);
        assert_eq!(nine.explain(), "9 points do not show how latency changes");
    }

    #[test]
    fn a_rise_that_is_soon_over_is_sure_by_one_line_only() {
        // More than a third of all pairs lie on the level, so that the line of Theil and Sen may be flat.
        let fill = series(60, 1.0, |t| 10.0 + t.min(21.0));
        let found = judge_drift(&fill, MINUTE, 0.0);
        assert!(found.fit.unwrap().slope_interval.low > 0.0, "{found:?}");
        assert_eq!(theil_sen(&fill).unwrap().slope_interval.low, 0.0);
        assert_eq!(found.reason, DriftReason::WithinNoise);
        assert!(found.explain().ends_with(", which noise alone may explain"));
    }
}
