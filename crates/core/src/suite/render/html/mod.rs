//! One page of the style of `report.html`: what failed, which agents got over which faults, and what
//! each agent did when.

mod lanes;
mod matrix;

use std::fmt::Write as _;

use serde_json::json;

use super::sums;
use crate::{
    exit::Exit,
    report::html::{
        escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
        shell::{self, THEME_BUTTON},
        table::Table,
    },
    suite::result::{Outcome, SuiteReport, TestResult},
};

pub(super) fn render(report: &SuiteReport) -> String {
    let (class, word) = match report.exit() {
        Exit::Pass => ("good", "PASS"),
        Exit::Fail => ("bad", "FAIL"),
        _ if report.interrupted => ("warn", "CUT SHORT"),
        _ => ("warn", "NOT CARRIED OUT"),
    };
    let failed: Vec<&TestResult> = report.tests.iter().filter(|test| test.is_bad()).collect();
    let body = format!(
        "<header>\n<div class=\"top\"><span class=\"verdict {class}\">{word}</span><div><h1>{}</h1>\
         <p class=\"facts\">{} · seed {} · {:.1} s</p></div>{THEME_BUTTON}</div>\n</header>\n<main>\n{}{}{}{}</main>\n\
         <footer>mcp-loadtest {}</footer>\n",
        suites(report),
        sums(report),
        report.seed,
        report.took_ms / 1e3,
        failures(&failed),
        matrix::section(&report.tests),
        lanes::section(&report.tests),
        all(report),
        env!("CARGO_PKG_VERSION"),
    );
    shell::page(&format!("{word} {}", sums(report)), &body, &json!({}))
}

/// The files that the tests are from.
fn suites(report: &SuiteReport) -> String {
    let mut names: Vec<&str> = Vec::new();
    for test in &report.tests {
        if !names.contains(&test.suite.as_str()) {
            names.push(&test.suite);
        }
    }
    match names.as_slice() {
        [] => "No test".into(),
        [only] => text(only, LONGEST_NAME),
        [first, rest @ ..] => format!("{} and {} more", text(first, LONGEST_NAME), rest.len()),
    }
}

/// A part of the page.
fn section(id: &str, title: &str, content: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{content}</section>\n"
    )
}

fn failures(failed: &[&TestResult]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    section("failures", "What failed", &failed.iter().map(|test| card(test)).collect::<String>())
}

fn card(test: &TestResult) -> String {
    let class = if test.outcome == Outcome::Broken { "warn" } else { "bad" };
    let mut html = format!(
        "<div class=\"card finding {class}\"><h3><span class=\"tag {class}\">{}</span>{}</h3>",
        test.outcome.word(),
        text(&test.name, LONGEST_NAME)
    );
    if !test.reason.is_empty() {
        let _ = write!(html, "<p>{}</p>", prose(&test.reason, LONGEST_TEXT));
    }
    if !test.failures.is_empty() {
        let items = test.failures.iter().map(|failure| {
            let (target, message) =
                (text(&failure.target, LONGEST_NAME), prose(&failure.message, LONGEST_TEXT));
            format!("<li><code>{target}</code>: {message}</li>")
        });
        let _ = write!(html, "<ul>{}</ul>", items.collect::<String>());
    }
    if let Some(trajectory) = &test.trajectory {
        let answer = text(trajectory.final_response.trim(), LONGEST_TEXT);
        let _ = write!(html, "<p><strong>Answer:</strong> <code>{answer}</code></p>");
    }
    if !test.reproduce.is_empty() {
        let again = text(&test.reproduce, LONGEST_TEXT);
        let _ = write!(html, "<p><strong>Again:</strong> <code>{again}</code></p>");
    }
    html + "</div>\n"
}

fn all(report: &SuiteReport) -> String {
    let row = |test: &TestResult| {
        let time = match test.outcome {
            Outcome::Skipped | Outcome::NotRun => String::new(),
            _ => format!("{:.0} ms", test.took_ms),
        };
        let repeats = test.repeats.as_ref();
        let repeats =
            repeats.map_or(String::new(), |seen| format!("{} of {}", seen.passed, seen.runs));
        let verdict = test.recovery.as_ref().map_or("", |judged| judged.verdict.name());
        vec![
            test.name.clone(),
            test.kind.section().to_owned(),
            test.outcome.word().to_owned(),
            verdict.to_owned(),
            repeats,
            time,
        ]
    };
    let head = ["Test", "Of", "Result", "Recovery", "Passed", "Time"];
    let table = Table::new(&head, report.tests.iter().map(row)).html("All tests");
    section("all", "All tests", &table)
}
