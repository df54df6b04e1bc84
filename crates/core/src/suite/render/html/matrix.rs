//! Agents by faults: who got over what.

use std::fmt::Write as _;

use crate::{
    report::html::escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
    suite::{
        recovery::{RecoveryVerdict, Trajectory},
        result::TestResult,
    },
};

/// The faults that a trajectory met, each once.
fn faults(trajectory: &Trajectory) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let met = trajectory.calls.iter().filter_map(|call| call.fault.as_ref());
    for fault in met {
        if !names.contains(&fault.name.as_str()) {
            names.push(&fault.name);
        }
    }
    names
}

const fn tone(verdict: RecoveryVerdict) -> &'static str {
    match verdict {
        RecoveryVerdict::Recovered => "good",
        RecoveryVerdict::DegradedHonestly | RecoveryVerdict::NotFaulted => "note",
        RecoveryVerdict::NeverEngaged => "warn",
        RecoveryVerdict::GaveUp | RecoveryVerdict::Fabricated | RecoveryVerdict::Looped => "bad",
    }
}

/// The matrix; nothing where no agent was judged.
pub(super) fn section(tests: &[TestResult]) -> String {
    let judged: Vec<_> = tests
        .iter()
        .filter_map(|test| Some((test, test.recovery.as_ref()?, test.trajectory.as_ref())))
        .collect();
    if judged.is_empty() {
        return String::new();
    }
    let mut columns: Vec<&str> = Vec::new();
    for name in judged.iter().filter_map(|(.., trajectory)| *trajectory).flat_map(faults) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let mut html = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: agents by faults\"><table><caption>Agents by faults: a blank cell was not met</caption><thead><tr><th scope=\"col\">Agent</th>",
    );
    for column in &columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", text(column, LONGEST_NAME));
    }
    html.push_str("<th scope=\"col\">Why</th></tr></thead><tbody>\n");
    for (test, judged, trajectory) in judged {
        let met = trajectory.map(faults).unwrap_or_default();
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", text(&test.name, LONGEST_NAME));
        let (class, word) = (tone(judged.verdict), judged.verdict.name());
        for column in &columns {
            let cell = if met.contains(column) {
                format!("<span class=\"tag {class}\">{word}</span>")
            } else {
                String::new()
            };
            let _ = write!(html, "<td>{cell}</td>");
        }
        // Whoever met no fault has a verdict all the same.
        let alone = if met.is_empty() {
            format!("<span class=\"tag {class}\">{word}</span> ")
        } else {
            String::new()
        };
        let _ = writeln!(html, "<td>{alone}{}</td></tr>", prose(&judged.why, LONGEST_TEXT));
    }
    html.push_str("</tbody></table></div>\n");
    super::section("recovery", "Which agents got over which faults", &html)
}
