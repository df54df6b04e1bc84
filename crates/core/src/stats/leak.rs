//! Whether something grows without end: memory, open files, threads.
//!
//! A line through the samples whose growth over the run exceeds a limit is not enough: it takes three
//! healthy servers for leaking ones: one whose collector has not come by yet, one that fills a cache
//! and stays there, and one that is only noisy. Growth is therefore a leak only if all of this
//! holds, asked in this order (docs/design/leaks.md says why):
//!
//! | question | otherwise |
//! |---|---|
//! | are there enough samples after the warm-up? | indeterminate |
//! | does the line exceed the limit over the run? | clean: within the limit |
//! | does the floor exceed it too, or could it? | clean: what grows is freed again |
//! | does the growth go on to the end? | clean if level for half of the time, else indeterminate |
//! | did the growth begin in the first half? | indeterminate: began late |
//! | is the line clear: R² of 0.5 and five standard errors? | indeterminate: noisy |
//! | is the line through the floor as clear, and beyond the limit? | indeterminate: noisy |

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    envelope::{after_warmup, floor},
    interval::Interval,
    plateau::Shape,
    regression::{Line, least_squares},
};

/// Fewer samples than this after the warm-up show no trend.
pub const ENOUGH: usize = 12;
/// The share of the variation that a line must explain.
pub const CLEAR: f64 = 0.5;
/// How many standard errors the slope must be. With thirty samples an R² of [`CLEAR`] implies it;
/// with fewer, noise alone reaches that R² too often.
const SURE: f64 = 5.0;

/// What the samples say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrowthVerdict {
    /// It grows beyond the limit and does not stop.
    Leak,
    /// It does not.
    Clean,
    /// The samples do not say.
    Indeterminate,
}

/// Why they say so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrowthReason {
    /// There are too few samples after the warm-up, or the run had no length or no limit.
    TooFewSamples,
    /// The growth that is predicted for the run is within the limit.
    WithinLimit,
    /// The line exceeds the limit, but the floor does not: what grows is freed again.
    FreedAgain,
    /// It grew and then stayed level, as a cache does that is full.
    LevelledOff {
        /// Since when, in seconds.
        since: f64,
    },
    /// It was level for more than half of the time and grew only then.
    BeganLate {
        /// Since when, in seconds.
        since: f64,
    },
    /// The line exceeds the limit but does not explain the samples.
    Noisy,
    /// It grows beyond the limit and does not stop.
    Grows,
}

/// The line through the samples, per second and in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthFit {
    /// Growth a second.
    pub slope: f64,
    /// Where it lies with 95 % confidence.
    pub slope_interval: Interval,
    /// Growth of the floor a second.
    pub floor_slope: f64,
    /// Growth over the whole run.
    pub predicted: f64,
    /// The share of the variation that the line explains.
    pub r2: f64,
}

/// How something grew over a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// What the samples say.
    pub verdict: GrowthVerdict,
    /// Why.
    pub reason: GrowthReason,
    /// The line, where there is one.
    pub fit: Option<GrowthFit>,
    /// How many samples after the warm-up it rests on.
    pub samples: usize,
    /// The growth over the run that was allowed.
    pub limit: f64,
}

/// Judges samples of `(seconds since the start of the run, value)` from a run that lasted `duration`;
/// `limit` is the growth over the run that is allowed, in the unit of the values. For the warm-up see
/// [`super::envelope::default_warmup`].
pub fn judge_growth(
    samples: &[(f64, f64)],
    duration: Duration,
    warmup: Duration,
    limit: f64,
) -> Growth {
    let samples = after_warmup(samples, warmup);
    let (verdict, reason, fit) = judge(&samples, duration.as_secs_f64(), limit).unwrap_or((
        GrowthVerdict::Indeterminate,
        GrowthReason::TooFewSamples,
        None,
    ));
    let limit = if limit.is_finite() { limit } else { 0.0 };
    Growth { verdict, reason, fit, samples: samples.len(), limit }
}

/// Growth for each of `units` calls or sessions that the run made; nothing without a line or units.
pub fn per_unit(growth: &Growth, units: u64) -> Option<f64> {
    let fit = growth.fit?;
    (units > 0).then(|| fit.predicted / units as f64)
}

impl Growth {
    /// The reason in a sentence. `unit` is that of the samples, such as `MB`.
    pub fn explain(&self, unit: &str) -> String {
        let Some(fit) = self.fit else {
            return match self.samples {
                1 => "one sample after the warm-up does not show how it grows".into(),
                samples => format!("{samples} samples after the warm-up do not show how it grows"),
            };
        };
        let grew = format!(
            "predicted growth of {:.1} {unit} over the run ({:.4} {unit}/s, R² {:.2}, {} samples)",
            fit.predicted, fit.slope, fit.r2, self.samples
        );
        let limit = format!("the limit of {:.1} {unit}", self.limit);
        match self.reason {
            GrowthReason::TooFewSamples | GrowthReason::WithinLimit => {
                format!("{grew} is within {limit}")
            }
            GrowthReason::FreedAgain => format!(
                "{grew} exceeds {limit}, but what is left after each fall grows by {:.4} {unit}/s only",
                fit.floor_slope
            ),
            GrowthReason::LevelledOff { since } => {
                format!("{grew} exceeds {limit}, but it has been level since {since:.0} s")
            }
            GrowthReason::BeganLate { since } => {
                format!("{grew} exceeds {limit}, but it began only at {since:.0} s")
            }
            GrowthReason::Noisy => {
                format!("{grew} exceeds {limit}, but the samples are too noisy to conclude")
            }
            GrowthReason::Grows => format!("{grew} exceeds {limit}"),
        }
    }
}

type Judgement = (GrowthVerdict, GrowthReason, Option<GrowthFit>);

fn judge(samples: &[(f64, f64)], seconds: f64, limit: f64) -> Option<Judgement> {
    if samples.len() < ENOUGH || seconds <= 0.0 || !limit.is_finite() {
        return None;
    }
    let line = least_squares(samples)?;
    // Six samples a window at least: the floor must be found in each.
    let floor = least_squares(&floor(samples, (samples.len() / 6).clamp(4, 24)))?;
    let predicted = line.slope * seconds;
    let fit = GrowthFit {
        slope: line.slope,
        slope_interval: line.slope_interval,
        floor_slope: floor.slope,
        predicted,
        r2: line.r2,
    };
    let (verdict, reason) = decide(samples, seconds, limit, &line, &floor);
    predicted.is_finite().then_some((verdict, reason, Some(fit)))
}

/// Asks the questions of the table above, in its order.
fn decide(
    samples: &[(f64, f64)],
    seconds: f64,
    limit: f64,
    line: &Line,
    floor: &Line,
) -> (GrowthVerdict, GrowthReason) {
    if line.slope * seconds <= limit {
        return (GrowthVerdict::Clean, GrowthReason::WithinLimit);
    }
    if floor.slope_interval.high * seconds <= limit {
        return (GrowthVerdict::Clean, GrowthReason::FreedAgain);
    }
    let shape = Shape::of(samples);
    if let Some(shape) = shape.filter(|shape| shape.level_after >= 0.25) {
        let is_level = shape.growth_after(samples) * seconds <= limit;
        let verdict = match shape.level_after >= 0.5 && is_level {
            true => GrowthVerdict::Clean,
            false => GrowthVerdict::Indeterminate,
        };
        return (verdict, GrowthReason::LevelledOff { since: shape.until });
    }
    if let Some(shape) = shape.filter(|shape| shape.level_before >= 0.5) {
        return (GrowthVerdict::Indeterminate, GrowthReason::BeganLate { since: shape.from });
    }
    if !is_clear(line) || !is_clear(floor) || floor.slope * seconds <= limit {
        return (GrowthVerdict::Indeterminate, GrowthReason::Noisy);
    }
    (GrowthVerdict::Leak, GrowthReason::Grows)
}

fn is_clear(line: &Line) -> bool {
    line.r2 >= CLEAR && line.slope >= SURE * line.slope_error
}

#[cfg(test)]
mod tests {
    use super::super::{
        envelope::default_warmup,
        fixture::{ODD, dice, normal, series},
    };
    use super::*;
    use proptest::prelude::*;

    const LIMIT: f64 = 10.0;

    /// Judges one sample a second with the default warm-up; megabytes.
    fn judged(samples: &[(f64, f64)]) -> Growth {
        let duration = Duration::from_secs_f64(samples.last().map_or(0.0, |last| last.0));
        judge_growth(samples, duration, default_warmup(duration), LIMIT)
    }

    #[test]
    fn ten_kilobytes_a_call_under_noise_are_found_within_a_fifth() {
        for seed in 0..100 {
            let mut dice = dice(seed);
            let leak = series(61, 1.0, |t| 80.0 + 5.0 * t + 5.0 * normal(&mut dice));
            let growth = judged(&leak);
            assert_eq!(growth.verdict, GrowthVerdict::Leak, "{growth:?}");
            let fit = growth.fit.unwrap();
            assert!(
                (fit.slope - 5.0).abs() < 1.0 && (fit.predicted - 300.0).abs() < 60.0,
                "{fit:?}"
            );
            let per_call = per_unit(&growth, 500 * 60).unwrap();
            assert!((per_call - 0.01).abs() < 0.002, "{per_call} MB");
        }
    }

    #[test]
    fn a_leak_is_found_below_the_teeth_of_a_collector() {
        let teeth = series(300, 1.0, |t| 100.0 + t * 0.5 + (t * 5.0) % 60.0);
        let growth = judged(&teeth);
        assert_eq!(growth.verdict, GrowthVerdict::Leak, "{}", growth.explain("MB"));
        assert!((growth.fit.unwrap().floor_slope - 0.5).abs() < 0.1, "{growth:?}");
    }

    #[test]
    fn a_leak_in_blocks_of_an_arena_is_found() {
        let stairs = series(240, 1.0, |t| 100.0 + (t / 30.0).floor() * 32.0);
        assert_eq!(
            judged(&stairs).verdict,
            GrowthVerdict::Leak,
            "{}",
            judged(&stairs).explain("MB")
        );
        let faster = series(240, 1.0, |t| 100.0 + t * t / 500.0);
        assert_eq!(
            judged(&faster).verdict,
            GrowthVerdict::Leak,
            "{}",
            judged(&faster).explain("MB")
        );
    }

    #[test]
    fn a_cache_that_fills_early_is_clean_and_one_that_fills_late_is_not_decided() {
        let early = series(240, 1.0, |t| 100.0 + 80.0 * (t.min(90.0) / 90.0));
        let growth = judged(&early);
        assert_eq!(growth.verdict, GrowthVerdict::Clean, "{}", growth.explain("MB"));
        assert!(growth.explain("MB").contains("level since"), "{}", growth.explain("MB"));
        let late = series(240, 1.0, |t| if t < 140.0 { 100.0 } else { 180.0 });
        assert_eq!(judged(&late).verdict, GrowthVerdict::Indeterminate);
        let began = series(240, 1.0, |t| 100.0 + (t - 180.0).max(0.0));
        assert!(
            matches!(judged(&began).reason, GrowthReason::BeganLate { .. }),
            "{:?}",
            judged(&began)
        );
    }

    #[test]
    fn growth_below_the_limit_is_clean_however_noisy() {
        let mut dice = dice(3);
        let noisy = series(120, 1.0, |t| 100.0 - t * 0.1 + 20.0 * normal(&mut dice));
        let growth = judged(&noisy);
        assert_eq!(
            (growth.verdict, growth.reason),
            (GrowthVerdict::Clean, GrowthReason::WithinLimit)
        );
        assert!(growth.explain("MB").ends_with("is within the limit of 10.0 MB"));
    }

    #[test]
    fn too_few_samples_say_nothing() {
        for samples in [&[][..], &series(ENOUGH, 1.0, |t| 100.0 * t)] {
            let growth = judged(samples);
            assert_eq!(growth.reason, GrowthReason::TooFewSamples);
            assert_eq!(growth.verdict, GrowthVerdict::Indeterminate);
            assert_eq!(per_unit(&growth, 5), None);
        }
        assert_eq!(per_unit(&judged(&series(100, 1.0, |t| t)), 0), None);
    }

    #[test]
    fn noise_is_hardly_ever_a_leak_even_where_a_line_alone_would_be_fooled() {
        // A limit of zero and the fewest samples: half of all runs exceed it by chance.
        let leaks = |count: usize| {
            let leaks = (0..4000).filter(|seed| {
                let mut dice = dice(*seed);
                let noise = series(count, 1.0, |_| 100.0 + 5.0 * normal(&mut dice));
                let duration = Duration::from_secs(count as u64);
                judge_growth(&noise, duration, Duration::ZERO, 0.0).verdict == GrowthVerdict::Leak
            });
            leaks.count()
        };
        let (few, more) = (leaks(ENOUGH), leaks(30));
        assert!(few <= 4 && more == 0, "{few} and {more} of 4000");
    }

    proptest! {
        #[test]
        fn a_pure_line_is_found_exactly(slope in 0.2..100.0_f64, start in 0.0..1e4_f64, count in 60_usize..400) {
            let growth = judged(&series(count, 1.0, |t| start + slope * t));
            prop_assert_eq!(growth.verdict, GrowthVerdict::Leak);
            let fit = growth.fit.unwrap();
            prop_assert!((fit.slope / slope - 1.0).abs() < 1e-6 && (fit.floor_slope / slope - 1.0).abs() < 1e-6);
            prop_assert!(fit.r2 > 0.999_999);
        }

        #[test]
        fn a_constant_with_noise_is_never_a_leak(
            seed: u64, level in 10.0..1e4_f64, noise in 0.0..100.0_f64, count in 20_usize..300,
        ) {
            let mut dice = dice(seed);
            let growth = judged(&series(count, 1.0, |_| level + noise * normal(&mut dice)));
            prop_assert_ne!(growth.verdict, GrowthVerdict::Leak, "{}", growth.explain("MB"));
        }

        #[test]
        fn a_saw_tooth_with_a_constant_floor_is_never_a_leak(
            height in 5.0..500.0_f64, teeth in 1.2..40.0_f64, offset in 0.0..1.0_f64, count in 60_usize..400, seed: u64,
        ) {
            let mut dice = dice(seed);
            let growth = judged(&series(count, 1.0, |t| {
                // The teeth are counted in what remains after the warm-up, at least half of the run. A
                // tooth of fewer than four samples may look like a line: no judgement can help that.
                let tooth = (2.0 * teeth / count as f64).min(0.25) * t + offset;
                100.0 + height * tooth.fract() + height * 0.02 * normal(&mut dice)
            }));
            prop_assert_ne!(growth.verdict, GrowthVerdict::Leak, "{}", growth.explain("MB"));
        }

        #[test]
        fn a_step_and_a_fill_are_never_a_leak(
            height in 1.0..500.0_f64, at in 0.0..0.7_f64, ramp in 0.001..0.3_f64, noise in 0.0..0.1_f64,
            count in 60_usize..400, seed: u64,
        ) {
            let mut dice = dice(seed);
            let growth = judged(&series(count, 1.0, |t| {
                let progress = ((t / count as f64 - at) / ramp.min(0.7 - at + 0.001)).clamp(0.0, 1.0);
                100.0 + height * progress + height * noise * normal(&mut dice)
            }));
            prop_assert_ne!(growth.verdict, GrowthVerdict::Leak, "{}", growth.explain("MB"));
        }

        #[test]
        fn odd_numbers_do_no_harm(
            samples in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..40),
            seconds in 0_u64..100, limit in prop::sample::select(ODD.to_vec()),
        ) {
            let growth = judge_growth(&samples, Duration::from_secs(seconds), Duration::ZERO, limit);
            prop_assert!(growth.limit.is_finite() && !growth.explain("MB").is_empty());
            prop_assert!(growth.fit.is_none_or(|fit| fit.predicted.is_finite() && fit.floor_slope.is_finite()));
        }
    }

    #[test]
    fn a_line_is_clear_at_both_limits() {
        let line = |r2, slope, slope_error| Line {
            slope,
            intercept: 0.0,
            r2,
            slope_error,
            slope_interval: Interval { low: 0.0, high: 1.0 },
            points: 30,
        };
        for (r2, slope, error, expected) in [
            (0.5, 5.0, 1.0, true),
            (0.49, 5.0, 1.0, false),
            (0.5, 4.9, 1.0, false),
            (0.9, 1.2, 0.2, true),
        ] {
            assert_eq!(is_clear(&line(r2, slope, error)), expected, "{r2}, {slope} ± {error}");
        }
    }
}
