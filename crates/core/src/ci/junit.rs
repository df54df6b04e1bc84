//! JUnit XML, as CI servers read it, of whatever is judged by limits, checks and findings.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::{
    compare::{Comparison, ComparisonVerdict},
    exit::Exit,
    report::{Finding, Report, Severity},
    thresholds::{Measured, ThresholdViolation},
};

/// One thing that was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is one of: a limit, a finding, a check.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// How long it took, where that was measured.
    pub took: Duration,
    /// What came of it.
    pub ending: Ending,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It is good; what is worth knowing of it.
    Good(String),
    /// It is not: in one line, and in full.
    Bad(String, Vec<String>),
    /// It was not judged, or could not be.
    Open(String),
}

impl Case {
    /// A case that took no time of its own.
    pub fn new(kind: &'static str, name: impl Into<String>, ending: Ending) -> Self {
        Self { kind, name: name.into(), took: Duration::ZERO, ending }
    }

    /// What was found is bad where it is a bug, or else worth knowing.
    pub fn of_finding(finding: &Finding) -> Self {
        let details = || finding.evidence.iter().chain(&finding.hint).cloned().collect();
        let ending = match finding.severity {
            Severity::Critical => Ending::Bad(finding.message.clone(), details()),
            Severity::Warning | Severity::Info => Ending::Good(finding.message.clone()),
        };
        Self::new("finding", &finding.id, ending)
    }
}

/// The cases as JUnit XML. `title` says what was judged.
pub fn junit(title: &str, took: Duration, cases: &[Case]) -> String {
    let mut report = Junit::new(title);
    report.set_time(took);
    let mut suite = TestSuite::new(title);
    suite.set_time(took);
    suite.add_test_cases(cases.iter().map(case));
    report.add_test_suite(suite);
    // Writing to memory cannot fail.
    report.to_string().unwrap_or_default()
}

pub(crate) fn case(Case { kind, name, took, ending }: &Case) -> TestCase {
    let status = match ending {
        Ending::Good(_) => TestCaseStatus::success(),
        Ending::Bad(message, details) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(message.as_str()).set_description(details.join("\n"));
            status
        }
        Ending::Open(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.as_str());
            status
        }
    };
    let mut case = TestCase::new(name.as_str(), status);
    case.set_classname(format!("mcp-loadtest.{kind}")).set_time(*took);
    if let Ending::Good(told) = ending
        && !told.is_empty()
    {
        case.set_system_out(told.as_str());
    }
    case
}

/// A run: each limit that was set, each finding, what it is compared with, and the verdict, so that no
/// file is without a case.
pub fn of_run(report: &Report, comparison: Option<&Comparison>) -> String {
    let mut cases: Vec<Case> = limits(report).iter().map(|limit| of_limit(limit, report)).collect();
    cases.extend(report.findings.iter().map(Case::of_finding));
    cases.extend(comparison.map(of_comparison));
    let told = || format!("the run is {}", report.headline());
    let ending = match report.verdict.passes() {
        true => Ending::Good(told()),
        false => Ending::Bad(told(), Vec::new()),
    };
    cases.push(Case::new("run", "verdict", ending));
    junit(&format!("mcp-loadtest {}", report.server_info.target), report.duration, &cases)
}

/// What is not measured violates every limit that was set, and only those.
fn limits(report: &Report) -> Vec<ThresholdViolation> {
    let nothing = Measured::default();
    let of_tools = report.thresholds.tool.iter().flat_map(|tool| tool.evaluate(&nothing));
    report.thresholds.evaluate(&nothing).into_iter().chain(of_tools).collect()
}

fn of_limit(limit: &ThresholdViolation, report: &Report) -> Case {
    let name = match &limit.tool {
        Some(tool) => format!("{} [{tool}] {}", limit.metric, limit.expected),
        None => format!("{} {}", limit.metric, limit.expected),
    };
    let is_this =
        |other: &&ThresholdViolation| other.metric == limit.metric && other.tool == limit.tool;
    let ending = match report.threshold_violations.iter().find(is_this) {
        Some(ThresholdViolation { expected, actual, .. }) => {
            Ending::Bad(format!("expected {expected}, got {actual}"), Vec::new())
        }
        None => Ending::Good(String::new()),
    };
    Case::new("threshold", name, ending)
}

fn of_comparison(comparison: &Comparison) -> Case {
    let told = format!("{}: {}", comparison.verdict.name(), comparison.headline());
    let ending = match (comparison.exit(), comparison.verdict) {
        (Exit::Pass, ComparisonVerdict::Pass) => Ending::Good(told),
        (Exit::Pass, _) => Ending::Open(told),
        _ => Ending::Bad(told, Vec::new()),
    };
    Case::new("comparison", "baseline", ending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn limits_findings_and_the_verdict_are_cases() {
        let mut report = fixture::violated();
        report.findings.push(Finding {
            message: "it <hung> & \u{1b}[31mdied\u{0}".into(),
            severity: Severity::Critical,
            ..report.findings[0].clone()
        });
        insta::assert_snapshot!(of_run(&report, None));
    }

    #[test]
    fn a_run_without_limits_and_findings_has_its_verdict() {
        let xml = of_run(&fixture::healthy(), None);
        assert!(xml.contains("name=\"verdict\" classname=\"mcp-loadtest.run\""), "{xml}");
        assert!(xml.contains("failures=\"0\""), "{xml}");
    }
}
