//! What the events of a run mean.
//!
//! An analysis is a pure function from the tally of a run to findings. To add one: one file here
//! with a `judge` function, one line in [`ANALYSES`]. It then judges live runs and saved traces
//! alike. Each is tested with a subject that it must catch and a healthy one that it must pass.

mod aborted;
mod accounting;
mod crash;
mod errors;
mod frames;
mod lazy_init;
mod revision;
mod shutdown;
mod silence;

use crate::{
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

pub(crate) use lazy_init::LAZY_INIT_CLIFF;
pub(crate) use silence::DEADLOCK;

/// One analysis.
pub type Analysis = fn(&Tally, &RunInfo) -> Vec<Finding>;

/// All analyses, in the order in which their findings are told.
pub static ANALYSES: &[(&str, Analysis)] = &[
    ("silence", silence::judge),
    ("crash", crash::judge),
    ("frames", frames::judge),
    ("lazy_init", lazy_init::judge),
    ("errors", errors::judge),
    ("aborted", aborted::judge),
    ("revision", revision::judge),
    ("shutdown", shutdown::judge),
    ("accounting", accounting::judge),
];

/// Findings after which the run cannot be judged.
pub const INVALIDATING: &[&str] =
    &[accounting::OPEN, accounting::NOTHING_MEASURED, errors::ARGUMENTS_REFUSED];

/// Runs all analyses; the gravest findings come first.
pub fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let mut findings: Vec<_> = ANALYSES.iter().flat_map(|(_, judge)| judge(tally, info)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn finding(id: &str, severity: Severity, message: String) -> Finding {
    Finding { id: id.to_owned(), severity, message, evidence: Vec::new(), hint: None }
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
