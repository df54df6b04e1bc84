//! The first calls of a run one by one: what a burst looks like before it is only a distribution.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::ErrorCategory;

/// As many are kept: more do not fit on a picture.
pub(super) const MOST: usize = 64;

/// One call, from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// When it was sent, in seconds.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub from: Duration,
    /// When it ended, or was given up, in seconds.
    #[serde(with = "crate::event::as_secs")]
    #[schemars(with = "f64")]
    pub to: Duration,
    /// How it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<ErrorCategory>,
}

/// The calls that were sent before any had ended, in the order in which they ended.
pub(crate) fn burst(lanes: &[Lane]) -> Vec<Lane> {
    let Some(first_end) = lanes.iter().map(|lane| lane.to).min() else { return Vec::new() };
    let mut burst: Vec<Lane> =
        lanes.iter().filter(|lane| lane.from <= first_end).copied().collect();
    burst.sort_by_key(|lane| (lane.to, lane.from));
    burst
}

/// Adds those of another worker.
pub(super) fn merge(lanes: &mut Vec<Lane>, others: Vec<Lane>) {
    lanes.extend(others);
    lanes.sort_by_key(|lane| (lane.from, lane.to));
    lanes.truncate(MOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_calls_are_no_part_of_the_burst() {
        let lane = |from: u64, to: u64| Lane {
            from: Duration::from_millis(from),
            to: Duration::from_millis(to),
            failed: None,
        };
        let lanes = [lane(0, 300), lane(1, 100), lane(2, 200), lane(400, 450)];
        let ends: Vec<_> = burst(&lanes).iter().map(|lane| lane.to.as_millis()).collect();
        assert_eq!(ends, [100, 200, 300]);
        let mut some = lanes.to_vec();
        merge(&mut some, vec![lane(3, 9); MOST]);
        assert_eq!(some.len(), MOST);
    }
}
