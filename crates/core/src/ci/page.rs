//! Remarks as Markdown, for the summary of a job.

use std::fmt::Write as _;

use super::Remark;
use crate::report::{
    Severity,
    markup::{code, prose},
    phrases::severity,
};

const LONGEST: usize = 500;

/// What was looked at, in the heading, and everything that is wrong with it, the gravest first.
pub fn render(what: &str, remarks: &[Remark]) -> String {
    let worst = remarks.iter().map(|remark| remark.severity).max();
    let mark = match worst {
        Some(Severity::Critical) => "❌",
        Some(Severity::Warning) => "⚠",
        Some(Severity::Info) | None => "✅",
    };
    let mut text = format!("## {mark} {}\n\n", prose(what, LONGEST));
    if remarks.is_empty() {
        text.push_str("Nothing was found.\n");
    }
    let mut sorted: Vec<_> = remarks.iter().collect();
    sorted.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
    for remark in sorted {
        let _ = writeln!(
            text,
            "### {}: {}\n\n{}",
            severity(remark.severity),
            code(&remark.id, LONGEST),
            prose(&remark.title, LONGEST)
        );
        if !remark.details.is_empty() || remark.reproduce.is_some() {
            text.push('\n');
        }
        for detail in &remark.details {
            let _ = writeln!(text, "- {}", prose(detail, LONGEST));
        }
        if let Some(command) = &remark.reproduce {
            let _ = writeln!(text, "- again: {}", code(command, LONGEST));
        }
        text.push('\n');
    }
    text
}
