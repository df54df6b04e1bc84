//! Results as CI servers show them: beside a line of code, in the summary of a job.
//!
//! Whatever is wrong becomes a [`Remark`]; each server has a file here that writes remarks in its
//! own way. To add one: a file, and a flag in `cli/src/ci_args.rs`.

pub mod code_quality;
pub mod github;
pub mod junit;
pub mod page;
#[cfg(test)]
mod tests;

use crate::{
    compare::{Comparison, ComparisonVerdict, TargetRuns},
    exit::Exit,
    report::{Finding, Report, Severity},
    suite::{Outcome, SuiteReport, TestResult},
};

/// Where a remark stands when no file of the server is known.
pub const NOWHERE: &str = "mcp-server";

/// Something that is wrong, and the line it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// A stable id of what is wrong.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// What else is known about it.
    pub details: Vec<String>,
    /// The command that shows it again.
    pub reproduce: Option<String>,
    /// The file that it belongs to.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
}

impl Remark {
    fn new(id: &str, severity: Severity, title: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            severity,
            title: title.into(),
            details: Vec::new(),
            reproduce: None,
            file: None,
            line: None,
        }
    }
}

/// What a probe or a run found. `file` is what the server is made of, where that is known.
pub fn of_findings(findings: &[Finding], file: Option<&str>) -> Vec<Remark> {
    findings.iter().map(|finding| of_finding(finding, file)).collect()
}

fn of_finding(finding: &Finding, file: Option<&str>) -> Remark {
    Remark {
        details: finding.evidence.iter().chain(&finding.hint).cloned().collect(),
        reproduce: finding.reproduce.clone(),
        file: file.map(str::to_owned),
        ..Remark::new(&finding.id, finding.severity, &finding.message)
    }
}

/// What is wrong with a run: the limits that it did not keep, and its findings.
pub fn of_report(report: &Report, file: Option<&str>) -> Vec<Remark> {
    let violated = report.threshold_violations.iter().map(|violation| {
        let tool = violation.tool.as_ref().map(|tool| format!("`{tool}`: ")).unwrap_or_default();
        let metric = violation.metric.to_string();
        let (expected, actual) = (&violation.expected, &violation.actual);
        Remark {
            file: file.map(str::to_owned),
            ..Remark::new(
                &metric,
                Severity::Critical,
                format!("{tool}{metric}: expected {expected}, got {actual}"),
            )
        }
    });
    violated.chain(of_findings(&report.findings, file)).collect()
}

/// What a comparison with an earlier run comes to; nothing where the run is no worse.
pub fn of_comparison(comparison: &Comparison, file: Option<&str>) -> Option<Remark> {
    let severity = match (comparison.exit(), comparison.verdict) {
        (Exit::Pass, ComparisonVerdict::Pass) => return None,
        (Exit::Pass, _) => Severity::Warning,
        _ => Severity::Critical,
    };
    let verdict = comparison.verdict.name();
    let headline = comparison.headline();
    Some(Remark {
        file: file.map(str::to_owned),
        ..Remark::new(&verdict.to_ascii_lowercase(), severity, format!("{verdict}: {headline}"))
    })
}

/// What is wrong with several servers that were tested in turns: each run that did not pass. How they
/// compare is no gate.
pub fn of_rounds(comparison: &Comparison, runs: &[TargetRuns]) -> Vec<Remark> {
    let failed = runs.iter().flat_map(|target| {
        let reports = target.reports.iter().enumerate();
        let failed = reports.filter(|(_, report)| !report.passed());
        failed.map(|(round, report)| of_round(&target.label, round + 1, report))
    });
    let compared =
        of_comparison(comparison, None).map(|remark| Remark { severity: Severity::Info, ..remark });
    failed.chain(compared).collect()
}

fn of_round(label: &str, round: usize, report: &Report) -> Remark {
    let verdict = report.verdict.name();
    Remark {
        details: of_report(report, None).into_iter().map(|remark| remark.title).collect(),
        ..Remark::new("run", Severity::Critical, format!("{verdict}: {label} in round {round}"))
    }
}

/// The tests of suites that failed or could not be carried out.
pub fn of_suite(report: &SuiteReport) -> Vec<Remark> {
    report.tests.iter().filter(|test| test.is_bad()).map(of_test).collect()
}

fn of_test(test: &TestResult) -> Remark {
    let word = match test.outcome {
        Outcome::Broken => "could not be carried out",
        _ => "failed",
    };
    let failures = test.failures.iter();
    let told = failures.map(|failure| format!("{}: {}", failure.target, failure.message));
    let reason = (!test.reason.is_empty()).then(|| test.reason.clone());
    Remark {
        details: told.chain(reason).collect(),
        reproduce: (!test.reproduce.is_empty()).then(|| test.reproduce.clone()),
        file: Some(test.suite.clone()),
        line: test.line,
        ..Remark::new("test", Severity::Critical, format!("{} {word}", test.name))
    }
}
