//! Which call it is, and the chance that belongs to it.

use super::nonce::Nonce;
use crate::seed::{Dice, Seed};

/// The stream of chance that arguments are drawn from.
const TURNS: u64 = 0x7475_726e_0000_0000;

/// One call that is about to be made. Its arguments depend on the seed and on its place in the run,
/// not on what other calls drew before: a call can be made again without the run around it.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The number of this call in the run, from 0.
    pub iter: u64,
    /// The session that makes it.
    pub session: u32,
    /// The thread that makes it.
    pub worker: u16,
    seed: Seed,
    pub(super) dice: Dice,
}

impl Turn {
    /// The call with this number, made by this session in this thread. No two calls of a run may
    /// agree in all three.
    pub fn new(seed: Seed, iter: u64, session: u32, worker: u16) -> Self {
        let lane = u64::from(session) << 16 | u64::from(worker);
        let lane = Seed(seed.dice(TURNS).next_u64()).dice(lane).next_u64();
        Self { iter, session, worker, seed, dice: Seed(lane).dice(iter) }
    }

    /// The token that only this call has.
    pub fn nonce(&self) -> Nonce {
        Nonce::new(self.seed, self.iter, self.session, self.worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_chance_of_its_own() {
        let first = |seed, iter, session, worker| {
            Turn::new(Seed(seed), iter, session, worker).dice.next_u64()
        };
        let mut drawn = vec![first(1, 0, 0, 0)];
        drawn.extend([first(2, 0, 0, 0), first(1, 1, 0, 0), first(1, 0, 1, 0), first(1, 0, 0, 1)]);
        assert_eq!(drawn[0], first(1, 0, 0, 0));
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 5);
    }
}
