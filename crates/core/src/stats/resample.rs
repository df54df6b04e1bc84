//! Runs drawn again from the seconds of a run, and their figures.

use crate::seed::Dice;

/// What happened in one second. A second without calls is an empty block and must not be left out;
/// the broken second at the end of a run should be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Response times as `(nanoseconds, how many)`, in any order.
    pub times: Vec<(u64, u64)>,
    /// Calls that succeeded.
    pub ok: u64,
    /// Calls that failed.
    pub errors: u64,
}

/// Fewer seconds than this cannot be drawn again.
pub const ENOUGH_BLOCKS: usize = 5;
/// How many calls must lie beyond a percentile before it is compared.
pub(super) const BEYOND: f64 = 10.0;

/// The figures of one draw, in the order of [`super::bootstrap::Figure::ALL`].
pub(super) type Figures = [Option<f64>; 5];

/// The shares of the first three figures.
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// One run, prepared for many draws: times are numbered, so that a draw only adds counts.
pub(super) struct Side<'a> {
    blocks: &'a [Block],
    /// All times that occur, ascending.
    values: Vec<u64>,
    /// For each block the numbers of its times, and how many.
    numbered: Vec<Vec<(u32, u64)>>,
    /// How many consecutive seconds are drawn together: the cube root of all.
    run: usize,
    /// How often each time occurs in the draw.
    counts: Vec<u64>,
}

impl<'a> Side<'a> {
    pub(super) fn of(blocks: &'a [Block]) -> Self {
        let mut values: Vec<u64> =
            blocks.iter().flat_map(|block| &block.times).map(|(value, _)| *value).collect();
        values.sort_unstable();
        values.dedup();
        let number = |value: &u64| values.partition_point(|other| other < value) as u32;
        let numbered = blocks
            .iter()
            .map(|block| block.times.iter().map(|(value, count)| (number(value), *count)).collect())
            .collect();
        let run = (blocks.len() as f64).cbrt().round().max(1.0) as usize;
        let counts = vec![0; values.len()];
        Self { blocks, values, numbered, run, counts }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.blocks.len() >= ENOUGH_BLOCKS
    }

    /// The figures of the run as it was; no percentile with too few calls beyond it.
    pub(super) fn whole(&mut self) -> Figures {
        let mut figures = self.figures(&vec![1; self.blocks.len()]);
        let total: f64 = self.counts.iter().map(|count| *count as f64).sum();
        for (figure, share) in figures.iter_mut().zip(QUANTILES) {
            // Ten of a thousand are beyond p99, whatever the rounding of 0.01 makes of it.
            figure.take_if(|_| total * (1.0 - share) < BEYOND - 1e-6);
        }
        figures
    }

    /// The figures of a run of the same length, drawn from this one with replacement. The last second
    /// is followed by the first, so that all are drawn equally often.
    pub(super) fn drawn(&mut self, dice: &mut Dice) -> Figures {
        let weights = self.weights(dice);
        self.figures(&weights)
    }

    /// The times below which these shares of a drawn run lie, the shares in ascending order.
    pub(super) fn drawn_times(&mut self, dice: &mut Dice, shares: &[f64]) -> Vec<Option<f64>> {
        let weights = self.weights(dice);
        self.figures(&weights);
        self.quantiles(shares)
    }

    /// How often each second comes up in a draw.
    fn weights(&self, dice: &mut Dice) -> Vec<u64> {
        let count = self.blocks.len();
        let mut weights = vec![0; count];
        for at in 0..count {
            if at % self.run == 0 {
                let start = dice.below(count as u64) as usize;
                for step in 0..self.run.min(count - at) {
                    weights[(start + step) % count] += 1;
                }
            }
        }
        weights
    }

    /// The figures of the blocks, each taken as often as its weight says.
    fn figures(&mut self, weights: &[u64]) -> Figures {
        self.counts.fill(0);
        let (mut ok, mut errors) = (0_u64, 0_u64);
        let drawn = weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
        for (at, weight) in drawn {
            let block = &self.blocks[at];
            ok = ok.saturating_add(block.ok.saturating_mul(*weight));
            errors = errors.saturating_add(block.errors.saturating_mul(*weight));
            for (number, count) in &self.numbered[at] {
                let sum = &mut self.counts[*number as usize];
                *sum = sum.saturating_add(count.saturating_mul(*weight));
            }
        }
        let calls = ok as f64 + errors as f64;
        let times = self.quantiles(&QUANTILES);
        let [p50, p95, p99] = [0, 1, 2].map(|at| times.get(at).copied().flatten());
        let error_rate = (calls > 0.0).then(|| errors as f64 / calls);
        let throughput = ok as f64 / self.blocks.len().max(1) as f64;
        [p50, p95, p99, error_rate, (!self.blocks.is_empty()).then_some(throughput)]
    }

    /// The times below which these shares of the drawn calls lie, the shares in ascending order.
    fn quantiles(&self, shares: &[f64]) -> Vec<Option<f64>> {
        let total = self.counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let mut counted = self.values.iter().zip(&self.counts);
        let (mut seen, mut value) = (0_u64, None);
        let time = |share: &f64| {
            let rank = ((share * total as f64).ceil() as u64).max(1);
            while seen < rank {
                let Some((next, count)) = counted.next() else { break };
                seen = seen.saturating_add(*count);
                value = Some(*next as f64);
            }
            value
        };
        shares.iter().map(time).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn second(at: u64) -> Block {
        Block { times: vec![(at, 3), (at + 1, 7)], ok: 9, errors: 1 }
    }

    #[test]
    fn the_whole_run_has_the_figures_of_its_calls() {
        let blocks: Vec<Block> = (1..=100).map(|at| second(at * 10)).collect();
        let figures = Side::of(&blocks).whole();
        assert_eq!(figures, [Some(501.0), Some(951.0), Some(991.0), Some(0.1), Some(9.0)]);
        assert_eq!(Side::of(&blocks[..99]).whole()[2], None, "990 calls have no p99");
        assert_eq!(Side::of(&[]).whole(), [None; 5]);
    }

    #[test]
    fn a_draw_has_as_many_seconds_as_the_run_and_all_come_up() {
        let blocks: Vec<Block> =
            (0..30).map(|at| Block { times: vec![(at, 1)], ok: 1, errors: 0 }).collect();
        let (mut side, mut dice) = (Side::of(&blocks), Seed(1).dice(0));
        let mut drawn = vec![0_u64; blocks.len()];
        for _ in 0..1_000 {
            assert_eq!(side.drawn(&mut dice)[4], Some(1.0));
            drawn.iter_mut().zip(&side.counts).for_each(|(sum, count)| *sum += count);
        }
        assert!(drawn.iter().all(|count| (850..1_150).contains(count)), "{drawn:?}");
    }

    #[test]
    fn a_draw_of_runs_that_do_not_come_out_even_is_as_long_as_the_run() {
        for seconds in [1_u64, 2, 7, 31, 32] {
            let blocks: Vec<Block> =
                (0..seconds).map(|at| Block { times: vec![(at, 1)], ok: 1, errors: 0 }).collect();
            let (mut side, mut dice) = (Side::of(&blocks), Seed(3).dice(0));
            for _ in 0..50 {
                assert_eq!(side.weights(&mut dice).iter().sum::<u64>(), seconds);
                assert_eq!(side.drawn(&mut dice)[3..], [Some(0.0), Some(1.0)]);
            }
        }
    }

    #[test]
    fn five_seconds_are_enough() {
        let blocks = vec![second(1); ENOUGH_BLOCKS];
        assert!(Side::of(&blocks).is_enough() && !Side::of(&blocks[1..]).is_enough());
    }
}
