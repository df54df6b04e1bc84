//! Ranges that hold the truth 95 times in 100.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A 95 % confidence interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// As far below `middle` as above it.
    pub(super) fn around(middle: f64, reach: f64) -> Self {
        Self { low: middle - reach, high: middle + reach }
    }

    /// Where the share of good ones lies, after so many of so many: Wilson's interval, which does not
    /// shrink to a point when all or none were good. Without any, it may be anywhere.
    pub fn of_share(good: u32, all: u32) -> Self {
        if all == 0 {
            return Self { low: 0.0, high: 1.0 };
        }
        // With p the share, n the number and z the quantile, the ends are
        // (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
        let (n, z) = (f64::from(all), NORMAL);
        let p = f64::from(good.min(all)) / n;
        let middle = p + z * z / (2.0 * n);
        let reach = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        let end = |value: f64| (value / scale).clamp(0.0, 1.0);
        Self { low: end(middle - reach), high: end(middle + reach) }
    }

    /// Whether the value lies inside.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether all of it lies within `bound` of zero.
    pub fn is_within(self, bound: f64) -> bool {
        -bound <= self.low && self.high <= bound
    }

    /// Whether both ends are numbers.
    pub(super) fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// How many standard deviations of a normal distribution hold 95 % of it.
pub(super) const NORMAL: f64 = 1.959_963_984_540_054;

/// The same for Student's distribution with 1 to 10 degrees of freedom, from the usual tables.
const STUDENT: [f64; 10] =
    [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281];

/// The same for Student's distribution. A fraction of a degree counts as none, which errs towards
/// a wider interval.
pub(super) fn student(freedom: f64) -> f64 {
    let at = freedom.floor().max(1.0);
    if at.is_nan() || at <= STUDENT.len() as f64 {
        let row = if at.is_nan() { 1 } else { at as usize };
        return STUDENT[row - 1];
    }
    // The expansion of Cornish and Fisher round the normal quantile z, Abramowitz & Stegun 26.7.5.
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / at + second / at.powi(2) + third / at.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_agrees_with_the_tables() {
        for (freedom, expected) in
            [(1.0, 12.7062), (10.9, 2.2281), (11.0, 2.2010), (20.0, 2.0860), (60.0, 2.0003)]
        {
            assert!((student(freedom) - expected).abs() < 2e-4, "{freedom}: {}", student(freedom));
        }
        assert!((student(f64::INFINITY) - NORMAL).abs() < 1e-9);
        for odd in [f64::NAN, -3.0, 0.0, f64::NEG_INFINITY] {
            assert_eq!(student(odd), STUDENT[0]);
        }
    }

    #[test]
    fn shares_have_the_intervals_of_the_tables() {
        let near = |interval: Interval, low: f64, high: f64| {
            (interval.low - low).abs() < 5e-4 && (interval.high - high).abs() < 5e-4
        };
        assert!(near(Interval::of_share(10, 10), 0.7225, 1.0));
        assert!(near(Interval::of_share(5, 10), 0.2366, 0.7634));
        assert!(near(Interval::of_share(0, 10), 0.0, 0.2775));
        assert_eq!(Interval::of_share(0, 0), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn ends_belong_to_the_interval() {
        let interval = Interval { low: -1.0, high: 2.0 };
        assert!(interval.contains(-1.0) && interval.contains(2.0) && !interval.contains(2.1));
        assert!(interval.is_within(2.0) && !interval.is_within(1.5));
        assert!(!interval.contains(f64::NAN) && !interval.is_within(f64::NAN));
    }

    #[test]
    fn beyond_the_table_student_is_the_expansion() {
        // Worked out from Abramowitz & Stegun 26.7.5 with three terms.
        for (freedom, expected) in
            [(11.0, 2.200_871_688_010), (12.9, 2.178_733_018_239), (30.0, 2.042_270_462_889)]
        {
            assert!((student(freedom) - expected).abs() < 1e-10, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn both_ends_must_be_numbers() {
        for (low, high, expected) in [
            (0.0, 1.0, true),
            (f64::NEG_INFINITY, 1.0, false),
            (0.0, f64::INFINITY, false),
            (f64::NAN, f64::NAN, false),
        ] {
            assert_eq!(Interval { low, high }.is_finite(), expected, "{low} to {high}");
        }
        assert_eq!(Interval::around(3.0, 0.5), Interval { low: 2.5, high: 3.5 });
    }
}
