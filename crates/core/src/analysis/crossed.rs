//! Replies that belong to another call: the worst that a server can do.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// A reply carries the data of another call.
pub(crate) const CROSSED_REPLIES: &str = "crossed_replies";
/// Replies do not give back what would show that they are right.
pub(crate) const NONCE_MISSING: &str = "nonce_missing";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    if tally.crossed.count > 0 {
        let message = "replies carry the data of other calls".to_owned();
        let mut found = finding(CROSSED_REPLIES, Severity::Critical, message);
        found.evidence.clone_from(&tally.crossed.examples);
        found.hint = Some("look for state that calls or sessions share".into());
        return vec![found];
    }
    if tally.not_echoed.count == 0 {
        return Vec::new();
    }
    let message = "replies do not give their nonce back".to_owned();
    let mut found = finding(NONCE_MISSING, Severity::Warning, message);
    found.evidence.clone_from(&tally.not_echoed.examples);
    found.hint = Some("if the tool does not echo its arguments, use {{uuid}} instead".into());
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        arguments::{CROSSED, NOT_ECHOED},
        outcome::ErrorCategory,
        scenario::Scenario,
    };

    #[test]
    fn a_nonce_of_another_call_is_a_bug_and_none_at_all_may_be_a_tool_that_does_not_echo() {
        let judged = |text: &str| {
            let run = Run::default().oks(5).failed_with(ErrorCategory::Malformed, text);
            judge(&run.tally, &info(Scenario::sustained()))
        };
        let crossed = judged(&format!("{CROSSED}: it carries nonce a, not b"));
        assert_eq!(
            (crossed[0].id.as_str(), crossed[0].severity),
            (CROSSED_REPLIES, Severity::Critical)
        );
        assert_eq!(judged(&format!("{NOT_ECHOED}: nonce b is missing"))[0].id, NONCE_MISSING);
        assert_eq!(judged("not JSON"), []);
    }

    #[test]
    fn one_crossed_reply_is_found_behind_many_without_a_nonce() {
        let missing = |n| format!("{NOT_ECHOED}: nonce {n} is missing");
        let run = (0..9).fold(Run::default().oks(5), |run, n| {
            run.failed_with(ErrorCategory::Malformed, &missing(n))
        });
        let silent = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!((silent.len(), silent[0].id.as_str()), (1, NONCE_MISSING));
        let text = format!("{CROSSED}: it carries nonce a, not b");
        let run = run.failed_with(ErrorCategory::Malformed, &text);
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].id.as_str(), &found[0].evidence), (CROSSED_REPLIES, &vec![text]));
        let mut merged = Tally::default();
        merged.merge(run.tally);
        assert_eq!(judge(&merged, &info(Scenario::sustained())), found);
    }

    #[test]
    fn an_error_that_only_sounds_like_it_is_none() {
        let run = Run::default().failed_with(ErrorCategory::ToolError, &format!("{CROSSED}: no"));
        assert_eq!(judge(&run.tally, &info(Scenario::sustained())), []);
    }
}
