//! Load calls by how they ended.

use crate::outcome::ErrorCategory;

/// Load calls by how they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that were due, sent or not.
    pub issued: u64,
    /// Good results.
    pub ok: u64,
    /// Failures, in the order of [`ErrorCategory::ALL`].
    failed: [u64; ErrorCategory::ALL.len()],
    /// Calls that were due but could not be sent because too many were in flight.
    pub dropped: u64,
}

impl Counts {
    /// How many calls ended in this category.
    pub fn of(&self, category: ErrorCategory) -> u64 {
        self.failed[category as usize]
    }

    /// All failures.
    pub fn errors(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Calls that were sent and have ended.
    pub fn ended(&self) -> u64 {
        self.ok + self.errors()
    }

    /// Calls that have neither ended nor been dropped.
    pub fn open(&self) -> u64 {
        self.issued.saturating_sub(self.ended() + self.dropped)
    }

    /// Every issued call has ended in exactly one way.
    pub fn closes(&self) -> bool {
        self.issued == self.ended() + self.dropped
    }

    /// The share of sent calls that failed; nothing when none was sent.
    pub fn error_rate(&self) -> Option<f64> {
        (self.ended() > 0).then(|| self.errors() as f64 / self.ended() as f64)
    }

    pub(super) fn fail(&mut self, category: ErrorCategory) {
        self.failed[category as usize] += 1;
    }

    /// Adds what another has.
    pub fn merge(&mut self, other: &Self) {
        self.issued += other.issued;
        self.ok += other.ok;
        self.dropped += other.dropped;
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Counts {
        let mut counts = Counts { issued: 10, ok: 4, dropped: 2, ..Counts::default() };
        let failed = [ErrorCategory::ToolError, ErrorCategory::Timeout, ErrorCategory::ToolError];
        failed.into_iter().for_each(|category| counts.fail(category));
        counts
    }

    #[test]
    fn every_call_is_open_or_has_ended_in_one_way() {
        let some = counts();
        let of = [ErrorCategory::ToolError, ErrorCategory::Timeout, ErrorCategory::Crash];
        assert_eq!(of.map(|category| some.of(category)), [2, 1, 0]);
        assert_eq!((some.errors(), some.ended(), some.open()), (3, 7, 1));
        assert!(!some.closes());
        let all = Counts { issued: 9, ..some };
        assert_eq!((all.open(), all.closes()), (0, true));
        assert_eq!(all.error_rate(), Some(3.0 / 7.0));
        assert_eq!(Counts { issued: 3, dropped: 3, ..Counts::default() }.error_rate(), None);
    }

    #[test]
    fn what_two_have_is_added_kind_by_kind() {
        let mut both = counts();
        both.merge(&counts());
        assert_eq!((both.issued, both.ok, both.dropped), (20, 8, 4));
        assert_eq!(both.of(ErrorCategory::ToolError), 4);
        assert_eq!((both.of(ErrorCategory::Timeout), both.errors()), (2, 6));
    }
}
