//! Sessions that were cut and did not come back.

use super::{finding, plural};
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// A session that was cut could not be opened again, or its calls could not be repeated.
pub(crate) const RECONNECT_FAILED: &str = "reconnect_failed";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(failed) = tally.notes.get(note::RECONNECT_FAILED) else { return Vec::new() };
    let message = format!("{} after a cut did not work as before", plural(failed.count, "session"));
    let mut found = finding(RECONNECT_FAILED, Severity::Critical, message);
    found.evidence.clone_from(&failed.examples);
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn a_session_that_does_not_come_back_is_told() {
        let failed = Run::default().oks(5).noted(note::RECONNECT_FAILED, "cut 3: gone");
        let scenario = || info(Scenario::reconnect());
        assert_eq!(judge(&failed.tally, &scenario())[0].id, RECONNECT_FAILED);
        assert_eq!(judge(&Run::default().oks(5).tally, &scenario()), []);
    }
}
