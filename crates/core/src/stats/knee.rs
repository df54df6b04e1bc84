//! The breaking point of a ramp: where more load brings no more throughput.
//!
//! A server that works on C calls at once, each taking S, answers load / S calls a second while the
//! load is below C and C / S from there on, while latency rises with the load. The knee is where the
//! line through the origin meets the plateau, so that it is found between two steps as well.

use std::time::Duration;

use super::order;

/// What was measured at one step of a ramp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Calls in flight, or calls asked for a second.
    pub load: f64,
    /// Calls that succeeded, a second.
    pub throughput: f64,
    /// The median response time.
    pub p50: Duration,
    /// The 99th percentile of the response time.
    pub p99: Duration,
    /// The share of calls that failed, 0 to 1.
    pub error_rate: f64,
}

/// What becomes of throughput beyond the knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Beyond {
    /// It stays where it is.
    Plateau,
    /// It falls: the server works less the more it is asked.
    Collapse,
}

/// Where throughput stops to follow the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    /// The load there, between two steps.
    pub load: f64,
    /// What becomes of throughput beyond.
    pub beyond: Beyond,
    /// What shows it, in a sentence.
    pub reason: String,
    /// The last step below it.
    pub before: Point,
    /// The first step at or above it.
    pub at: Point,
}

/// What a ramp shows.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakingPoint {
    /// Where throughput stops to follow the load, if it does.
    pub knee: Option<Knee>,
    /// The throughput of the plateau, if there is one: the estimate of what the server can do.
    pub capacity: Option<f64>,
    /// The first step with more errors than allowed.
    pub first_error: Option<Point>,
    /// The first step from which p99 is far above that of the unloaded server.
    pub explosion: Option<Point>,
    /// The outcome in a sentence, also where there is no knee.
    pub reason: String,
}

/// Fewer steps than this show no shape.
pub const ENOUGH: usize = 4;
/// The ramp must go this far beyond the knee, as a share of it: before, noise looks the same.
const REACH: f64 = 1.25;
/// A plateau may rise this much of what it rose before; beyond, throughput still follows the load.
const RISING: f64 = 0.35;
/// Throughput that falls below this share of its peak for good has collapsed.
const COLLAPSED: f64 = 0.75;
/// p99 explodes at this many times that of the unloaded step: a queue of two callers ahead, which no
/// healthy ramp has …
const EXPLODED: f64 = 3.0;
/// … and when it is this much more, because three times one millisecond is a matter of scheduling.
const NOTICEABLE: Duration = Duration::from_millis(10);

/// Finds the breaking point of a ramp, from steps in any order; `error_limit` is the share of errors
/// that is allowed. Steps without load or with figures that are not numbers are left out.
pub fn breaking_point(points: &[Point], error_limit: f64) -> BreakingPoint {
    let points = usable(points);
    let first_error = points.iter().find(|point| point.error_rate > error_limit).copied();
    let explosion = explosion(&points);
    let (knee, capacity, reason) = match find_knee(&points) {
        Ok((knee, capacity)) => {
            let reason = knee.reason.clone();
            (Some(knee), Some(capacity), reason)
        }
        Err(reason) => (None, None, reason),
    };
    BreakingPoint { knee, capacity, first_error, explosion, reason }
}

fn usable(points: &[Point]) -> Vec<Point> {
    let sane = |point: &&Point| {
        let numbers = [point.load, point.throughput, point.load * point.throughput];
        numbers.iter().all(|n| n.is_finite()) && point.load > 0.0 && point.throughput >= 0.0
    };
    let mut points: Vec<Point> = points.iter().filter(sane).copied().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    points
}

/// The first step at which p99 has exploded, and not for this step alone: one pause is no explosion.
fn explosion(points: &[Point]) -> Option<Point> {
    // The better of the first two: the very first call may have paid for the start.
    let unloaded = points.iter().take(2).map(|point| point.p99).min()?;
    let exploded = |point: &Point| {
        point.p99.as_secs_f64() > EXPLODED * unloaded.as_secs_f64()
            && point.p99 > unloaded.saturating_add(NOTICEABLE)
    };
    let lasting = |at: &usize| exploded(&points[*at]) && points.get(at + 1).is_none_or(exploded);
    (0..points.len()).find(lasting).map(|at| points[at])
}

/// The knee and the capacity, or why there is none.
fn find_knee(points: &[Point]) -> Result<(Knee, f64), String> {
    let highest = points.last().map_or(0.0, |point| point.load);
    let none = format!("no knee up to {}", short(highest));
    if points.len() < ENOUGH {
        return Err(match points.len() {
            1 => format!("{none}: one step is too few to tell"),
            steps => format!("{none}: {steps} steps are too few to tell"),
        });
    }
    let (kept, beyond) = up_to_collapse(points);
    let bend = Bend::of(kept).ok_or_else(|| format!("{none}: nothing was answered"))?;
    let load = bend.plateau / bend.rise;
    if !load.is_finite() || highest < REACH * load {
        return Err(format!("{none}: throughput follows the load"));
    }
    if beyond == Beyond::Plateau && bend.rising + 1 == kept.len() {
        return Err(format!("{none}: only the last step falls behind, which may be chance"));
    }
    if beyond == Beyond::Plateau && bend.still_rises(kept) {
        return Err(format!("{none}: throughput grows more slowly than the load, but grows"));
    }
    let reason = match beyond {
        Beyond::Plateau if load < points[0].load => format!(
            "throughput is {}/s from the first step of {} to {}",
            short(bend.plateau),
            short(points[0].load),
            short(highest)
        ),
        Beyond::Plateau => format!(
            "throughput follows the load up to {} and stays at {}/s from there to {}",
            short(load),
            short(bend.plateau),
            short(highest)
        ),
        Beyond::Collapse => format!(
            "throughput follows the load up to {} and falls from {}/s to {}/s at {}",
            short(load),
            short(bend.plateau),
            short(points[points.len() - 1].throughput),
            short(highest)
        ),
    };
    let next = points.partition_point(|point| point.load < load).min(points.len() - 1);
    let (before, at) = (points[next.saturating_sub(1)], points[next]);
    Ok((Knee { load, beyond, reason, before, at }, bend.plateau))
}

/// The steps up to the last good one, where throughput falls for good after it.
fn up_to_collapse(points: &[Point]) -> (&[Point], Beyond) {
    // The median of three neighbours: one lucky step is no peak, one unlucky one no collapse.
    let smooth = |three: &[Point]| order::median(three.iter().map(|point| point.throughput));
    let peak = points.windows(3).filter_map(smooth).fold(0.0, f64::max);
    let end = order::median(points[points.len() - 2..].iter().map(|point| point.throughput));
    if end.is_none_or(|end| end >= COLLAPSED * peak) {
        return (points, Beyond::Plateau);
    }
    let good = points.iter().rposition(|point| point.throughput >= 0.9 * peak).unwrap_or(0);
    (&points[..=good], Beyond::Collapse)
}

/// Throughput as `min(rise * load, plateau)`.
#[derive(Debug, Clone, Copy)]
struct Bend {
    rise: f64,
    plateau: f64,
    /// How many steps rise.
    rising: usize,
}

impl Bend {
    /// The best of all ways to split the steps into a rising part and a plateau. Errors count
    /// relative to the step, because noise is a share of what is measured.
    fn of(points: &[Point]) -> Option<Self> {
        let split = |rising: usize| {
            let (before, after) = points.split_at(rising);
            let rise = before.iter().map(|p| p.throughput / p.load).sum::<f64>() / rising as f64;
            let plateau = order::median(after.iter().map(|p| p.throughput))?;
            (rise > 0.0 && plateau > 0.0).then_some(Self { rise, plateau, rising })
        };
        (1..points.len())
            .filter_map(split)
            .min_by(|a, b| a.misfit(points).total_cmp(&b.misfit(points)))
    }

    fn misfit(&self, points: &[Point]) -> f64 {
        let error = |point: &Point| {
            let expected = (self.rise * point.load).min(self.plateau);
            ((point.throughput - expected) / expected).powi(2)
        };
        points.iter().map(error).sum()
    }

    /// Whether what should be a plateau rises with the load.
    fn still_rises(&self, points: &[Point]) -> bool {
        let after = &points[self.rising..];
        // Halves rather than ends: one noisy step must not decide.
        let half = |part: &[Point]| {
            let load = order::median(part.iter().map(|p| p.load))?;
            Some((load, order::median(part.iter().map(|p| p.throughput))?))
        };
        let (low, high) = after.split_at(after.len() / 2);
        let (Some(low), Some(high)) = (half(low), half(high)) else { return false };
        high.1 - low.1 > RISING * self.rise * (high.0 - low.0)
    }
}

/// A load or rate as people write it: three figures, no needless decimals.
pub(crate) fn short(number: f64) -> String {
    let decimals = if number >= 100.0 || number.fract() == 0.0 { 0 } else { 1 };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, dice, either_way};
    use super::*;
    use proptest::prelude::*;

    /// A step of a closed ramp over a server that works on `capacity` calls at once, 10 ms each.
    fn step(load: f64, capacity: f64, noise: f64) -> Point {
        let service = 0.010;
        let latency = Duration::from_secs_f64(service * (load / capacity).max(1.0));
        let throughput = load.min(capacity) / service * (1.0 + noise);
        Point { load, throughput, p50: latency, p99: latency, error_rate: 0.0 }
    }

    fn ramp(steps: impl IntoIterator<Item = u32>, capacity: f64) -> Vec<Point> {
        steps.into_iter().map(|load| step(f64::from(load), capacity, 0.0)).collect()
    }

    #[test]
    fn a_semaphore_is_found_between_two_steps() {
        let shown = breaking_point(&ramp((5..=60).step_by(5), 12.0), 0.01);
        let knee = shown.knee.unwrap();
        assert!((knee.load - 12.0).abs() < 0.5, "{knee:?}");
        assert_eq!((knee.before.load, knee.at.load, knee.beyond), (10.0, 15.0, Beyond::Plateau));
        assert!((shown.capacity.unwrap() - 1200.0).abs() < 1.0);
        assert_eq!(
            knee.reason,
            "throughput follows the load up to 12 and stays at 1200/s from there to 60"
        );
        // Three times the unloaded latency of 10 ms is passed above a load of 36.
        assert_eq!(shown.explosion.unwrap().load, 40.0);
        assert_eq!(shown.first_error, None);
    }

    #[test]
    fn a_server_that_takes_one_call_at_a_time_breaks_at_one() {
        let shown = breaking_point(&ramp([1, 2, 4, 8, 16], 1.0), 0.0);
        assert!((shown.knee.unwrap().load - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_healthy_ramp_has_no_knee() {
        for steps in [vec![1, 2, 4, 8, 16, 32], (1..=20).collect()] {
            let shown = breaking_point(&ramp(steps.clone(), 1e6), 0.0);
            assert_eq!((shown.knee, shown.capacity, shown.explosion), (None, None, None));
            let expected =
                format!("no knee up to {}: throughput follows the load", steps[steps.len() - 1]);
            assert_eq!(shown.reason, expected);
        }
        let last = breaking_point(&ramp([1, 2, 4, 8, 16, 32], 20.0), 0.0);
        assert!(last.reason.ends_with("only the last step falls behind, which may be chance"));
        let slower: Vec<_> = (1..=20)
            .map(|load| Point {
                throughput: f64::from(load).powf(0.8),
                ..step(f64::from(load), 1e6, 0.0)
            })
            .collect();
        assert!(
            breaking_point(&slower, 0.0)
                .reason
                .ends_with("grows more slowly than the load, but grows")
        );
    }

    #[test]
    fn a_collapse_is_told_from_a_plateau() {
        let mut points = ramp(1..=16, 8.0);
        for point in &mut points[8..] {
            point.throughput -= 80.0 * (point.load - 8.0);
        }
        let knee = breaking_point(&points, 0.0).knee.unwrap();
        assert_eq!(knee.beyond, Beyond::Collapse);
        assert!((knee.load - 8.0).abs() < 0.8, "{knee:?}");
    }

    #[test]
    fn errors_and_explosions_are_found_and_one_pause_is_not() {
        let mut points = ramp(1..=10, 1e6);
        points[6].error_rate = 0.02;
        points[3].p99 = Duration::from_secs(2);
        let shown = breaking_point(&points, 0.01);
        assert_eq!(shown.first_error.unwrap().load, 7.0);
        assert_eq!(shown.explosion, None);
        points[4].p99 = Duration::from_secs(2);
        assert_eq!(breaking_point(&points, 0.01).explosion.unwrap().load, 4.0);
    }

    #[test]
    fn too_few_steps_say_nothing() {
        for count in 0..3 {
            let shown = breaking_point(&ramp(1..=count, 1.0), 0.0);
            assert_eq!(
                shown.reason,
                match count {
                    1 => "no knee up to 1: one step is too few to tell".to_owned(),
                    _ => format!("no knee up to {count}: {count} steps are too few to tell"),
                }
            );
        }
    }

    #[test]
    fn a_bend_rises_and_has_a_plateau() {
        let points = |pairs: &[(f64, f64)]| -> Vec<Point> {
            pairs
                .iter()
                .map(|&(load, throughput)| Point { throughput, ..step(load, 1.0, 0.0) })
                .collect()
        };
        for pairs in
            [[(1.0, 0.0), (2.0, 100.0)], [(1.0, 100.0), (2.0, 0.0)], [(1.0, 0.0), (2.0, 0.0)]]
        {
            assert!(Bend::of(&points(&pairs)).is_none(), "{pairs:?}");
        }
        let bend = Bend { rise: 100.0, plateau: 200.0, rising: 1 };
        assert_eq!(bend.misfit(&points(&[(1.0, 150.0), (4.0, 150.0)])), 0.25 + 0.0625);
        // 35 more for each call in flight are allowed, a bit more than a third of the rise.
        for (end, rises) in [(540.0, false), (541.0, true)] {
            assert_eq!(bend.still_rises(&points(&[(1.0, 100.0), (4.0, 400.0), (8.0, end)])), rises);
        }
    }

    proptest! {
        #[test]
        fn the_knee_is_within_a_tenth_under_noise(
            capacity in 4.0..64.0_f64, steps in 12_u32..40, beyond in 2.0..5.0_f64, seed: u64,
        ) {
            let mut dice = dice(seed);
            let width = capacity * beyond / f64::from(steps);
            let points: Vec<_> = (1..=steps)
                .map(|n| step(f64::from(n) * width, capacity, 0.05 * either_way(&mut dice)))
                .collect();
            let shown = breaking_point(&points, 0.0);
            let knee = shown.knee.ok_or(TestCaseError::fail(shown.reason))?;
            prop_assert!((knee.load / capacity - 1.0).abs() < 0.1, "{} for {capacity}", knee.load);
            prop_assert!((shown.capacity.unwrap() / (capacity * 100.0) - 1.0).abs() < 0.05);
        }

        #[test]
        fn the_knee_is_found_with_steps_that_double(capacity in 3.0..28.0_f64, seed: u64) {
            let mut dice = dice(seed);
            let points: Vec<_> = (0..8)
                .map(|n| step(f64::from(1 << n), capacity, 0.03 * either_way(&mut dice)))
                .collect();
            let shown = breaking_point(&points, 0.0);
            let knee = shown.knee.ok_or(TestCaseError::fail(shown.reason))?;
            prop_assert!((knee.load / capacity - 1.0).abs() < 0.1, "{} for {capacity}", knee.load);
        }

        #[test]
        fn a_healthy_ramp_has_no_knee_under_noise(steps in 4_u32..60, seed: u64) {
            let mut dice = dice(seed);
            let points: Vec<_> =
                (1..=steps).map(|n| step(f64::from(n), 1e6, 0.05 * either_way(&mut dice))).collect();
            prop_assert_eq!(breaking_point(&points, 0.0).knee, None);
        }

        #[test]
        fn odd_numbers_do_no_harm(
            numbers in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..12),
        ) {
            let points: Vec<_> = numbers
                .into_iter()
                .map(|(load, throughput)| Point {
                    load, throughput, p50: Duration::ZERO, p99: Duration::MAX, error_rate: f64::NAN,
                })
                .collect();
            let shown = breaking_point(&points, f64::NAN);
            prop_assert!(shown.knee.is_none_or(|knee| knee.load.is_finite()));
            prop_assert!(shown.capacity.is_none_or(f64::is_finite));
        }
    }
}
