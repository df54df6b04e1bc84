//! Straight lines through series: by least squares, and by Theil and Sen for noisy ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    interval::{Interval, NORMAL, student},
    order,
};

/// The line of least squares, y = slope * t + intercept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// How much y rises in one unit of t.
    pub slope: f64,
    /// Where the line is at t = 0.
    pub intercept: f64,
    /// The share of the variation of y that the line explains, 0 to 1; 0 when y does not vary.
    pub r2: f64,
    /// The standard error of the slope as textbooks have it, for independent residuals.
    pub slope_error: f64,
    /// Where the slope lies with 95 % confidence. Wider than the standard error alone gives when
    /// neighbouring residuals resemble each other.
    pub slope_interval: Interval,
    /// How many points it rests on.
    pub points: usize,
}

impl Line {
    /// Where the line is at `t`.
    pub fn at(&self, t: f64) -> f64 {
        self.slope * t + self.intercept
    }
}

/// The line of least squares through `(t, y)` points in any order.
///
/// Nothing for fewer than three points, for points at one time, and when a number is not finite or
/// too large to calculate with.
///
/// ```
/// # use mcp_loadtest_core::stats::regression::least_squares;
/// let line = least_squares(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
/// assert_eq!((line.slope, line.intercept, line.r2), (2.0, 1.0, 1.0));
/// ```
pub fn least_squares(points: &[(f64, f64)]) -> Option<Line> {
    let points = in_order(points)?;
    let count = points.len() as f64;
    let mean_t = points.iter().map(|(t, _)| t).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let (mut tt, mut ty, mut yy) = (0.0, 0.0, 0.0);
    for (t, y) in &points {
        let (t, y) = (t - mean_t, y - mean_y);
        tt += t * t;
        ty += t * y;
        yy += y * y;
    }
    if tt <= 0.0 {
        return None;
    }
    // The mean of a constant is rounded; without this the rounding would be taken for a variation.
    let is_constant = points.iter().all(|(_, y)| *y == points[0].1);
    let slope = if is_constant { 0.0 } else { ty / tt };
    let intercept = mean_y - slope * mean_t;
    let residuals: Vec<f64> =
        points.iter().map(|(t, y)| (y - mean_y) - slope * (t - mean_t)).collect();
    let squares = residuals.iter().map(|r| r * r).sum::<f64>();
    let r2 = if is_constant { 0.0 } else { (1.0 - squares / yy).clamp(0.0, 1.0) };
    let freedom = effective_points(&residuals, squares) - 2.0;
    let reach = student(freedom) * (squares / freedom / tt).sqrt();
    let line = Line {
        slope,
        intercept,
        r2,
        slope_error: (squares / (count - 2.0) / tt).sqrt(),
        slope_interval: Interval::around(slope, reach),
        points: points.len(),
    };
    line.is_finite().then_some(line)
}

impl Line {
    fn is_finite(&self) -> bool {
        [self.slope, self.intercept, self.r2, self.slope_error].iter().all(|n| n.is_finite())
            && self.slope_interval.is_finite()
    }
}

/// How many independent points the series is worth.
///
/// Latencies and memory of one second resemble those of the second before, so that n samples say
/// less than n independent ones and the usual interval is too narrow: it finds trends in noise. With
/// the correlation r of neighbouring residuals they are worth n (1 - r) / (1 + r) points (Bartlett
/// 1935; for trends Santer et al. 2000). A line through a curve leaves residuals that resemble each
/// other although nothing is noisy; r is therefore taken as 0.8 at most, and never fewer than five
/// points remain of five.
fn effective_points(residuals: &[f64], squares: f64) -> f64 {
    let count = residuals.len() as f64;
    let neighbours: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = if squares > 0.0 { (neighbours / squares).clamp(0.0, 0.8) } else { 0.0 };
    (count * (1.0 - correlation) / (1.0 + correlation)).clamp(count.min(5.0), count)
}

/// The slope that half of all pairs of points exceed: no quarter of the points can spoil it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// How much y rises in one unit of t.
    pub slope: f64,
    /// Where the line with this slope through the middle of the points is at t = 0.
    pub intercept: f64,
    /// Where the slope lies with 95 % confidence (Sen 1968).
    pub slope_interval: Interval,
    /// How many points it rests on, after thinning.
    pub points: usize,
}

/// More points than this are thinned evenly: the number of pairs grows with the square.
const MOST_POINTS: usize = 300;

/// The line of Theil and Sen through `(t, y)` points in any order; nothing where
/// [`least_squares`] gives nothing.
///
/// ```
/// # use mcp_loadtest_core::stats::regression::theil_sen;
/// let mut points: Vec<_> = (0..30).map(|t| (f64::from(t), f64::from(t) * 2.0)).collect();
/// points[29].1 = 1e6;
/// assert_eq!(theil_sen(&points).unwrap().slope, 2.0);
/// ```
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Trend> {
    let points = thinned(in_order(points)?);
    let mut slopes = Vec::with_capacity(points.len() * (points.len() - 1) / 2);
    for (at, (t, y)) in points.iter().enumerate() {
        let later = points[at + 1..].iter().filter(|(other, _)| other > t);
        slopes.extend(later.map(|(other, value)| (value - y) / (other - t)));
    }
    let slopes = order::sorted(slopes);
    let slope = order::quantile(&slopes, 0.5)?;
    let intercept = order::median(points.iter().map(|(t, y)| y - slope * t))?;
    // Kendall's statistic of n points without a trend has the variance n (n - 1) (2 n + 5) / 18. The
    // slopes whose ranks lie that far from the middle bound the interval.
    let (pairs, n) = (slopes.len() as f64, points.len() as f64);
    let reach = NORMAL * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt() / (2.0 * pairs);
    let slope_interval = Interval {
        low: order::quantile(&slopes, 0.5 - reach)?,
        high: order::quantile(&slopes, 0.5 + reach)?,
    };
    let trend = Trend { slope, intercept, slope_interval, points: points.len() };
    let is_finite = slope.is_finite() && intercept.is_finite() && slope_interval.is_finite();
    is_finite.then_some(trend)
}

/// Every k-th point, the first and the last among them.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let last = points.len() - 1;
    (0..MOST_POINTS).map(|at| points[at * last / (MOST_POINTS - 1)]).collect()
}

/// The points by time, if there are three and all are numbers.
fn in_order(points: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let usable = points.len() >= 3 && points.iter().all(|(t, y)| t.is_finite() && y.is_finite());
    usable.then(|| by_time(points.to_vec()))
}

/// The points in order of time.
pub(super) fn by_time(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, dice, normal, series};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_textbook_example_gives_the_textbook_figures() {
        // Anscombe's first set: y = 0.5001 t + 3.0001, R² 0.6665, standard error of the slope 0.1179.
        let t = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<_> = t.into_iter().zip(y).collect();
        let line = least_squares(&points).unwrap();
        assert!((line.slope - 0.5001).abs() < 1e-4 && (line.intercept - 3.0001).abs() < 1e-4);
        assert!((line.r2 - 0.6665).abs() < 1e-4 && (line.slope_error - 0.1179).abs() < 1e-4);
        let reach = 2.2622 * line.slope_error;
        assert!((line.slope_interval.high - line.slope - reach).abs() < 1e-3, "{line:?}");
        assert!((line.at(10.0) - 8.001).abs() < 1e-3);
    }

    #[test]
    fn what_is_no_line_gives_nothing() {
        // Each slope is 2^1000, and the line at t = 0 beyond all numbers.
        let [early, step, high] = [40, 20, 1_020].map(|power| 2.0_f64.powi(power));
        let steep = [(early, 0.0), (early + step, high), (early + step * 2.0, high * 2.0)];
        let none: [&[(f64, f64)]; 6] = [
            &steep,
            &[],
            &[(0.0, 1.0), (1.0, 2.0)],
            &[(3.0, 1.0), (3.0, 2.0), (3.0, 9.0)],
            &[(0.0, 1.0), (1.0, f64::NAN), (2.0, 2.0)],
            &[(0.0, 1.0), (f64::INFINITY, 1.0), (2.0, 2.0)],
        ];
        for points in none {
            assert_eq!(least_squares(points), None, "{points:?}");
            assert_eq!(theil_sen(points), None, "{points:?}");
        }
    }

    #[test]
    fn a_constant_has_no_slope_and_explains_nothing() {
        let line = least_squares(&series(1000, 0.1, |_| 0.1)).unwrap();
        assert_eq!((line.slope, line.r2), (0.0, 0.0));
    }

    #[test]
    fn half_of_the_points_in_the_wild_are_needed_to_spoil_theil_sen() {
        let mut points = series(100, 1.0, |t| 3.0 * t);
        for wild in points.iter_mut().take(20) {
            wild.1 = 1e9;
        }
        let trend = theil_sen(&points).unwrap();
        assert!((trend.slope - 3.0).abs() < 1e-9, "{trend:?}");
        assert!(least_squares(&points).unwrap().slope < 0.0);
    }

    #[test]
    fn a_long_series_is_thinned_with_both_ends() {
        let trend = theil_sen(&series(100_000, 1.0, |t| 7.0 * t + 1.0)).unwrap();
        assert_eq!(trend.points, MOST_POINTS);
        assert!((trend.slope - 7.0).abs() < 1e-9);
    }

    #[test]
    fn the_interval_holds_the_truth_also_when_neighbours_resemble_each_other() {
        let missed = |likeness: f64| {
            let misses = (0..400).filter(|seed| {
                let (mut dice, mut state) = (dice(*seed), 0.0);
                let points = series(120, 1.0, |t| {
                    state = likeness * state + normal(&mut dice);
                    t + state
                });
                !least_squares(&points).unwrap().slope_interval.contains(1.0)
            });
            misses.count()
        };
        let (independent, alike) = (missed(0.0), missed(0.7));
        assert!((8..=32).contains(&independent), "{independent} of 400, expected about 20");
        assert!(alike <= 50, "{alike} of 400; without the correction it would be about 150");
    }

    #[test]
    fn the_interval_of_theil_sen_holds_the_truth() {
        let missed = (0..300).filter(|seed| {
            let mut dice = dice(*seed);
            let points = series(40, 1.0, |t| t + 5.0 * normal(&mut dice));
            !theil_sen(&points).unwrap().slope_interval.contains(1.0)
        });
        let missed = missed.count();
        assert!((4..=30).contains(&missed), "{missed} of 300, expected about 15");
    }

    #[test]
    fn three_points_on_a_line_leave_nothing() {
        let line = least_squares(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!((line.slope, line.intercept, line.r2), (2.0, 1.0, 1.0));
        assert_eq!((line.slope_error, line.slope_interval), (0.0, Interval::around(2.0, 0.0)));
    }

    #[test]
    fn a_line_is_finite_only_if_all_its_figures_are() {
        let line = least_squares(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        let endless = Interval { low: 0.0, high: f64::INFINITY };
        assert!(line.is_finite());
        assert!(!Line { slope_interval: endless, ..line }.is_finite());
        assert!(!Line { slope_error: f64::NAN, ..line }.is_finite());
    }

    #[test]
    fn points_at_one_time_have_no_slope_between_them() {
        let trend = theil_sen(&[(0.0, 0.0), (0.0, 90.0), (1.0, 2.0), (2.0, 4.0)]).unwrap();
        // 2, 2 and 2 from the first and the last two, -88 and -43 from the one that is off.
        assert_eq!((trend.slope, trend.points), (2.0, 4));
        assert_eq!(trend.slope_interval.high, 2.0);
    }

    #[test]
    fn every_kth_point_remains_with_both_ends() {
        let all = series(MOST_POINTS * 2 - 1, 1.0, |t| t);
        let some = thinned(all.clone());
        assert_eq!((some.len(), some[0], some[1]), (MOST_POINTS, all[0], all[2]));
        assert_eq!(some.last(), all.last());
        let few = series(MOST_POINTS, 1.0, |t| t);
        assert_eq!(thinned(few.clone()), few);
    }

    proptest! {
        #[test]
        fn a_pure_line_is_found(
            slope in -1e6..1e6_f64, start in -1e6..1e6_f64, count in 3_usize..200, step in 0.01..10.0_f64,
        ) {
            let points = series(count, step, |t| slope * t + start);
            let scale = 1e-6 * (slope.abs() + start.abs() / step + 1.0);
            prop_assert!((least_squares(&points).unwrap().slope - slope).abs() < scale);
            prop_assert!((theil_sen(&points).unwrap().slope - slope).abs() < scale);
        }

        #[test]
        fn the_order_of_points_does_not_matter(values in prop::collection::vec(-1e3..1e3_f64, 3..40)) {
            let points = series(values.len(), 1.0, |t| values[t as usize]);
            let backwards: Vec<_> = points.iter().rev().copied().collect();
            prop_assert_eq!(least_squares(&points), least_squares(&backwards));
            prop_assert_eq!(theil_sen(&points), theil_sen(&backwards));
        }

        #[test]
        fn odd_numbers_give_numbers_or_nothing(
            points in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..8),
        ) {
            prop_assert!(least_squares(&points).is_none_or(|line| line.is_finite()));
            prop_assert!(theil_sen(&points).is_none_or(|trend| trend.slope.is_finite()));
        }
    }
}
