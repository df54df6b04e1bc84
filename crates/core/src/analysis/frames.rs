//! Frames from the server that were not what the protocol asks for.

use super::{finding, plural};
use crate::{
    arguments::is_misdelivered,
    event::note,
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// A reply to a call was not valid JSON-RPC.
pub(super) const MALFORMED_REPLY: &str = "malformed_reply";
/// Something on the stream was not a message, but calls were answered all the same.
const FRAME_DEFECT: &str = "frame_defect";
/// A frame was longer than we take.
const FRAME_TOO_LARGE: &str = "frame_too_large";
/// A reply that nobody asked for.
const ORPHAN_REPLY: &str = "orphan_reply";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let mut found = Vec::new();
    // A reply of another call is well formed; `crossed` tells of it.
    let malformed = tally.counts().of(ErrorCategory::Malformed).saturating_sub(tally.misdelivered);
    let defects = tally.notes.get(note::FRAME_DEFECT);
    let too_large = tally.notes.get(note::FRAME_TOO_LARGE);
    if let Some(note) = too_large {
        let message = format!("{} longer than we take", plural(note.count, "frame"));
        let mut large = finding(FRAME_TOO_LARGE, Severity::Warning, message);
        large.evidence.clone_from(&note.examples);
        large.hint = Some("the protocol sets no limit; raise ours with `--max-message`".into());
        found.push(large);
    }
    if malformed > too_large.map_or(0, |note| note.count) {
        let message =
            format!("{} got a reply that is not valid JSON-RPC", plural(malformed, "call"));
        let mut reply = finding(MALFORMED_REPLY, Severity::Critical, message);
        reply.evidence = tally
            .failures
            .get(&ErrorCategory::Malformed)
            .into_iter()
            .flat_map(|note| note.examples.iter().filter(|told| !is_misdelivered(told)).cloned())
            .collect();
        found.push(reply);
    }
    if let Some(note) = defects {
        let message = format!(
            "the server wrote {} that the protocol does not allow",
            plural(note.count, "frame")
        );
        let mut defect = finding(FRAME_DEFECT, Severity::Warning, message);
        defect.evidence.clone_from(&note.examples);
        defect.hint =
            Some("keep logs off stdout: clients of other makes may stop at such a line".into());
        found.push(defect);
    }
    if let Some(note) = tally.notes.get(note::ORPHAN_REPLY) {
        let message = format!("{} to no open request", plural(note.count, "reply"));
        let mut orphan = finding(ORPHAN_REPLY, Severity::Warning, message);
        orphan.evidence.clone_from(&note.examples);
        found.push(orphan);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn noise_is_a_warning_and_a_broken_reply_is_critical() {
        let noise = Run::default().oks(3).noted(note::FRAME_DEFECT, "not_json: hello");
        let found = judge(&noise.tally, &info(Scenario::sustained()));
        assert_eq!((found[0].id.as_str(), found[0].severity), (FRAME_DEFECT, Severity::Warning));
        let broken = Run::default().oks(3).failed(ErrorCategory::Malformed, 1);
        let found = judge(&broken.tally, &info(Scenario::sustained()));
        assert_eq!(
            (found[0].id.as_str(), found[0].severity),
            (MALFORMED_REPLY, Severity::Critical)
        );
    }

    #[test]
    fn a_reply_of_another_call_is_not_told_as_a_broken_one() {
        use crate::arguments::{CROSSED, NOT_ECHOED};
        let told = |run: Run| judge(&run.tally, &info(Scenario::sustained()));
        let crossed = [CROSSED, NOT_ECHOED].iter().fold(Run::default().oks(3), |run, text| {
            run.failed_with(ErrorCategory::Malformed, &format!("{text}: nonce b"))
        });
        assert_eq!(told(crossed), []);
        let both = Run::default()
            .failed_with(ErrorCategory::Malformed, &format!("{CROSSED}: nonce b"))
            .failed_with(ErrorCategory::Malformed, "no readable reply");
        let found = told(both);
        assert_eq!(found[0].message, "1 call got a reply that is not valid JSON-RPC");
        assert_eq!(found[0].evidence, ["no readable reply"]);
    }

    #[test]
    fn frames_that_are_too_long_and_replies_to_nobody_are_told() {
        let run = Run::default()
            .oks(3)
            .noted(note::FRAME_TOO_LARGE, "17 MB")
            .noted(note::ORPHAN_REPLY, "id 99")
            .noted(note::ORPHAN_REPLY, "id 98");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        let told: Vec<_> =
            found.iter().map(|one| (one.id.as_str(), one.message.as_str())).collect();
        assert_eq!(
            told,
            [
                (FRAME_TOO_LARGE, "1 frame longer than we take"),
                (ORPHAN_REPLY, "2 replies to no open request"),
            ]
        );
        assert_eq!(found[1].evidence, ["id 98", "id 99"]);
    }

    #[test]
    fn a_healthy_run_is_silent() {
        assert!(judge(&Run::default().oks(9).tally, &info(Scenario::sustained())).is_empty());
    }
}
