//! Whether one run is better than another: differences with an interval, not two numbers.
//!
//! Calls of one second resemble each other, so seconds are drawn again and not calls, and runs of
//! consecutive seconds rather than single ones (Künsch 1989): a pause of two seconds stays one pause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    interval::{Interval, student},
    order,
    resample::{BEYOND, Side},
};
use crate::seed::Seed;

pub use super::resample::{Block, ENOUGH_BLOCKS};

/// What is compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The median response time, in nanoseconds.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The share of calls that failed, 0 to 1.
    ErrorRate,
    /// Calls that succeeded, a second.
    Throughput,
}

impl Figure {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::P50, Self::P95, Self::P99, Self::ErrorRate, Self::Throughput];

    /// The word in files and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::ErrorRate => "error_rate",
            Self::Throughput => "throughput",
        }
    }

    /// The share of all calls that lie below it, for percentiles.
    pub const fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::ErrorRate | Self::Throughput => None,
        }
    }

    /// How much more the candidate has: as a share of the base, but for errors in absolute terms,
    /// because their base is mostly zero.
    pub(crate) fn change(self, base: f64, candidate: f64) -> Option<f64> {
        let change = match self {
            Self::ErrorRate => candidate - base,
            _ if base > 0.0 => candidate / base - 1.0,
            _ => return None,
        };
        change.is_finite().then_some(change)
    }
}

/// How much worse is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tolerance {
    /// For percentiles, as a share of the base: 0.1 allows 10 % more.
    pub latency: f64,
    /// For the share of errors, in absolute terms: 0.005 allows 0.5 % of all calls more.
    pub error_rate: f64,
    /// For throughput, as a share of the base.
    pub throughput: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { latency: 0.1, error_rate: 0.005, throughput: 0.1 }
    }
}

impl Tolerance {
    const fn of(&self, figure: Figure) -> f64 {
        match figure {
            Figure::P50 | Figure::P95 | Figure::P99 => self.latency,
            Figure::ErrorRate => self.error_rate,
            Figure::Throughput => self.throughput,
        }
    }
}

/// Which run is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceVerdict {
    /// The candidate is better for sure.
    Better,
    /// The candidate is worse for sure, and by more than is tolerated.
    Worse,
    /// The difference is within the tolerance for sure.
    Same,
    /// There is too little data to say.
    Undecided,
}

/// One figure of both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Which figure.
    pub figure: Figure,
    /// What the base has, where it can be measured.
    pub base: Option<f64>,
    /// What the candidate has.
    pub candidate: Option<f64>,
    /// How much more the candidate has: as a share of the base, for errors in absolute terms.
    pub change: Option<f64>,
    /// Where the change lies with 95 % confidence.
    pub interval: Option<Interval>,
    /// What follows.
    pub verdict: DifferenceVerdict,
}

impl Difference {
    /// The same difference under another tolerance.
    #[must_use]
    pub fn judged_by(self, tolerance: f64) -> Self {
        let verdict = self.interval.map_or(DifferenceVerdict::Undecided, |interval| {
            verdict(self.figure, interval, tolerance)
        });
        Self { verdict, ..self }
    }

    /// Where the harm lies: like the interval, but more is worse for throughput too.
    pub fn harm(&self) -> Option<Interval> {
        self.interval.map(|interval| harm(self.figure, interval))
    }
}

/// How often to draw when nothing else is asked for.
pub const RESAMPLES: u32 = 1_000;
/// Fewer rounds than this have no spread that can be trusted.
pub const ENOUGH_ROUNDS: usize = 3;

/// Compares a candidate with a base, second by second. The same seed gives the same answer.
pub fn compare(
    base: &[Block],
    candidate: &[Block],
    tolerance: &Tolerance,
    resamples: u32,
    seed: Seed,
) -> Vec<Difference> {
    let (mut base, mut candidate) = (Side::of(base), Side::of(candidate));
    let (whole_base, whole_candidate) = (base.whole(), candidate.whole());
    let (mut base_dice, mut candidate_dice) = (seed.dice(1), seed.dice(2));
    let mut changes: [Vec<f64>; 5] = Default::default();
    let resamples = resamples.clamp(100, 100_000);
    for _ in 0..if base.is_enough() && candidate.is_enough() { resamples } else { 0 } {
        let (drawn_base, drawn_candidate) =
            (base.drawn(&mut base_dice), candidate.drawn(&mut candidate_dice));
        for (at, figure) in Figure::ALL.into_iter().enumerate() {
            let both = drawn_base[at].zip(drawn_candidate[at]);
            changes[at].extend(both.and_then(|(a, b)| figure.change(a, b)));
        }
    }
    let difference = |(at, changes): (usize, Vec<f64>)| {
        // A figure that the runs or some draws do not have rests on too little.
        let is_known = whole_base[at].is_some() && whole_candidate[at].is_some();
        let is_enough = is_known && changes.len() == resamples as usize;
        let interval = if is_enough { middle(changes) } else { None };
        judged(Figure::ALL[at], whole_base[at], whole_candidate[at], interval, tolerance)
    };
    changes.into_iter().enumerate().map(difference).collect()
}

/// Where the times lie below which these shares of all calls lie, with 95 % confidence; nothing for a
/// run that is too short. The shares are in ascending order, and those with too few calls beyond them
/// are left out at the end. The same seed gives the same answer.
pub fn band(blocks: &[Block], shares: &[f64], resamples: u32, seed: Seed) -> Vec<Interval> {
    let mut side = Side::of(blocks);
    if !side.is_enough() {
        return Vec::new();
    }
    let calls: f64 =
        blocks.iter().flat_map(|block| &block.times).map(|(_, count)| *count as f64).sum();
    let known = shares.iter().take_while(|share| calls * (1.0 - **share) >= BEYOND - 1e-6).count();
    let mut dice = seed.dice(3);
    let mut draws = vec![Vec::new(); known];
    for _ in 0..resamples.clamp(100, 100_000) {
        let times = side.drawn_times(&mut dice, &shares[..known]);
        draws.iter_mut().zip(times).for_each(|(draws, time)| draws.extend(time));
    }
    draws.into_iter().map_while(middle).collect()
}

/// Compares figures of interleaved repeats: one `(base, candidate)` pair a round.
///
/// What both runs of a round share, such as a busy machine, cancels out. Rounds are few, and a
/// bootstrap of few is too sure of itself; the interval is therefore Student's, over the logarithms
/// of the ratios, or over the differences for shares of errors. Pairs that are not numbers, or have
/// no ratio, are left out.
pub fn compare_paired(figure: Figure, rounds: &[(f64, f64)], tolerance: &Tolerance) -> Difference {
    let usable = |(base, candidate): &&(f64, f64)| {
        figure.change(*base, *candidate).is_some_and(|change| {
            matches!(figure, Figure::ErrorRate) || (1.0 + change).ln().is_finite()
        })
    };
    let rounds: Vec<(f64, f64)> = rounds.iter().filter(usable).copied().collect();
    let scaled = |(base, candidate): &(f64, f64)| match figure {
        Figure::ErrorRate => candidate - base,
        _ => (candidate / base).ln(),
    };
    let interval = (rounds.len() >= ENOUGH_ROUNDS).then(|| {
        let changes: Vec<f64> = rounds.iter().map(scaled).collect();
        let (middle, reach) = student_interval(&changes);
        let interval = Interval::around(middle, reach);
        match figure {
            Figure::ErrorRate => interval,
            _ => Interval { low: interval.low.exp_m1(), high: interval.high.exp_m1() },
        }
    });
    let base = order::median(rounds.iter().map(|round| round.0));
    let candidate = order::median(rounds.iter().map(|round| round.1));
    judged(figure, base, candidate, interval.filter(|interval| interval.is_finite()), tolerance)
}

/// The mean and how far the truth may lie from it.
fn student_interval(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, student(count - 1.0) * (squares / (count - 1.0) / count).sqrt())
}

/// The middle 95 % of the draws.
fn middle(changes: Vec<f64>) -> Option<Interval> {
    let sorted = order::sorted(changes);
    Some(Interval { low: order::quantile(&sorted, 0.025)?, high: order::quantile(&sorted, 0.975)? })
}

fn judged(
    figure: Figure,
    base: Option<f64>,
    candidate: Option<f64>,
    interval: Option<Interval>,
    tolerance: &Tolerance,
) -> Difference {
    let change = base.zip(candidate).and_then(|(base, candidate)| figure.change(base, candidate));
    let verdict = interval.map_or(DifferenceVerdict::Undecided, |interval| {
        verdict(figure, interval, tolerance.of(figure))
    });
    Difference { figure, base, candidate, change, interval, verdict }
}

/// Of throughput less is worse: seen from the other side it is like the rest.
fn harm(figure: Figure, interval: Interval) -> Interval {
    match figure {
        Figure::Throughput => Interval { low: -interval.high, high: -interval.low },
        _ => interval,
    }
}

fn verdict(figure: Figure, interval: Interval, tolerance: f64) -> DifferenceVerdict {
    let harm = harm(figure, interval);
    match () {
        () if harm.low > tolerance.max(0.0) => DifferenceVerdict::Worse,
        () if harm.high < 0.0 => DifferenceVerdict::Better,
        () if harm.is_within(tolerance) => DifferenceVerdict::Same,
        () => DifferenceVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, dice, normal};
    use super::*;
    use DifferenceVerdict::{Better, Same, Undecided, Worse};
    use proptest::prelude::*;

    /// A run of log-normal times round 10 ms; busy and quiet seconds differ by some 5 %.
    fn run(seed: u64, seconds: usize, calls: u64, factor: f64) -> Vec<Block> {
        let mut dice = dice(seed);
        let block = |_| {
            let pace = 1e7 * factor * (0.05 * normal(&mut dice)).exp();
            let times = (0..calls).map(|_| pace * (0.4 * normal(&mut dice)).exp());
            // As coarse as a histogram of two figures.
            let times = times.map(|time| ((time / 1e5) as u64 * 100_000, 1));
            Block { times: times.collect(), ok: calls, errors: 0 }
        };
        (0..seconds).map(block).collect()
    }

    fn verdicts(base: &[Block], candidate: &[Block]) -> Vec<DifferenceVerdict> {
        let tolerance = Tolerance::default();
        let found = compare(base, candidate, &tolerance, 100, Seed(1));
        found.into_iter().map(|difference| difference.verdict).collect()
    }

    #[test]
    fn the_same_server_twice_is_hardly_ever_worse() {
        let worse = (0..200).filter(|seed| {
            let (base, candidate) = (run(*seed, 20, 60, 1.0), run(seed + 1_000, 20, 60, 1.0));
            verdicts(&base, &candidate).contains(&Worse)
        });
        let worse = worse.count();
        assert!(worse < 6, "{worse} of 200");
    }

    #[test]
    fn half_as_slow_again_is_always_worse_and_the_reverse_better() {
        for seed in 0..100 {
            let (base, candidate) = (run(seed, 20, 60, 1.0), run(seed + 1_000, 20, 60, 1.5));
            assert_eq!(
                verdicts(&base, &candidate),
                [Worse, Worse, Worse, Same, Same],
                "seed {seed}"
            );
            assert_eq!(verdicts(&candidate, &base)[..3], [Better; 3], "seed {seed}");
        }
    }

    #[test]
    fn a_band_holds_the_truth_and_ends_where_calls_are_few() {
        let shares = [0.5, 0.9, 0.99, 0.999];
        let blocks = run(1, 30, 100, 1.0);
        let found = band(&blocks, &shares, 200, Seed(1));
        assert_eq!(found.len(), 3, "3000 calls have no p999");
        // The median of the distribution that the calls are drawn from.
        assert!(found[0].low < 1e7 && 1e7 < found[0].high, "{found:?}");
        assert!(found[2].high - found[2].low > found[0].high - found[0].low, "{found:?}");
        assert_eq!(band(&blocks[..4], &shares, 200, Seed(1)), []);
    }

    #[test]
    fn a_long_run_against_itself_is_the_same() {
        let base = run(1, 60, 200, 1.0);
        assert_eq!(verdicts(&base, &base)[0], Same);
        let again = compare(&base, &base, &Tolerance::default(), 300, Seed(9));
        assert_eq!(again, compare(&base, &base, &Tolerance::default(), 300, Seed(9)));
        assert!(again.iter().all(|difference| difference.change == Some(0.0)));
    }

    #[test]
    fn errors_and_throughput_are_judged_on_the_side_that_hurts() {
        let steady = |ok: u64, errors: u64| vec![Block { times: vec![(10, ok)], ok, errors }; 20];
        let found = verdicts(&steady(100, 0), &steady(70, 5));
        assert_eq!(found[3..], [Worse, Worse]);
        assert_eq!(verdicts(&steady(70, 5), &steady(100, 0))[3..], [Better, Better]);
    }

    #[test]
    fn too_little_data_decides_nothing() {
        let short = run(1, 4, 500, 1.0);
        assert_eq!(verdicts(&short, &run(2, 4, 500, 3.0)), [Undecided; 5]);
        let few = verdicts(&run(1, 20, 10, 1.0), &run(2, 20, 10, 3.0));
        assert_eq!((few[0], few[2]), (Worse, Undecided), "p99 of 200 calls rests on two of them");
        assert_eq!(verdicts(&[], &[]), [Undecided; 5]);
        assert_eq!(verdicts(&vec![Block::default(); 9], &short), [Undecided; 5]);
    }

    #[test]
    fn a_machine_that_is_busy_for_both_cancels_out_in_pairs() {
        let mut dice = dice(5);
        let rounds: Vec<(f64, f64)> = (0..6)
            .map(|round| {
                let busy = f64::from(round + 1) * 10.0;
                (busy, busy * 1.3 * (0.02 * normal(&mut dice)).exp())
            })
            .collect();
        let found = compare_paired(Figure::P99, &rounds, &Tolerance::default());
        assert_eq!(found.verdict, Worse);
        assert!(found.interval.unwrap().contains(0.3), "{found:?}");
        let even: Vec<_> = rounds.iter().map(|(base, _)| (*base, *base)).collect();
        assert_eq!(compare_paired(Figure::P99, &even, &Tolerance::default()).verdict, Same);
        let two = compare_paired(Figure::P99, &rounds[..2], &Tolerance::default());
        assert_eq!((two.verdict, two.interval), (Undecided, None));
        let errors = [(0.0, 0.02), (0.0, 0.021), (0.0, 0.019), (0.001, 0.02)];
        assert_eq!(
            compare_paired(Figure::ErrorRate, &errors, &Tolerance::default()).verdict,
            Worse
        );
    }

    #[test]
    fn pairs_from_the_same_server_are_hardly_ever_worse() {
        let worse = (0..1_000).filter(|seed| {
            let mut dice = dice(*seed);
            let mut figure = || 10.0 * (0.1 * normal(&mut dice)).exp();
            let rounds: Vec<_> = (0..5).map(|_| (figure(), figure())).collect();
            let strict = Tolerance { latency: 0.0, ..Tolerance::default() };
            compare_paired(Figure::P99, &rounds, &strict).verdict == Worse
        });
        let worse = worse.count();
        assert!((10..=40).contains(&worse), "{worse} of 1000, expected 25 without a tolerance");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn odd_numbers_do_no_harm(
            values in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()), 0..12),
            pairs in prop::collection::vec(
                (prop::sample::select(ODD.to_vec()), prop::sample::select(ODD.to_vec())), 0..6),
            limit in prop::sample::select(ODD.to_vec()),
        ) {
            let blocks: Vec<_> = values
                .iter()
                .map(|(value, count, ok, errors)| Block { times: vec![(*value, *count)], ok: *ok, errors: *errors })
                .collect();
            let tolerance = Tolerance { latency: limit, error_rate: limit, throughput: limit };
            let mut found = compare(&blocks, &blocks, &tolerance, 0, Seed(1));
            found.extend(Figure::ALL.map(|figure| compare_paired(figure, &pairs, &tolerance)));
            for difference in found {
                prop_assert!(difference.interval.is_none_or(Interval::is_finite), "{difference:?}");
                prop_assert!(difference.change.is_none_or(f64::is_finite), "{difference:?}");
            }
        }
    }
}
