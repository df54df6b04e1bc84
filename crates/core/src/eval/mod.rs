//! How well somebody recovered from a call that did not come back, from marks in milliseconds.
//!
//! It is total: marks that cannot be true, such as a recovery before the call, count as "did not
//! happen". A report never holds a duration that is negative or wrapped.
//!
//! ```
//! use mcp_loadtest_core::eval::{RecoveryObservation, meets_recovery_budget, score_recovery};
//!
//! let report = score_recovery(&RecoveryObservation {
//!     call_start_ms: 0,
//!     detected_ms: Some(3_000),
//!     recovered_ms: Some(3_200),
//!     timeout_budget_ms: 3_000,
//! });
//! assert!(report.clean_timeout);
//! assert!(meets_recovery_budget(&report, 5_000));
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was seen of one call to a server that did not answer. All marks are on the same clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecoveryObservation {
    /// When the call was issued.
    pub call_start_ms: u64,
    /// When the agent noticed that the call would not return; absent if it never did.
    pub detected_ms: Option<u64>,
    /// When the agent retried elsewhere, fell back or surfaced a clean error; absent if it never did.
    pub recovered_ms: Option<u64>,
    /// The timeout that the agent was told to honour.
    pub timeout_budget_ms: u64,
}

/// How well the agent recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RecoveryReport {
    /// From the start of the call to its detection; absent if it was never detected.
    pub time_to_detection_ms: Option<u64>,
    /// From the start of the call to the recovery; absent if there was none.
    pub time_to_recovery_ms: Option<u64>,
    /// How long the user saw the call hang: until detection or recovery, whichever came first. If
    /// neither came, the budget, which is the longest that a well-configured agent would show.
    pub user_visible_hang_ms: u64,
    /// Whether the agent recovered.
    pub recovered: bool,
    /// Whether the agent noticed at or before its budget.
    pub clean_timeout: bool,
}

/// Turns marks into durations and verdicts.
pub fn score_recovery(observation: &RecoveryObservation) -> RecoveryReport {
    let since_start = |mark: Option<u64>| mark?.checked_sub(observation.call_start_ms);
    let detection = since_start(observation.detected_ms);
    let recovery = since_start(observation.recovered_ms);
    let seen_hanging = [detection, recovery].into_iter().flatten().min();
    RecoveryReport {
        time_to_detection_ms: detection,
        time_to_recovery_ms: recovery,
        user_visible_hang_ms: seen_hanging.unwrap_or(observation.timeout_budget_ms),
        recovered: recovery.is_some(),
        clean_timeout: detection.is_some_and(|took| took <= observation.timeout_budget_ms),
    }
}

/// Whether the agent recovered, and did so in time.
pub fn meets_recovery_budget(report: &RecoveryReport, max_recovery_ms: u64) -> bool {
    report.time_to_recovery_ms.is_some_and(|took| report.recovered && took <= max_recovery_ms)
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*};

    use super::*;

    fn score(start: u64, detected: Option<u64>, recovered: Option<u64>) -> RecoveryReport {
        score_recovery(&RecoveryObservation {
            call_start_ms: start,
            detected_ms: detected,
            recovered_ms: recovered,
            timeout_budget_ms: 3_000,
        })
    }

    #[test]
    fn a_deadline_that_is_kept_is_clean_and_one_that_is_not_is_not() {
        let kept = score(100, Some(3_100), Some(3_300));
        assert!(kept.clean_timeout && kept.recovered);
        assert_eq!(
            (kept.time_to_detection_ms, kept.time_to_recovery_ms),
            (Some(3_000), Some(3_200))
        );
        assert_eq!(kept.user_visible_hang_ms, 3_000);
        let missed = score(0, Some(9_000), Some(9_000));
        assert!(!missed.clean_timeout && missed.recovered);
        assert_eq!(missed.user_visible_hang_ms, 9_000);
    }

    #[test]
    fn recovery_without_detection_ends_the_hang_but_is_no_clean_timeout() {
        let report = score(0, None, Some(200));
        assert!(report.recovered && !report.clean_timeout);
        assert_eq!(report.user_visible_hang_ms, 200);
    }

    #[test]
    fn who_never_notices_shows_the_whole_budget() {
        let report = score(50, None, None);
        assert!(!report.recovered && !report.clean_timeout);
        assert_eq!(report.user_visible_hang_ms, 3_000);
    }

    #[test]
    fn marks_before_the_call_did_not_happen() {
        assert_eq!(score(1_000, Some(999), Some(10)), score(1_000, None, None));
        assert_eq!(score(1_000, Some(1_000), None).time_to_detection_ms, Some(0));
    }

    #[test]
    fn the_budget_fails_whoever_is_late_or_does_not_come() {
        let report = score(0, Some(3_000), Some(5_000));
        assert!(meets_recovery_budget(&report, 5_000));
        assert!(!meets_recovery_budget(&report, 4_999));
        assert!(!meets_recovery_budget(&score(0, Some(3_000), None), u64::MAX));
    }

    proptest! {
        #[test]
        fn no_marks_make_nonsense(
            start: u64,
            detected in option::of(any::<u64>()),
            recovered in option::of(any::<u64>()),
            budget: u64,
            limit: u64,
        ) {
            let observation = RecoveryObservation {
                call_start_ms: start,
                detected_ms: detected,
                recovered_ms: recovered,
                timeout_budget_ms: budget,
            };
            let report = score_recovery(&observation);
            let told = [report.time_to_detection_ms, report.time_to_recovery_ms];
            for (took, mark) in told.into_iter().zip([detected, recovered]) {
                let in_order = mark.is_some_and(|mark| mark >= start);
                prop_assert_eq!(took.is_some(), in_order);
                // Nothing wrapped: start and duration make the mark again.
                prop_assert_eq!(took.map(|took| u128::from(took) + u128::from(start)),
                    mark.filter(|_| in_order).map(u128::from));
            }
            prop_assert_eq!(report.recovered, report.time_to_recovery_ms.is_some());
            prop_assert_eq!(report.user_visible_hang_ms,
                told.into_iter().flatten().min().unwrap_or(budget));
            let meets = meets_recovery_budget(&report, limit);
            prop_assert_eq!(meets, report.time_to_recovery_ms.is_some_and(|took| took <= limit));
        }
    }
}
