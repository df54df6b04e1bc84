//! A limit on errors that was kept by too few calls to be sure.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity},
    stats::interval::Interval,
    tally::Tally,
};

/// The limit was kept, and may be broken by the next calls.
const ERROR_RATE_UNCERTAIN: &str = "error_rate_uncertain";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let limit = info.thresholds.error_rate;
    let counts = tally.counts();
    let (failed, ended) = (counts.errors(), counts.ok + counts.errors());
    // A limit of none at all is about these calls, not about those to come.
    if !(limit > 0.0 && limit < 1.0) || ended == 0 || failed as f64 / ended as f64 > limit {
        return Vec::new();
    }
    let fit = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let upper = 1.0 - Interval::of_share(fit(ended - failed), fit(ended)).low;
    if upper <= limit {
        return Vec::new();
    }
    let percent = |share: f64| format!("{:.2}%", share * 100.0);
    let message = format!(
        "{failed} of {ended} calls failed, which keeps the limit of {}; that few calls are no proof: the \
         true share may be up to {}",
        percent(limit),
        percent(upper)
    );
    let mut told = finding(ERROR_RATE_UNCERTAIN, Severity::Info, message)
        .figure("limit", limit)
        .figure("upper_bound", upper);
    // Where Wilson's interval without an error ends at the limit: z² / (n + z²) with z = 1.96.
    let enough = (3.8415 * (1.0 / limit - 1.0)).ceil();
    told.hint =
        Some(format!("about {enough:.0} calls without an error would show that it is kept"));
    vec![told]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{outcome::ErrorCategory, scenario::Scenario, thresholds::Thresholds};

    fn told(calls: u64, limit: f64) -> Vec<Finding> {
        let mut info = info(Scenario::sustained());
        info.thresholds = Thresholds { error_rate: limit, ..Thresholds::default() };
        judge(&Run::default().oks(calls).tally, &info)
    }

    #[test]
    fn a_limit_that_few_calls_kept_is_told_with_its_interval() {
        let found = told(100, 0.001);
        assert_eq!(found[0].id, ERROR_RATE_UNCERTAIN);
        assert!(found[0].message.contains("up to 3.70%"), "{}", found[0].message);
        assert!(found[0].hint.as_ref().unwrap().contains("3838 calls"), "{:?}", found[0].hint);
    }

    #[test]
    fn many_calls_no_limit_and_a_limit_of_none_are_left_alone() {
        assert_eq!(told(5_000, 0.001), []);
        assert_eq!(told(10, f64::INFINITY), []);
        assert_eq!(told(10, 0.0), []);
    }

    #[test]
    fn a_limit_is_kept_at_its_exact_value_and_broken_beyond() {
        let told = |oks: u64, failed: u64, limit: f64| {
            let mut info = info(Scenario::sustained());
            info.thresholds = Thresholds { error_rate: limit, ..Thresholds::default() };
            let run = (0..failed)
                .fold(Run::default().oks(oks), |run, _| run.failed(ErrorCategory::ToolError, 5));
            judge(&run.tally, &info)
        };
        let kept = told(99, 1, 0.01);
        // Wilson's interval of 99 good calls of 100 begins at 94.55 %.
        assert_eq!(
            kept[0].message,
            "1 of 100 calls failed, which keeps the limit of 1.00%; that few calls are no proof: the \
             true share may be up to 5.45%"
        );
        assert_eq!((kept[0].figures["limit"], kept[0].figures["upper_bound"]), (0.01, 0.054));
        assert_eq!(told(98, 2, 0.01), [], "broken");
        assert_eq!(told(0, 0, 0.01), [], "no calls");
        assert_eq!(told(9, 1, 1.0), [], "no limit");
    }
}
