//! The universal scalability law, fitted to the steps of a ramp.
//!
//! With N calls in flight a server answers
//!
//! ```text
//! X(N) = r N / (1 + s (N - 1) + k N (N - 1))
//! ```
//!
//! calls a second: r of one call alone, s the share that waits in line, k what calls cost each other.
//! With y = N / X it is a plane, y = a + b (N - 1) + c N (N - 1), where r = 1/a, s = b/a and k = c/a;
//! so least squares find it, and no search is needed. Neither share can be negative: one that comes
//! out so is nothing, and the others are fitted again without it.

/// Fewer steps than this fit any curve.
const ENOUGH: usize = 5;
/// How far off the curve a step may lie, as a share of its throughput; a curve that misses more than
/// this says nothing.
const CLOSE: f64 = 0.10;

/// A curve that goes through what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// Calls a second of one call alone.
    pub alone: f64,
    /// The share of a call that waits in line, from 0 to 1.
    pub waiting: f64,
    /// What each pair of calls costs.
    pub crosstalk: f64,
    /// How far off the curve the worst step lies, as a share of its throughput.
    pub off: f64,
}

impl Usl {
    /// The curve through these pairs of calls in flight and calls a second; nothing where there are
    /// too few, or where they do not follow the law.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<_> = points
            .iter()
            .copied()
            .filter(|(load, rate)| *load >= 1.0 && *rate > 0.0 && (load * rate).is_finite())
            .collect();
        let mut loads: Vec<f64> = points.iter().map(|(load, _)| *load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        if loads.len() < ENOUGH {
            return None;
        }
        // The whole law and its parts: the closest whose shares make sense.
        let parts = [[true, true], [true, false], [false, true], [false, false]];
        let fitted = parts.into_iter().filter_map(|parts| Self::with(&points, parts));
        let closest = fitted.min_by(|one, other| one.off.total_cmp(&other.off));
        closest.filter(|curve| curve.off <= CLOSE)
    }

    fn with(points: &[(f64, f64)], [waits, crosses]: [bool; 2]) -> Option<Self> {
        let terms = |load: f64| {
            let wait = if waits { load - 1.0 } else { 0.0 };
            let cross = if crosses { load * (load - 1.0) } else { 0.0 };
            [1.0, wait, cross]
        };
        // Weighted by the rate, so that a step counts by how far off it is in proportion.
        let mut sums = [[0.0; 4]; 3];
        for (load, rate) in points {
            let (x, y, weight) = (terms(*load), load / rate, (rate / load) * (rate / load));
            for row in 0..3 {
                for column in 0..3 {
                    sums[row][column] += weight * x[row] * x[column];
                }
                sums[row][3] += weight * x[row] * y;
            }
        }
        for (at, is_used) in [(1, waits), (2, crosses)] {
            if !is_used {
                sums[at][at] = 1.0;
            }
        }
        let [a, b, c] = solve(sums)?;
        if a <= 0.0 || b < 0.0 || c < 0.0 {
            return None;
        }
        // `+ 0.0` makes a share of -0, which would be shown with its sign, a plain 0.
        let mut curve =
            Self { alone: 1.0 / a, waiting: b / a + 0.0, crosstalk: c / a + 0.0, off: 0.0 };
        let off = points.iter().map(|(load, rate)| (curve.at(*load) - rate).abs() / rate);
        curve.off = off.fold(0.0, f64::max);
        Some(curve)
    }

    /// Calls a second with so many in flight.
    pub fn at(&self, load: f64) -> f64 {
        let slower = self.waiting * (load - 1.0) + self.crosstalk * load * (load - 1.0);
        self.alone * load / (1.0 + slower)
    }

    /// The load beyond which throughput falls, where there is one.
    pub fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.waiting) / self.crosstalk).sqrt();
        (self.crosstalk > 0.0 && self.waiting < 1.0).then_some(peak.max(1.0))
    }
}

/// Three equations by elimination, the largest pivot first.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for at in 0..3 {
        let pivot = (at..3).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < f64::MIN_POSITIVE {
            return None;
        }
        let chosen = rows[at];
        for (index, row) in rows.iter_mut().enumerate() {
            if index != at {
                let factor = row[at] / chosen[at];
                row.iter_mut().zip(chosen).for_each(|(value, taken)| *value -= factor * taken);
            }
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOADS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn measured(waiting: f64, crosstalk: f64) -> Vec<(f64, f64)> {
        let curve = Usl { alone: 120.0, waiting, crosstalk, off: 0.0 };
        LOADS.map(|load| (load, curve.at(load))).to_vec()
    }

    #[test]
    fn a_server_that_falls_back_has_a_peak_and_one_that_queues_has_none() {
        let falls = Usl::fit(&measured(0.02, 0.001)).unwrap();
        assert!((falls.peak().unwrap() - 31.3).abs() < 0.1, "{falls:?}");
        let queues = Usl::fit(&measured(0.1, 0.0)).unwrap();
        assert!(queues.peak().is_none_or(|peak| peak > 1_000.0), "{queues:?}");
    }

    #[test]
    fn what_does_not_follow_the_law_has_no_curve() {
        let jagged =
            LOADS.map(|load| (load, if (load as u64).is_multiple_of(8) { 400.0 } else { 90.0 }));
        assert_eq!(Usl::fit(&jagged), None);
        assert_eq!(Usl::fit(&measured(0.1, 0.0)[..4]), None, "too few");
        assert_eq!(Usl::fit(&[(1.0, 5.0); 9]), None, "one load, however often");
        assert_eq!(Usl::fit(&[]), None);
    }

    #[test]
    fn points_that_are_no_measurements_change_nothing() {
        let points = measured(0.05, 0.001);
        let mut more = points.clone();
        more.extend([(0.5, 80.0), (3.0, 0.0), (3.0, -5.0), (2.0, f64::INFINITY), (1e200, 1e200)]);
        assert_eq!(Usl::fit(&more), Usl::fit(&points));
        assert!(Usl::fit(&points[..5]).is_some(), "five loads are enough");
    }

    #[test]
    fn a_share_that_comes_out_negative_is_nothing() {
        // Each call helps the others a little: no share fits but none.
        let faster = LOADS.map(|load| (load, 100.0 * load.powf(1.03)));
        let found = Usl::fit(&faster).expect("close to a line");
        assert_eq!((found.waiting, found.crosstalk), (0.0, 0.0));
        // The wait grows more slowly than the load, so that a cost of pairs would be negative.
        let slower = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0_f64].map(|load| (load, 100.0 * load.powf(0.7)));
        let found = Usl::fit(&slower).expect("close to a queue");
        assert!(found.waiting > 0.05 && found.crosstalk == 0.0, "{found:?}");
    }

    #[test]
    fn a_curve_has_a_peak_only_where_calls_disturb_each_other() {
        for (waiting, crosstalk, expected) in [
            (0.75, 0.01, Some(5.0)),
            (0.5, 2.0, Some(1.0)),
            (0.1, 0.0, None),
            (1.0, 0.01, None),
            (1.5, 0.01, None),
        ] {
            let curve = Usl { alone: 1.0, waiting, crosstalk, off: 0.0 };
            assert_eq!(curve.peak(), expected, "{waiting} {crosstalk}");
        }
    }

    #[test]
    fn equations_are_solved_where_they_can_be() {
        let rows = [[0.0, 2.0, 1.0, 7.0], [1.0, 1.0, 1.0, 6.0], [2.0, 0.0, 4.0, 14.0]];
        let found = solve(rows).expect("x = 1, y = 2, z = 3");
        assert!(found.iter().zip([1.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(solve([[1.0, 2.0, 3.0, 4.0]; 3]), None);
    }

    proptest! {
        #[test]
        fn the_law_is_found_again(waiting in 0.0..0.5_f64, crosstalk in 0.0..0.01_f64) {
            let found = Usl::fit(&measured(waiting, crosstalk)).unwrap();
            prop_assert!((found.waiting - waiting).abs() < 1e-3, "{found:?}");
            prop_assert!((found.crosstalk - crosstalk).abs() < 1e-4, "{found:?}");
            prop_assert!(found.off < 1e-3);
        }
    }
}
