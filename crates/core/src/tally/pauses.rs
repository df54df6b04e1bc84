//! When the load was held on purpose. That time is nobody's: no rate is divided by it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One pause, from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Pause {
    /// When it began, in seconds.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub from: Duration,
    /// When it ended, in seconds.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub to: Duration,
}

impl Pause {
    /// How long it was.
    pub fn length(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }

    /// How much of it lies in this span.
    pub fn within(&self, from: Duration, to: Duration) -> Duration {
        self.to.min(to).saturating_sub(self.from.max(from))
    }
}

/// How much of these pauses lies in a span.
pub fn paused_within(pauses: &[Pause], from: Duration, to: Duration) -> Duration {
    pauses.iter().map(|pause| pause.within(from, to)).sum()
}

/// How long the load had gone on from `begin` to `at`; nothing while it was held. Whatever grows with
/// the load is told by this time: in a pause it stands still, and nobody is to blame for that.
pub(crate) fn load_time(pauses: &[Pause], begin: Duration, at: Duration) -> Option<Duration> {
    let is_held = pauses.iter().any(|pause| pause.from <= at && at < pause.to);
    (!is_held).then(|| at.saturating_sub(begin).saturating_sub(paused_within(pauses, begin, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_span_counts() {
        let secs = Duration::from_secs;
        let pauses = [Pause { from: secs(2), to: secs(5) }, Pause { from: secs(8), to: secs(9) }];
        for (from, to, paused) in [(0, 10, 4), (3, 4, 1), (5, 8, 0), (4, 20, 2), (0, 3, 1)] {
            assert_eq!(paused_within(&pauses, secs(from), secs(to)), secs(paused), "{from}-{to}");
        }
        assert_eq!(pauses[0].length(), secs(3));
    }

    #[test]
    fn the_load_stands_still_while_it_is_held() {
        let secs = Duration::from_secs;
        let pauses = [Pause { from: secs(2), to: secs(5) }, Pause { from: secs(8), to: secs(9) }];
        for (at, went_on) in [(0, Some(0)), (1, Some(0)), (2, None), (4, None), (5, Some(1))] {
            assert_eq!(load_time(&pauses, secs(1), secs(at)), went_on.map(secs), "{at}");
        }
        assert_eq!(load_time(&pauses, secs(1), secs(20)), Some(secs(15)));
        assert_eq!(load_time(&[], secs(1), secs(20)), Some(secs(19)));
    }
}
