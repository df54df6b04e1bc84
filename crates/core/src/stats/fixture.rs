//! Series and histograms with known truth, for the tests of this room.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::{
    histogram,
    seed::{Dice, Seed},
};

/// Chance for one test case.
pub(super) fn dice(seed: u64) -> Dice {
    Seed(seed).dice(0xF1C)
}

/// A draw from the normal distribution with mean 0 and deviation 1 (Box and Muller).
pub(super) fn normal(dice: &mut Dice) -> f64 {
    let radius = (-2.0 * (1.0 - dice.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * dice.unit()).cos()
}

/// A number in `-1.0..1.0`.
pub(super) fn either_way(dice: &mut Dice) -> f64 {
    dice.unit() * 2.0 - 1.0
}

/// One value a step, at times `0, step, 2 step, …`.
pub(super) fn series(
    count: usize,
    step: f64,
    mut value: impl FnMut(f64) -> f64,
) -> Vec<(f64, f64)> {
    (0..count).map(|at| at as f64 * step).map(|time| (time, value(time))).collect()
}

/// A histogram of times in milliseconds.
pub(super) fn times(millis: impl IntoIterator<Item = f64>) -> Histogram<u64> {
    let mut times = histogram::new();
    for value in millis {
        histogram::record(&mut times, Duration::from_secs_f64(value / 1e3));
    }
    times
}

/// Values that no arithmetic likes.
pub(super) const ODD: [f64; 9] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -1.0,
    1e308,
    -1e308,
    f64::MIN_POSITIVE,
    f64::EPSILON,
];
