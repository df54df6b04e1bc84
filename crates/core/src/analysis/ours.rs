//! What did not work on our side: files of the run that are missing, logs that have holes.

use super::finding;
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Something of ours did not work; no figure depends on it.
const OUR_TROUBLE: &str = "our_trouble";
/// Not all files of the run are there.
pub(crate) const UNWRITTEN: &str = "unwritten";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let told = |name, id, severity, message: &str| {
        let note = tally.notes.get(name)?;
        let mut found = finding(id, severity, message.into());
        found.evidence.clone_from(&note.examples);
        Some(found)
    };
    let unwritten = told(
        note::UNWRITTEN,
        UNWRITTEN,
        Severity::Warning,
        "not all files of this run could be written",
    );
    let trouble = told(
        note::OUR_TROUBLE,
        OUR_TROUBLE,
        Severity::Info,
        "something of mcp-loadtest itself did not work; no figure depends on it",
    );
    unwritten.into_iter().chain(trouble).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        exit::Exit,
        report::{self, Verdict, summary},
        scenario::Scenario,
    };

    #[test]
    fn a_run_whose_files_are_missing_is_never_a_pass() {
        let of = |run: Run| report::build(info(Scenario::sustained()), &run.tally);
        let healthy = of(Run::default().oks(1_000));
        assert_eq!((healthy.verdict, summary::exit(&healthy)), (Verdict::Pass, Exit::Pass));
        let lacking = of(Run::default().oks(1_000).noted(note::UNWRITTEN, "metrics.json: full"));
        assert_eq!(lacking.finding(UNWRITTEN).unwrap().evidence, ["metrics.json: full"]);
        assert_eq!((lacking.verdict, summary::exit(&lacking)), (Verdict::Invalid, Exit::Usage));
    }

    #[test]
    fn a_log_with_a_hole_is_told_and_judges_nothing() {
        let run = Run::default().oks(1_000).noted(note::OUR_TROUBLE, "stdout: full");
        let report = report::build(info(Scenario::sustained()), &run.tally);
        assert_eq!(report.finding(OUR_TROUBLE).unwrap().evidence, ["stdout: full"]);
        assert_eq!(report.verdict, Verdict::Pass);
    }
}
