//! The only source of chance. The same seed gives the same choices on every machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run's random choices are derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A generator for one purpose; another `stream` gives independent choices.
    pub fn dice(self, stream: u64) -> Dice {
        let mut dice = Dice { state: self.0 ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15) };
        // One step mixes neighbouring seeds and streams apart.
        dice.state = dice.next_u64();
        dice
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self(1)
    }
}

/// SplitMix64: small, fast, and the same everywhere. Not for secrets.
#[derive(Debug, Clone)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..bound`, or 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_choices_on_every_machine() {
        let mut dice = Seed(42).dice(0);
        let seen: Vec<u64> = (0..3).map(|_| dice.next_u64()).collect();
        let mut again = Seed(42).dice(0);
        assert_eq!(seen, (0..3).map(|_| again.next_u64()).collect::<Vec<_>>());
        assert_ne!(seen[0], Seed(42).dice(1).next_u64());
    }

    #[test]
    fn choices_are_spread_evenly() {
        let mut dice = Seed(7).dice(3);
        let low = (0..10_000).filter(|_| dice.unit() < 0.3).count();
        assert!((2_800..3_200).contains(&low), "{low}");
        assert!((0..1_000).all(|_| dice.below(7) < 7));
        assert_eq!(dice.below(0), 0);
    }

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        // The reference implementation's first numbers for this seed.
        let mut dice = Dice { state: 1_234_567 };
        let seen = [dice.next_u64(), dice.next_u64(), dice.next_u64()];
        assert_eq!(
            seen,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(Seed(1_234_567).dice(0).state, seen[0]);
        // A stream is a seed that is one golden ratio further, taken away from it bit by bit.
        assert_eq!(Seed(0x9E37_79B9_7F4A_7C15).dice(1).state, Seed(0).dice(0).state);
    }

    #[test]
    fn every_number_below_the_bound_occurs() {
        let mut dice = Seed(7).dice(3);
        let mut counts = [0; 7];
        (0..7_000).for_each(|_| counts[dice.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
