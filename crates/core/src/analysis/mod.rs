//! What the events of a run mean.
//!
//! An analysis is a pure function from the tally of a run to findings. To add one: one file here
//! with a `judge` function, one line in [`ANALYSES`]. It then judges live runs and saved traces
//! alike. Each is tested with a subject that it must catch and a healthy one that it must pass.

mod aborted;
mod accounting;
mod breaking_point;
mod capacity;
mod crash;
mod crossed;
mod drift;
mod errors;
mod few_calls;
mod frames;
mod fuzz_report;
mod head_of_line;
mod lazy_init;
mod leak;
mod ours;
mod populations;
mod race;
mod reconnect;
mod recovery;
mod revision;
mod schemas;
mod shutdown;
mod silence;
mod validity;
mod withdrawn;

use std::collections::BTreeMap;

use crate::{
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    tally::Tally,
};

pub(crate) use aborted::ENDED_ON_FAIL;
pub(crate) use breaking_point::COLLAPSE;
pub(crate) use fuzz_report::stats as fuzz_stats;
pub use lazy_init::{LAZY_INIT_CLIFF, is_cliff};
pub(crate) use leak::LEAK_DETECTED;
pub(crate) use ours::UNWRITTEN;
pub(crate) use silence::DEADLOCK;

/// One analysis.
pub type Analysis = fn(&Tally, &RunInfo) -> Vec<Finding>;

/// All analyses, in the order in which their findings are told.
pub static ANALYSES: &[(&str, Analysis)] = &[
    ("silence", silence::judge),
    ("crash", crash::judge),
    ("crossed", crossed::judge),
    ("frames", frames::judge),
    ("withdrawn", withdrawn::judge),
    ("schemas", schemas::judge),
    ("fuzz_report", fuzz_report::judge),
    ("race", race::judge),
    ("reconnect", reconnect::judge),
    ("leak", leak::judge),
    ("drift", drift::judge),
    ("capacity", capacity::judge),
    ("breaking_point", breaking_point::judge),
    ("recovery", recovery::judge),
    ("head_of_line", head_of_line::judge),
    ("lazy_init", lazy_init::judge),
    ("populations", populations::judge),
    ("errors", errors::judge),
    ("few_calls", few_calls::judge),
    ("aborted", aborted::judge),
    ("revision", revision::judge),
    ("shutdown", shutdown::judge),
    ("validity", validity::judge),
    ("accounting", accounting::judge),
    ("ours", ours::judge),
];

/// Findings after which the run cannot be judged.
pub const INVALIDATING: &[&str] = &[
    accounting::OPEN,
    accounting::NOTHING_MEASURED,
    ENDED_ON_FAIL,
    errors::ARGUMENTS_REFUSED,
    validity::LOAD_NOT_OFFERED,
    validity::GENERATOR_STOPPED,
    head_of_line::UNCLEAR,
    capacity::CAPACITY_UNCERTAIN,
    UNWRITTEN,
];

/// Runs all analyses that apply; the gravest findings come first.
pub fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let is_fuzzed = matches!(info.scenario.kind, ScenarioKind::Fuzzer(_));
    let applies = |name: &str| !is_fuzzed || fuzz_report::APPLY.contains(&name);
    let analyses = ANALYSES.iter().filter(|(name, _)| applies(name));
    let mut findings: Vec<_> = analyses.flat_map(|(_, judge)| judge(tally, info)).collect();
    // The fuzzer tells its own, with the case.
    findings.retain(|finding| !is_fuzzed || finding.id != frames::MALFORMED_REPLY);
    capacity::excuse(&mut findings, tally, info);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn finding(id: &str, severity: Severity, message: String) -> Finding {
    Finding {
        id: id.to_owned(),
        severity,
        message,
        evidence: Vec::new(),
        figures: BTreeMap::new(),
        hint: None,
        meaning: None,
        reproduce: None,
    }
}

/// `1 call`, `2 calls`, `2 replies`, `2 processes`.
fn plural(count: u64, noun: &str) -> String {
    let plural = match noun {
        _ if count == 1 => noun.to_owned(),
        _ if noun.ends_with('y') => format!("{}ies", &noun[..noun.len() - 1]),
        _ if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{count} {plural}")
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use super::fixture::{Run, info};
    use super::*;
    use crate::{event::note, outcome::ErrorCategory, scenario::Scenario};

    #[test]
    fn a_fuzzed_run_is_not_blamed_for_what_its_cases_provoke() {
        let run = Run::default()
            .oks(3)
            .noted(note::FRAME_DEFECT, "not_json: hello")
            .failed(ErrorCategory::ToolError, 5)
            .failed(ErrorCategory::Malformed, 5);
        let ids = |info: RunInfo| -> Vec<_> {
            judge(&run.tally, &info).into_iter().map(|found| found.id).collect()
        };
        let sustained = ids(info(Scenario::sustained()));
        assert_eq!(sustained, [frames::MALFORMED_REPLY, "frame_defect", "errors"], "gravest first");
        assert_eq!(ids(info(Scenario::fuzzer())), ["frame_defect"]);
    }

    #[test]
    fn nouns_agree_with_their_count() {
        for (count, noun, expected) in [
            (1, "reply", "1 reply"),
            (0, "call", "0 calls"),
            (2, "call", "2 calls"),
            (2, "reply", "2 replies"),
            (3, "process", "3 processes"),
        ] {
            assert_eq!(plural(count, noun), expected);
        }
    }
}
