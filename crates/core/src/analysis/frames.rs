//! Frames from the server that were not what the protocol asks for.

use super::{finding, plural};
use crate::{
    arguments::is_misdelivered,
    event::note,
    jsonrpc::Defect,
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
    let defects = tally.notes.get(note::FRAME_DEFECT);
    let too_large = tally.notes.get(note::FRAME_TOO_LARGE);
    if let Some(note) = too_large {
        let message = format!("{} longer than we take", plural(note.count, "frame"));
        let mut large = finding(FRAME_TOO_LARGE, Severity::Warning, message);
        large.evidence.clone_from(&note.examples);
        large.hint = Some("the protocol sets no limit; raise ours with `--max-message`".into());
        found.push(large);
    }
    found.extend(malformed_reply(tally));
    if let Some(note) = defects {
        let message = format!(
            "the server wrote {} that the protocol does not allow",
            plural(note.count, "frame")
        );
        let mut defect = finding(FRAME_DEFECT, Severity::Warning, message);
        defect.evidence.clone_from(&note.examples);
        defect.hint = Some(advice(&note.examples).into());
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

/// What to do about frames of which these are some.
fn advice(examples: &[String]) -> &'static str {
    let is_id = |told: &String| told.starts_with(Defect::IdTypeChanged.slug());
    match !examples.is_empty() && examples.iter().all(is_id) {
        true => {
            "give each request its id back as it came: `7` and `\"7\"` are two ids to many clients"
        }
        false => "keep logs off stdout: clients of other makes may stop at such a line",
    }
}

/// Replies to calls that cannot be read. One of another call is well formed, and `crossed` tells of it;
/// one that is too long was not read at all.
fn malformed_reply(tally: &Tally) -> Option<Finding> {
    let excused = tally.crossed.count + tally.not_echoed.count + tally.oversized;
    let malformed = tally.counts().of(ErrorCategory::Malformed).saturating_sub(excused);
    if malformed == 0 {
        return None;
    }
    let message = format!("{} got a reply that is not valid JSON-RPC", plural(malformed, "call"));
    let mut reply = finding(MALFORMED_REPLY, Severity::Critical, message);
    let examples = tally.failures.get(&ErrorCategory::Malformed).map(|note| &note.examples);
    let is_excused = |told: &str| is_misdelivered(told) || told == Defect::TooLarge.slug();
    let told = examples.into_iter().flatten().filter(|told| !is_excused(told));
    reply.evidence = told.cloned().collect();
    Some(reply)
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
        assert!(found[0].hint.as_ref().unwrap().starts_with("keep logs"));
        let ids = Run::default().oks(3).noted(note::FRAME_DEFECT, "id_type_changed: {}");
        let found = judge(&ids.tally, &info(Scenario::sustained()));
        assert!(found[0].hint.as_ref().unwrap().contains("its id back"));
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
    fn frames_that_are_too_long_hide_no_broken_reply() {
        let oversized = |run: Run| run.noted(note::FRAME_TOO_LARGE, "17 MB");
        let noisy = (0..9).fold(Run::default().oks(3), |run, _| oversized(run));
        let long = oversized(noisy.failed_with(ErrorCategory::Malformed, Defect::TooLarge.slug()));
        let ids = |run: &Run| -> Vec<_> {
            let found = judge(&run.tally, &info(Scenario::sustained()));
            found.into_iter().map(|one| one.id).collect()
        };
        assert_eq!(ids(&long), [FRAME_TOO_LARGE], "a reply that was not read is not broken");
        let mut broken = long.failed_with(ErrorCategory::Malformed, "not_json");
        assert_eq!(ids(&broken), [FRAME_TOO_LARGE, MALFORMED_REPLY]);
        let found = judge(&broken.tally, &info(Scenario::sustained())).remove(1);
        assert_eq!(found.message, "1 call got a reply that is not valid JSON-RPC");
        assert_eq!(found.evidence, ["not_json"]);
        broken.tally.merge(broken.tally.clone());
        let found = judge(&broken.tally, &info(Scenario::sustained())).remove(1);
        assert_eq!(found.message, "2 calls got a reply that is not valid JSON-RPC");
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
