//! What limits of the system have in common: there is none, there are enough, few, or too few.

use mcp_loadtest_core::doctor::{Health, Seen};

use super::super::Found;
use crate::limits::Limit;

/// From how many on a limit is no trouble, and below how many nothing works.
pub(super) struct Bounds {
    pub(super) few: u64,
    pub(super) too_few: u64,
}

impl Bounds {
    /// What to say of a limit, in these words, and what to do where it is low.
    pub(super) fn judge(
        &self,
        limit: Limit,
        say: impl FnOnce(u64) -> String,
        fix: &str,
    ) -> Vec<Found> {
        let Limit::At(limit) = limit else {
            return vec![Seen::new(Health::Ok, "no limit").into()];
        };
        let seen = |health| Seen::new(health, say(limit));
        vec![if limit >= self.few {
            seen(Health::Ok).into()
        } else if limit >= self.too_few {
            seen(Health::Warning).fix(fix).into()
        } else {
            seen(Health::Failed).fix(fix).into()
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_a_warning_and_too_few_fail() {
        let bounds = Bounds { few: 100, too_few: 10 };
        let judged = |limit| {
            let seen = bounds.judge(limit, |limit| limit.to_string(), "raise it").remove(0).seen;
            (seen.health, seen.fix.is_some())
        };
        assert_eq!(judged(Limit::At(9)), (Health::Failed, true));
        assert_eq!(judged(Limit::At(10)), (Health::Warning, true));
        assert_eq!(judged(Limit::At(99)), (Health::Warning, true));
        assert_eq!(judged(Limit::At(100)), (Health::Ok, false));
        assert_eq!(judged(Limit::None), (Health::Ok, false));
    }
}
