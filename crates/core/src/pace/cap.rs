//! A cap on the rate of a closed model.

use std::time::Duration;

use super::Rate;

/// Hands out starts that are never closer together than the rate allows. What was not used is
/// gone: after a pause there is no burst to catch up.
#[derive(Debug, Clone)]
pub struct Cap {
    gap: Duration,
    next: Duration,
}

impl Cap {
    /// A cap at this rate, from `first` on.
    pub fn new(rate: Rate, first: Duration) -> Self {
        Self { gap: rate.gap(), next: first }
    }

    /// Takes the next start: not before `now`, and not before the gap since the one before is over.
    pub fn take(&mut self, now: Duration) -> Duration {
        let start = self.next.max(now);
        self.next = start.saturating_add(self.gap);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_keep_their_distance_and_a_pause_is_not_caught_up() {
        let mut cap = Cap::new(Rate::per_second(100.0), Duration::ZERO);
        let millis = Duration::from_millis;
        assert_eq!([0, 0, 0].map(|now| cap.take(millis(now))), [0, 10, 20].map(millis));
        assert_eq!([500, 500].map(|now| cap.take(millis(now))), [500, 510].map(millis));
    }
}
