//! Strict runs: calls that do not keep to the schemas that the server lists.

use super::{finding, plural};
use crate::{
    event::note,
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// Arguments or results do not match the schemas of their tool.
const SCHEMA_MISMATCH: &str = "schema_mismatch";

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    let Some(note) = tally.notes.get(note::SCHEMA_MISMATCH) else { return Vec::new() };
    let first = note.examples.first().map_or("", String::as_str);
    let calls = plural(note.count, "call");
    let message =
        format!("{calls} did not keep to the schemas that the server lists; the first: {first}");
    let mut mismatch = finding(SCHEMA_MISMATCH, Severity::Critical, message);
    mismatch.evidence.clone_from(&note.examples);
    mismatch.hint =
        Some("arguments that do not match are not sent; see `[scenario] strict`".into());
    vec![mismatch]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn one_mismatch_is_enough() {
        let run =
            Run::default().oks(3).noted(note::SCHEMA_MISMATCH, "echo: result: 3 is no string");
        let found = judge(&run.tally, &info(Scenario::sustained()));
        assert_eq!(
            (found[0].id.as_str(), found[0].severity),
            (SCHEMA_MISMATCH, Severity::Critical)
        );
        assert!(judge(&Run::default().oks(3).tally, &info(Scenario::sustained())).is_empty());
    }
}
