//! Annotations of GitHub Actions: what failed is shown beside the line of the suite.

use crate::{
    display::visible,
    suite::result::{Outcome, SuiteReport, TestResult},
};

pub(super) fn render(report: &SuiteReport) -> String {
    report.tests.iter().filter(|test| test.is_bad()).map(annotation).collect()
}

fn annotation(test: &TestResult) -> String {
    let line = test.line.map_or_else(String::new, |line| format!(",line={line}"));
    let word = match test.outcome {
        Outcome::Broken => "could not be carried out",
        _ => "failed",
    };
    let title = property(&format!("{} {word}", test.name));
    let told: Vec<_> = test
        .failures
        .iter()
        .map(|failure| format!("{}: {}", failure.target, failure.message))
        .chain((!test.reason.is_empty()).then(|| test.reason.clone()))
        .collect();
    let file = property(&test.suite);
    format!("::error file={file}{line},title={title}::{}\n", data(&told.join("\n")))
}

/// Text of a message; the runner takes these escapes back.
fn data(text: &str) -> String {
    let safe: Vec<_> = text.lines().map(|line| visible(line, 1_000)).collect();
    safe.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text of a property, in which colons and commas have a meaning, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
