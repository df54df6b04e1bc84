//! Results for people and machines. To add a form: a file here and a line in [`FORMS`].

mod code_quality;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod terminal;
#[cfg(test)]
mod tests;

use super::result::SuiteReport;

/// A form of results.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Its word on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Makes it.
    pub render: fn(&SuiteReport) -> String,
}

/// All forms.
pub const FORMS: &[Form] = &[
    Form { name: "terminal", about: "for people, failures last", render: terminal::render },
    Form { name: "json", about: "everything (schemas/test.v1.json)", render: json::render },
    Form { name: "junit", about: "JUnit XML, for CI servers", render: junit::render },
    Form { name: "markdown", about: "for step summaries and wikis", render: markdown::render },
    Form { name: "html", about: "a page with agents by faults and lanes", render: html::render },
    Form { name: "github", about: "annotations of GitHub Actions", render: github::render },
    Form {
        name: "code_quality",
        about: "the code quality report of GitLab",
        render: code_quality::render,
    },
];

/// The form with this name.
pub fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

/// The sums in one line.
fn sums(report: &SuiteReport) -> String {
    let totals = &report.totals;
    let mut parts = vec![format!("{} passed", totals.passed), format!("{} failed", totals.failed)];
    for (count, word) in [
        (totals.broken, "could not be carried out"),
        (totals.skipped, "skipped"),
        (totals.not_run, "not run"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    parts.join(", ")
}
