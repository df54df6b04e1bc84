//! The axis of a percentile spectrum: each further nine is as wide as the one before, so that the
//! tail has its full length.

use hdrhistogram::Histogram;

use super::{canvas::Axis, scale::Scale};
use crate::histogram;

/// Points of a curve for each further nine.
const POINTS_PER_NINE: u32 = 24;

/// As many nines as there are calls to show them.
pub(crate) fn of(calls: u64) -> f64 {
    (calls as f64).log10().clamp(1.0, 6.0)
}

/// The axis.
pub(crate) fn axis(nines: f64) -> Axis {
    Axis { scale: Scale::whole(nines), told: share, name: "share of calls" }
}

/// The value of the axis is the number of nines: 0 is the shortest, 1 is 90 %, 2 is 99 %.
fn share(nines: f64) -> String {
    let told = format!("{:.4}", 100.0 * (1.0 - 10_f64.powf(-nines)));
    format!("{}%", told.trim_end_matches('0').trim_end_matches('.'))
}

/// The shares of calls along the axis, and where on it they lie.
pub(crate) fn shares(nines: f64) -> (Vec<f64>, Vec<f64>) {
    let steps = (nines * f64::from(POINTS_PER_NINE)) as u32;
    (0..=steps)
        .map(|step| f64::from(step) / f64::from(POINTS_PER_NINE))
        .map(|at| (at, 1.0 - 10_f64.powf(-at)))
        .unzip()
}

/// The times of a histogram along the axis, in milliseconds.
pub(crate) fn curve(times: &Histogram<u64>, nines: f64) -> Vec<(f64, Option<f64>)> {
    let (places, shares) = shares(nines);
    let point = |(at, share): (f64, f64)| {
        (at, histogram::quantile(times, share).map(|time| time.as_secs_f64() * 1e3))
    };
    places.into_iter().zip(shares).map(point).collect()
}
