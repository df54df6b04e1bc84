//! The floor of a series. Memory of garbage-collected runtimes is a saw-tooth: what counts is not
//! how high it climbs between two collections but what is left after each.

use std::time::Duration;

use super::regression::by_time;

/// What is discarded at the start of a run: just-in-time compilers and lazy loading are still at
/// work.
pub const WARMUP: Duration = Duration::from_secs(30);

/// How much of the start of a run to discard: [`WARMUP`], but no more than the first quarter of a
/// short run.
pub fn default_warmup(duration: Duration) -> Duration {
    WARMUP.min(duration / 4)
}

/// The samples of `(seconds since the start, value)` from the end of the warm-up on, by time;
/// samples that are not numbers are left out.
pub fn after_warmup(samples: &[(f64, f64)], warmup: Duration) -> Vec<(f64, f64)> {
    let from = warmup.as_secs_f64();
    let usable = samples.iter().filter(|(t, y)| t.is_finite() && y.is_finite() && *t >= from);
    by_time(usable.copied().collect())
}

/// The lowest sample in each of `windows` equal spans of time. It keeps its own time, so that a
/// straight line stays the same line. A span without a sample has no point.
pub fn minima(samples: &[(f64, f64)], windows: usize) -> Vec<(f64, f64)> {
    let samples = after_warmup(samples, Duration::ZERO);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
    let span = last.0 - first.0;
    let window = |t: f64| {
        let at = (t - first.0) / span * windows as f64;
        (at as usize).min(windows.saturating_sub(1))
    };
    let mut lowest: Vec<(f64, f64)> = Vec::new();
    for chunk in samples.chunk_by(|a, b| window(a.0) == window(b.0)) {
        lowest.extend(chunk.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)));
    }
    lowest
}

/// What the series never falls below again: the [`minima`], each lowered to the lowest one after it.
///
/// What was freed later was not lost, so one late collection counts against all growth before it.
pub fn floor(samples: &[(f64, f64)], windows: usize) -> Vec<(f64, f64)> {
    let mut lowest = minima(samples, windows);
    let mut least = f64::INFINITY;
    for (_, value) in lowest.iter_mut().rev() {
        least = least.min(*value);
        *value = least;
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, series};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_runs_lose_a_quarter_and_long_ones_thirty_seconds() {
        assert_eq!(default_warmup(Duration::from_secs(20)), Duration::from_secs(5));
        assert_eq!(default_warmup(Duration::from_secs(3600)), WARMUP);
        assert_eq!(default_warmup(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn warm_up_and_odd_samples_are_left_out() {
        let samples = [(5.0, 2.0), (0.5, 9.0), (f64::NAN, 1.0), (3.0, f64::NAN), (4.0, 1.0)];
        assert_eq!(after_warmup(&samples, Duration::from_secs(1)), [(4.0, 1.0), (5.0, 2.0)]);
        assert!(after_warmup(&samples, Duration::MAX).is_empty());
    }

    #[test]
    fn the_floor_of_a_saw_tooth_is_flat_and_that_of_a_line_is_the_line() {
        let teeth = series(121, 1.0, |t| 50.0 + t % 10.0);
        assert!(floor(&teeth, 8).iter().all(|(_, value)| *value == 50.0));
        let line = series(100, 1.0, |t| t * 3.0);
        assert!(floor(&line, 10).iter().all(|(t, value)| *value == t * 3.0));
        assert_eq!(floor(&line, 10).len(), 10);
    }

    #[test]
    fn a_late_collection_counts_against_all_growth_before_it() {
        let mut samples = series(100, 1.0, |t| t);
        samples[99].1 = 0.0;
        assert!(floor(&samples, 10).iter().all(|(_, value)| *value == 0.0));
    }

    #[test]
    fn spans_are_counted_from_the_first_sample() {
        let values = [5.0, 3.0, 4.0, 9.0, 8.0, 7.0, 6.0, 7.0, 8.0, 4.0, 2.0, 3.0];
        let samples: Vec<_> = (1_000..).map(f64::from).zip(values).collect();
        let lowest = [(1_001.0, 3.0), (1_005.0, 7.0), (1_006.0, 6.0), (1_010.0, 2.0)];
        assert_eq!(minima(&samples, 4), lowest);
        assert_eq!(floor(&samples, 4), lowest.map(|(t, _)| (t, 2.0)));
        assert_eq!(minima(&samples, 1), [(1_010.0, 2.0)]);
        assert_eq!(floor(&samples[..9], 3), [(1_001.0, 3.0), (1_005.0, 6.0), (1_006.0, 6.0)]);
    }

    proptest! {
        #[test]
        fn the_floor_never_falls_and_lies_below_all_that_follows(
            values in prop::collection::vec(-1e3..1e3_f64, 0..80), windows in 0_usize..30,
        ) {
            let samples = series(values.len(), 1.0, |t| values[t as usize]);
            let floor = floor(&samples, windows);
            prop_assert!(floor.windows(2).all(|pair| pair[0].1 <= pair[1].1));
            prop_assert!(floor.len() <= windows.max(1));
            for (t, value) in floor {
                prop_assert!(samples.iter().filter(|(other, _)| *other >= t).all(|(_, y)| *y >= value));
            }
        }

        #[test]
        fn odd_numbers_do_no_harm(
            samples in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..8),
            windows in 0_usize..5,
        ) {
            prop_assert!(floor(&samples, windows).iter().all(|(t, y)| t.is_finite() && y.is_finite()));
        }
    }
}
