//! Replies that belong to another call: the worst that a server can do.

use super::finding;
use crate::{
    arguments::{CROSSED, NOT_ECHOED},
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// A reply carries the data of another call.
pub(crate) const CROSSED_REPLIES: &str = "crossed_replies";
/// Replies do not give back what would show that they are right.
pub(crate) const NONCE_MISSING: &str = "nonce_missing";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let malformed = tally.failures.get(&ErrorCategory::Malformed);
    let examples = malformed.map(|note| note.examples.as_slice()).unwrap_or_default();
    let like = |what: &str| -> Vec<String> {
        examples.iter().filter(|example| example.contains(what)).cloned().collect()
    };
    let (crossed, missing) = (like(CROSSED), like(NOT_ECHOED));
    if !crossed.is_empty() {
        let message = "replies carry the data of other calls".to_owned();
        let mut found = finding(CROSSED_REPLIES, Severity::Critical, message);
        found.evidence = crossed;
        found.hint = Some("look for state that calls or sessions share".into());
        return vec![found];
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let message = "replies do not give their nonce back".to_owned();
    let mut found = finding(NONCE_MISSING, Severity::Warning, message);
    found.evidence = missing;
    found.hint = Some("if the tool does not echo its arguments, use {{uuid}} instead".into());
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

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
}
