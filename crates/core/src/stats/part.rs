//! Whether a part of the calls, such as those of one tool, got better or worse.
//!
//! Of a part there is one distribution and no seconds that could be drawn again. Its intervals are
//! therefore those of independent calls, widened by what the seconds of the whole run tell: calls of
//! one second resemble each other, so that a thousand of them say as much as a few hundred. How many
//! fewer is the design effect of cluster sampling (Kish 1965), taken over runs of seconds.

use super::{
    bootstrap::{Difference, DifferenceVerdict, Figure},
    interval::{Interval, NORMAL},
    resample::{BEYOND, Block},
};

/// Some of the calls of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// Response times as `(nanoseconds, how many)`, ascending.
    pub times: Vec<(u64, u64)>,
    /// Calls that succeeded.
    pub ok: u64,
    /// Calls that failed.
    pub errors: u64,
}

/// How many calls say as much as one independent call, for each figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effects {
    /// For percentiles, in the order of [`Figure::ALL`].
    percentiles: [f64; 3],
    /// For the share of errors.
    error_rate: f64,
}

impl Effects {
    /// Reads them off the seconds of the whole run.
    pub fn of(blocks: &[Block]) -> Self {
        let all: u64 = blocks.iter().map(calls).fold(0, u64::saturating_add);
        let beyond = |share: f64| {
            let limit = quantile(&merged(blocks), share).unwrap_or(u64::MAX);
            effect(blocks, |block| {
                let beyond = block.times.iter().filter(|(time, _)| *time > limit);
                beyond.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
            })
        };
        let one = Self { percentiles: [1.0; 3], error_rate: 1.0 };
        if all == 0 {
            return one;
        }
        Self {
            percentiles: [0.5, 0.95, 0.99].map(beyond),
            error_rate: effect(blocks, |block| block.errors),
        }
    }

    const fn on(&self, figure: Figure) -> f64 {
        match figure {
            Figure::P50 => self.percentiles[0],
            Figure::P95 => self.percentiles[1],
            Figure::P99 => self.percentiles[2],
            Figure::ErrorRate | Figure::Throughput => self.error_rate,
        }
    }
}

fn calls(block: &Block) -> u64 {
    block.ok.saturating_add(block.errors)
}

/// The variance of the share of marked calls, over what it were if calls were independent.
///
/// The residual of a second is `marked - share * calls`; over all seconds they sum to nothing. Sums
/// over runs of `length` seconds keep what neighbours have in common:
/// `Var = count / length * mean(run sum squared)`, against `share * (1 - share) * calls`.
fn effect(blocks: &[Block], marked: impl Fn(&Block) -> u64) -> f64 {
    let all: f64 = blocks.iter().map(|block| calls(block) as f64).sum();
    let share = blocks.iter().map(|block| marked(block) as f64).sum::<f64>() / all.max(1.0);
    let independent = share * (1.0 - share) * all;
    if independent <= 0.0 || blocks.len() < 2 {
        return 1.0;
    }
    let rest: Vec<f64> =
        blocks.iter().map(|block| marked(block) as f64 - share * calls(block) as f64).collect();
    let length = (blocks.len() as f64).cbrt().round().max(1.0) as usize;
    let sums = (0..rest.len())
        .map(|start| (0..length).map(|step| rest[(start + step) % rest.len()]).sum::<f64>());
    let clustered = sums.map(|sum: f64| sum * sum).sum::<f64>() / length as f64;
    (clustered / independent).max(1.0)
}

fn merged(blocks: &[Block]) -> Vec<(u64, u64)> {
    let mut times: Vec<(u64, u64)> =
        blocks.iter().flat_map(|block| block.times.iter().copied()).collect();
    times.sort_unstable();
    times
}

/// The time below which the share lies.
fn quantile(times: &[(u64, u64)], share: f64) -> Option<u64> {
    let total: f64 = times.iter().map(|(_, count)| *count as f64).sum();
    let rank = (share * total).ceil().max(1.0);
    let mut seen = 0.0;
    let found = times.iter().find(|(_, count)| {
        seen += *count as f64;
        seen >= rank
    });
    found.map(|(time, _)| *time)
}

/// Wilson's interval of a share seen in `count` independent calls.
fn wilson(share: f64, count: f64) -> Interval {
    let z = NORMAL * NORMAL / count;
    let middle = (share + z / 2.0) / (1.0 + z);
    let reach = NORMAL * (share * (1.0 - share) / count + z / (4.0 * count)).sqrt() / (1.0 + z);
    Interval { low: (middle - reach).max(0.0), high: (middle + reach).min(1.0) }
}

/// A figure of one side and where it lies.
struct Estimate {
    value: f64,
    interval: Option<Interval>,
}

fn estimate(part: &Part, effects: &Effects, figure: Figure) -> Option<Estimate> {
    let count = part.ok as f64 + part.errors as f64;
    let independent = count / effects.on(figure);
    if count <= 0.0 {
        return None;
    }
    let Some(share) = figure.quantile() else {
        let share = part.errors as f64 / count;
        return Some(Estimate { value: share, interval: Some(wilson(share, independent)) });
    };
    let at = |share| quantile(&part.times, share).map(|time| time.max(1) as f64);
    // Ten calls must lie beyond a percentile, as for a whole run.
    let enough = independent * (1.0 - share) >= BEYOND - 1e-6;
    let ranks = wilson(share, independent);
    let interval = at(ranks.low).zip(at(ranks.high)).filter(|_| enough);
    Some(Estimate {
        value: at(share)?,
        interval: interval.map(|(low, high)| Interval { low, high }),
    })
}

/// Compares a part of two runs in its percentiles and its share of errors. How often a part was
/// called is the generator's choice, so there is no throughput.
pub fn compare_parts(
    base: (&Part, &Effects),
    candidate: (&Part, &Effects),
    tolerance: impl Fn(Figure) -> f64,
) -> Vec<Difference> {
    let figures = Figure::ALL.into_iter().filter(|figure| *figure != Figure::Throughput);
    let difference = |figure: Figure| {
        let (a, b) = (estimate(base.0, base.1, figure), estimate(candidate.0, candidate.1, figure));
        let both = a.as_ref().zip(b.as_ref());
        let interval = both.and_then(|(a, b)| apart(figure, a, b));
        let difference = Difference {
            figure,
            base: a.as_ref().map(|estimate| estimate.value),
            candidate: b.as_ref().map(|estimate| estimate.value),
            change: both.and_then(|(a, b)| figure.change(a.value, b.value)),
            interval: interval.filter(|interval| interval.is_finite()),
            verdict: DifferenceVerdict::Undecided,
        };
        difference.judged_by(tolerance(figure))
    };
    figures.map(difference).collect()
}

/// The interval of a difference from the intervals of both sides (Zou and Donner 2008); of times in
/// logarithms, so that it is that of their ratio.
fn apart(figure: Figure, base: &Estimate, candidate: &Estimate) -> Option<Interval> {
    let scale = |value: f64| if figure.quantile().is_some() { value.ln() } else { value };
    let (a, b) = (base.interval?, candidate.interval?);
    let change = scale(candidate.value) - scale(base.value);
    let below = (scale(candidate.value) - scale(b.low)).hypot(scale(a.high) - scale(base.value));
    let above = (scale(b.high) - scale(candidate.value)).hypot(scale(base.value) - scale(a.low));
    let interval = Interval { low: change - below, high: change + above };
    Some(match figure.quantile() {
        Some(_) => Interval { low: interval.low.exp_m1(), high: interval.high.exp_m1() },
        None => interval,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{dice, normal};
    use super::*;
    use DifferenceVerdict::{Same, Undecided, Worse};

    /// Log-normal times round 10 ms; the seconds of a restless run differ by more than its calls.
    fn run(seed: u64, seconds: usize, calls: u64, factor: f64, restless: f64) -> Vec<Block> {
        let mut dice = dice(seed);
        let block = |_| {
            let pace = 1e7 * factor * (restless * normal(&mut dice)).exp();
            let times = (0..calls).map(|_| pace * (0.3 * normal(&mut dice)).exp());
            Block { times: times.map(|time| (time as u64, 1)).collect(), ok: calls, errors: 0 }
        };
        (0..seconds).map(block).collect()
    }

    fn part(blocks: &[Block]) -> Part {
        let sum = |count: fn(&Block) -> u64| blocks.iter().map(count).sum();
        Part { times: merged(blocks), ok: sum(|block| block.ok), errors: sum(|block| block.errors) }
    }

    fn verdicts(base: &[Block], candidate: &[Block]) -> Vec<DifferenceVerdict> {
        let found = compare_parts(
            (&part(base), &Effects::of(base)),
            (&part(candidate), &Effects::of(candidate)),
            |figure| if figure == Figure::ErrorRate { 0.005 } else { 0.1 },
        );
        found.into_iter().map(|difference| difference.verdict).collect()
    }

    #[test]
    fn a_restless_run_says_less_than_its_calls_seem_to() {
        let quiet = Effects::of(&run(1, 60, 100, 1.0, 0.0));
        assert!(quiet.percentiles[0] < 3.0, "{quiet:?}");
        let restless = Effects::of(&run(1, 60, 100, 1.0, 0.3));
        assert!(restless.percentiles[0] > 10.0, "{restless:?}");
        assert_eq!(Effects::of(&[]), Effects { percentiles: [1.0; 3], error_rate: 1.0 });
    }

    #[test]
    fn the_same_server_twice_is_hardly_ever_worse() {
        let worse = (0..100).filter(|seed| {
            let (base, candidate) =
                (run(*seed, 20, 60, 1.0, 0.3), run(seed + 999, 20, 60, 1.0, 0.3));
            verdicts(&base, &candidate).contains(&Worse)
        });
        let worse = worse.count();
        assert!(worse < 8, "{worse} of 100");
    }

    #[test]
    fn a_slower_part_is_worse_and_a_rare_one_undecided() {
        let (base, slow) = (run(1, 20, 100, 1.0, 0.02), run(2, 20, 100, 1.5, 0.02));
        assert_eq!(verdicts(&base, &slow), [Worse, Worse, Worse, Same]);
        let rare = (run(1, 20, 1, 1.0, 0.02), run(2, 20, 1, 3.0, 0.02));
        assert_eq!(verdicts(&rare.0, &rare.1)[2..], [Undecided, Undecided]);
        assert_eq!(verdicts(&[], &base), [Undecided; 4]);
    }

    #[test]
    fn errors_are_judged_in_absolute_terms() {
        let steady = |ok, errors| vec![Block { times: vec![(10, ok)], ok, errors }; 20];
        assert_eq!(verdicts(&steady(100, 0), &steady(95, 5))[3], Worse);
        assert_eq!(verdicts(&steady(100, 0), &steady(100, 0))[3], Same);
    }

    #[test]
    fn two_seconds_that_differ_say_little() {
        let second = |time| Block { times: vec![(time, 100)], ok: 90, errors: 10 };
        let effects = Effects::of(&[second(10), second(20)]);
        // Half of 200 calls lie beyond the median, all in one second: 2 · 50² over 0.5 · 0.5 · 200.
        assert_eq!(effects.percentiles[0], 100.0);
        assert_eq!(effects.error_rate, 1.0, "as many errors in each");
        let at = Figure::ALL
            .map(|figure| Effects { percentiles: [2.0, 3.0, 4.0], error_rate: 5.0 }.on(figure));
        assert_eq!(at, [2.0, 3.0, 4.0, 5.0, 5.0]);
    }

    #[test]
    fn ten_calls_must_lie_beyond_a_percentile() {
        let effects = Effects { percentiles: [1.0; 3], error_rate: 1.0 };
        for (slow, has_interval) in [(10, true), (9, false)] {
            let part = Part { times: vec![(100, 990), (200, slow)], ok: 990 + slow, errors: 0 };
            let found = estimate(&part, &effects, Figure::P99).expect("calls");
            assert_eq!((found.value, found.interval.is_some()), (100.0, has_interval), "{slow}");
        }
        assert!(estimate(&Part::default(), &effects, Figure::P50).is_none());
    }
}
