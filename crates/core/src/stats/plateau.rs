//! Growth that does not go on: a step, a cache that fills, something that began late.

use super::regression::least_squares;

/// Growth from one level to another, where that describes the samples better than a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// When the growth begins, in seconds.
    pub(super) from: f64,
    /// When it ends.
    pub(super) until: f64,
    /// The share of the time before it begins.
    pub(super) level_before: f64,
    /// The share of the time after it ended.
    pub(super) level_after: f64,
}

/// In how many steps the start and the end of the growth are tried.
const GRID: usize = 20;
/// How much worse a line must describe the samples, as a ratio of the squares that are left …
const WORSE: f64 = 1.25;
/// … and as the F statistic of the two further parameters. A true line stays far below both.
const CONVINCING: f64 = 8.0;

impl Shape {
    /// Fits y = a + b * clamp(t, from, until) for all pairs of a grid. A step, a cache that fills, and
    /// growth that begins late are all of this form, and so is a line, with both ends at the ends.
    pub(super) fn of(samples: &[(f64, f64)]) -> Option<Self> {
        let (start, end) = (samples.first()?.0, samples.last()?.0);
        let span = end - start;
        (span > 0.0 && span.is_finite()).then_some(())?;
        let cut = |at: usize| start + span * at as f64 / GRID as f64;
        let left = |(from, until): (usize, usize)| squares_left(samples, cut(from), cut(until));
        let pairs = (0..GRID).flat_map(|from| (from + 1..=GRID).map(move |until| (from, until)));
        let (squares, (from, until)) = pairs
            .map(|pair| (left(pair), pair))
            .min_by(|(squares, _), (others, _)| squares.total_cmp(others))?;
        let line = left((0, GRID));
        let gain = (line - squares) / 2.0 * (samples.len() as f64 - 4.0);
        let fits_better = gain > 0.0 && line >= WORSE * squares && gain >= CONVINCING * squares;
        (fits_better && (from, until) != (0, GRID)).then(|| Self {
            from: cut(from),
            until: cut(until),
            level_before: from as f64 / GRID as f64,
            level_after: (GRID - until) as f64 / GRID as f64,
        })
    }

    /// The slope of what follows the growth, which should be none.
    pub(super) fn growth_after(&self, samples: &[(f64, f64)]) -> f64 {
        let after: Vec<_> = samples.iter().filter(|(t, _)| *t >= self.until).copied().collect();
        least_squares(&after).map_or(f64::INFINITY, |line| line.slope)
    }
}

/// The sum of squares that y = a + b * clamp(t, from, until) leaves at its best a and b.
fn squares_left(samples: &[(f64, f64)], from: f64, until: f64) -> f64 {
    let count = samples.len() as f64;
    let at = |t: f64| t.clamp(from, until);
    let mean_t = samples.iter().map(|(t, _)| at(*t)).sum::<f64>() / count;
    let mean_y = samples.iter().map(|(_, y)| y).sum::<f64>() / count;
    let (mut tt, mut ty, mut yy) = (0.0, 0.0, 0.0);
    for (t, y) in samples {
        let (t, y) = (at(*t) - mean_t, y - mean_y);
        tt += t * t;
        ty += t * y;
        yy += y * y;
    }
    if tt > 0.0 { (yy - ty * ty / tt).max(0.0) } else { yy }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{dice, normal, series};
    use super::*;

    #[test]
    fn a_step_a_fill_and_a_late_start_are_told_from_a_line() {
        let step = Shape::of(&series(100, 1.0, |t| if t < 30.0 { 0.0 } else { 5.0 })).unwrap();
        assert!(step.level_before >= 0.25 && step.level_after >= 0.6, "{step:?}");
        let fill = series(100, 1.0, |t| t.min(40.0));
        let shape = Shape::of(&fill).unwrap();
        assert!((shape.until - 40.0).abs() <= 5.0 && shape.level_before == 0.0, "{shape:?}");
        assert!(shape.growth_after(&fill).abs() < 0.05);
        let late = Shape::of(&series(100, 1.0, |t| (t - 70.0).max(0.0))).unwrap();
        assert!((late.from - 70.0).abs() <= 5.0 && late.level_after == 0.0, "{late:?}");
    }

    #[test]
    fn a_line_under_noise_has_no_plateau_that_matters() {
        assert!(Shape::of(&series(100, 1.0, |t| 3.0 * t)).is_none());
        let plateaus = (0..300).filter(|seed| {
            let mut dice = dice(*seed);
            let line = series(60, 1.0, |t| t + 10.0 * normal(&mut dice));
            Shape::of(&line).is_some_and(|shape| shape.level_after >= 0.25)
        });
        let plateaus = plateaus.count();
        assert!(plateaus <= 6, "{plateaus} of 300");
    }

    #[test]
    fn samples_without_extent_do_no_harm() {
        assert!(Shape::of(&[]).is_none());
        assert!(Shape::of(&[(1.0, 2.0); 30]).is_none());
        assert!(Shape::of(&series(30, 1.0, |_| 5.0)).is_none());
        assert!(Shape::of(&[(-1e308, 0.0), (0.0, 1.0), (1e308, 2.0)]).is_none());
    }

    #[test]
    fn a_shape_must_describe_the_samples_better_by_enough() {
        let filled = |count: usize, full: f64, noise: f64| {
            let samples = series(count, 1.0, |t| {
                10.0 * t.min(full) + if t % 2.0 == 0.0 { -noise } else { noise }
            });
            Shape::of(&samples).is_some()
        };
        // The squares that a line leaves beyond those of the shape, as a ratio of the latter: with
        // twelve samples 2 is convincing, with a hundred a quarter is enough worse.
        assert!(filled(12, 4.0, 5.0), "2.7");
        assert!(!filled(12, 4.0, 6.0), "1.9");
        assert!(filled(100, 40.0, 120.0), "more than a quarter");
        assert!(!filled(100, 40.0, 140.0), "less than a quarter");
    }

    #[test]
    fn growth_is_told_by_when_it_begins_and_ends() {
        let shape = Shape::of(&series(101, 2.0, |t| (t.clamp(50.0, 120.0) - 7.0) * 3.0)).unwrap();
        assert_eq!((shape.from, shape.until), (50.0, 120.0));
        assert_eq!((shape.level_before, shape.level_after), (0.25, 0.4));
        let later: Vec<_> = series(101, 2.0, |t| t.clamp(50.0, 120.0))
            .into_iter()
            .map(|(t, y)| (t + 1_000.0, y))
            .collect();
        let shape = Shape::of(&later).unwrap();
        assert_eq!((shape.from, shape.until, shape.growth_after(&later)), (1_050.0, 1_120.0, 0.0));
    }

    #[test]
    fn what_is_left_is_what_no_line_between_the_levels_explains() {
        // The best line between 1 and 3 is 2 t + 0.6: it misses four samples by 0.6 and one by 2.4.
        let samples = [(0.0, 2.0), (1.0, 2.0), (2.0, 7.0), (3.0, 6.0), (4.0, 6.0)];
        assert!((squares_left(&samples, 1.0, 3.0) - 7.2).abs() < 1e-12);
        assert!((squares_left(&samples, 4.0, 5.0) - 23.2).abs() < 1e-12, "nothing explained");
    }
}
