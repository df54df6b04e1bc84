//! For step summaries and wikis.

use super::sums;
use crate::{
    report::markup::{cell, code, prose},
    suite::result::{Outcome, SuiteReport, TestResult},
};

pub(super) fn render(report: &SuiteReport) -> String {
    let bad = report.tests.iter().any(TestResult::is_bad);
    let mark = if bad { "❌" } else { "✅" };
    let mut text = format!("## {mark} mcp-loadtest test: {}\n\n", sums(report));
    text.push_str("| test | of | result | time |\n|---|---|---|---|\n");
    // What failed is read first; the rest is there for completeness.
    let (failed, rest): (Vec<_>, Vec<_>) = report.tests.iter().partition(|test| test.is_bad());
    for test in failed.iter().chain(&rest) {
        let verdict = test
            .recovery
            .as_ref()
            .map_or_else(String::new, |judged| format!(" ({})", judged.verdict.name()));
        let time = match test.outcome {
            Outcome::Skipped | Outcome::NotRun => String::new(),
            _ => format!("{:.0} ms", test.took_ms),
        };
        text.push_str(&format!(
            "| {} | {} | {}{verdict} | {time} |\n",
            cell(&test.name, 120),
            test.kind.section(),
            test.outcome.word(),
        ));
    }
    for test in failed {
        text.push_str(&details(test));
    }
    text
}

fn details(test: &TestResult) -> String {
    let mut text = format!("\n### {}\n\n", prose(&test.name, 120));
    if !test.reason.is_empty() {
        text.push_str(&format!("- {}\n", prose(&test.reason, 500)));
    }
    for failure in &test.failures {
        text.push_str(&format!(
            "- {}: {}\n",
            code(&failure.target, 200),
            prose(&failure.message, 500)
        ));
    }
    if let Some(trajectory) = &test.trajectory {
        text.push_str(&format!("- answer: {}\n", code(trajectory.final_response.trim(), 300)));
    }
    if !test.reproduce.is_empty() {
        text.push_str(&format!("- again: {}\n", code(&test.reproduce, 500)));
    }
    text
}
