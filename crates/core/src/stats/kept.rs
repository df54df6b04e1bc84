//! Whether a server keeps something of every request or session: several rounds of the same work,
//! each longer than the one before, must all grow, straight and at one rate.
//!
//! One round is not enough. A runtime with a garbage collector lets its heap grow for the first
//! thousands of requests, and in a round of a few hundred that is as straight as any leak; but it
//! grows more slowly each time, because it is a heap that fills.

use std::time::Duration;

use super::leak::{Growth, GrowthVerdict, judge_growth};

/// So many rounds in a row must agree before something is called a leak.
pub const ROUNDS: usize = 3;
/// The slowest of them may grow by no less than this part of the fastest.
const STEADY: f64 = 0.6;

/// What the rounds say so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kept {
    /// No more than is allowed, for each unit.
    Little(f64),
    /// So much for each unit, in every round.
    Grows(f64),
    /// The last round grew more slowly than those before it: a heap that fills does so.
    Slows(f64),
    /// Another round is needed.
    Unclear,
}

/// One round: samples of `(units so far, value)`, and how much each unit may keep.
pub fn judge_round(samples: &[(f64, f64)], allowed: f64) -> Growth {
    let from = samples.first().map_or(0.0, |first| first.0);
    // The arithmetic is that of leaks over time, with units in place of seconds.
    let shifted: Vec<_> = samples.iter().map(|(units, value)| (units - from, *value)).collect();
    let units = shifted.last().map_or(0.0, |last| last.0);
    let length = Duration::try_from_secs_f64(units).unwrap_or_default();
    judge_growth(&shifted, length, Duration::ZERO, allowed * units)
}

/// What rounds in the order in which they were made say together.
pub fn judge_rounds(rounds: &[Growth]) -> Kept {
    let slope = |round: &Growth| round.fit.map(|fit| fit.slope.min(fit.floor_slope));
    let Some(last) = rounds.last() else { return Kept::Unclear };
    let rate = slope(last).unwrap_or_default();
    if last.verdict == GrowthVerdict::Clean {
        return Kept::Little(rate.max(0.0));
    }
    let recent: Vec<_> = rounds.iter().rev().take(ROUNDS).map(slope).collect();
    let fastest = recent.iter().flatten().copied().fold(0.0, f64::max);
    let slowest = recent.iter().map(|rate| rate.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
    if rate < STEADY * fastest {
        return Kept::Slows(rate.max(0.0));
    }
    let agree = rounds.iter().rev().take(ROUNDS).all(|r| r.verdict == GrowthVerdict::Leak);
    match recent.len() == ROUNDS && agree && slowest >= STEADY * fastest {
        true => Kept::Grows(rate),
        false => Kept::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        fixture::{dice, normal, series},
        leak::GrowthFit,
    };
    use super::*;

    /// Rounds of 300, 600 and 1200 units, with a sample every ten.
    fn rounds(value: impl Fn(f64) -> f64) -> Vec<Growth> {
        let mut from = 0.0;
        let lengths = [30_usize, 60, 120];
        let rounds = lengths.map(|count| {
            let samples: Vec<_> = series(count, 10.0, |t| value(from + t))
                .into_iter()
                .map(|(t, y)| (from + t, y))
                .collect();
            from += count as f64 * 10.0;
            judge_round(&samples, 2.0)
        });
        rounds.to_vec()
    }

    #[test]
    fn forty_kilobytes_a_request_are_a_leak_under_noise() {
        let noise = std::cell::RefCell::new(dice(1));
        let leak = rounds(|units| 60e3 + 40.0 * units + 100.0 * normal(&mut noise.borrow_mut()));
        let Kept::Grows(rate) = judge_rounds(&leak) else { panic!("{leak:?}") };
        assert!((rate - 40.0).abs() < 4.0, "{rate}");
        assert_eq!(judge_rounds(&leak[..2]), Kept::Unclear, "two rounds are not enough");
    }

    #[test]
    fn a_heap_that_fills_is_no_leak() {
        // As seen of Node: 75 MB at the start, 140 MB in the end, most of it in the first thousand.
        let heap = rounds(|units| 75e3 + 65e3 * (1.0 - (-units / 700.0).exp()));
        assert!(matches!(judge_rounds(&heap), Kept::Slows(_) | Kept::Little(_)), "{heap:?}");
        assert!(!matches!(judge_rounds(&heap[..2]), Kept::Grows(_)));
    }

    #[test]
    fn what_stays_level_is_little() {
        let noise = std::cell::RefCell::new(dice(2));
        let level = rounds(|_| 60e3 + 50.0 * normal(&mut noise.borrow_mut()));
        assert!(matches!(judge_rounds(&level), Kept::Little(_)), "{level:?}");
        assert_eq!(judge_rounds(&[]), Kept::Unclear);
    }

    #[test]
    fn a_round_counts_its_own_units() {
        let samples: Vec<_> = series(30, 10.0, |t| 7.0 + 40.0 * t)
            .into_iter()
            .map(|(t, y)| (t + 1_000.0, y))
            .collect();
        let round = judge_round(&samples, 2.0);
        assert_eq!((round.verdict, round.limit), (GrowthVerdict::Leak, 580.0));
        let fit = round.fit.expect("thirty samples");
        assert!((fit.predicted - 40.0 * 290.0).abs() < 1e-6, "{fit:?}");
    }

    #[test]
    fn the_last_three_rounds_must_agree_and_keep_their_pace() {
        use GrowthVerdict::{Clean, Indeterminate, Leak};
        let judged = |rounds: &[(f64, GrowthVerdict)]| {
            let round = |(slope, verdict): &(f64, GrowthVerdict)| {
                let mut round = judge_round(&series(30, 10.0, |t| t), 0.1);
                round.verdict = *verdict;
                round.fit =
                    round.fit.map(|fit| GrowthFit { slope: *slope, floor_slope: 50.0, ..fit });
                round
            };
            judge_rounds(&rounds.iter().map(round).collect::<Vec<_>>())
        };
        type Case<'c> = (&'c str, &'c [(f64, GrowthVerdict)], Kept);
        let cases: [Case<'_>; 8] = [
            ("steady", &[(10.0, Leak), (10.0, Leak), (10.0, Leak)], Kept::Grows(10.0)),
            ("just steady", &[(10.0, Leak), (10.0, Leak), (6.0, Leak)], Kept::Grows(6.0)),
            ("slower", &[(10.0, Leak), (10.0, Leak), (5.9, Leak)], Kept::Slows(5.9)),
            ("faster", &[(5.0, Leak), (10.0, Leak), (10.0, Leak)], Kept::Unclear),
            ("too few", &[(10.0, Leak), (10.0, Leak)], Kept::Unclear),
            ("one is noisy", &[(10.0, Leak), (10.0, Indeterminate), (10.0, Leak)], Kept::Unclear),
            ("clean at last", &[(10.0, Leak), (10.0, Leak), (-1.0, Clean)], Kept::Little(0.0)),
            (
                "long ago",
                &[(99.0, Leak), (10.0, Leak), (10.0, Leak), (10.0, Leak)],
                Kept::Grows(10.0),
            ),
        ];
        for (name, rounds, expected) in cases {
            assert_eq!(judged(rounds), expected, "{name}");
        }
    }
}
