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
}
