//! JUnit XML, as CI servers read it: a file is a suite, a test is a test case.

use std::{collections::BTreeMap, time::Duration};

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::suite::{
    recovery::Judged,
    result::{Outcome, SuiteReport, TestResult},
};

pub(super) fn render(report: &SuiteReport) -> String {
    let mut suites: BTreeMap<&str, Vec<&TestResult>> = BTreeMap::new();
    for test in &report.tests {
        suites.entry(&test.suite).or_default().push(test);
    }
    let mut junit = Report::new("mcp-loadtest test");
    junit.set_time(milliseconds(report.took_ms));
    for (file, tests) in suites {
        let mut suite = TestSuite::new(file);
        suite.set_time(milliseconds(tests.iter().map(|test| test.took_ms).sum()));
        suite.add_test_cases(tests.into_iter().map(case));
        junit.add_test_suite(suite);
    }
    // Writing to memory cannot fail.
    junit.to_string().unwrap_or_default()
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

fn case(test: &TestResult) -> TestCase {
    let status = match test.outcome {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Failed => told(TestCaseStatus::non_success(NonSuccessKind::Failure), test),
        Outcome::Broken => told(TestCaseStatus::non_success(NonSuccessKind::Error), test),
        Outcome::Skipped | Outcome::NotRun => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(test.reason.as_str());
            status
        }
    };
    let mut case = TestCase::new(test.name.as_str(), status);
    case.set_classname(test.kind.section()).set_time(milliseconds(test.took_ms));
    case.add_properties(properties(test));
    case
}

fn told(mut status: TestCaseStatus, test: &TestResult) -> TestCaseStatus {
    let told: Vec<_> = test
        .failures
        .iter()
        .map(|failure| format!("{}: {}", failure.target, failure.message))
        .chain((!test.reason.is_empty()).then(|| test.reason.clone()))
        .chain((!test.reproduce.is_empty()).then(|| format!("again: {}", test.reproduce)))
        .collect();
    status.set_message(told.first().cloned().unwrap_or_default());
    status.set_description(told.join("\n"));
    status
}

/// Its family and how an agent recovered, where CI servers show such things.
fn properties(test: &TestResult) -> Vec<Property> {
    let family = test.family.map(|family| Property::new("family", family.word()));
    let recovery = test.recovery.as_ref().map(|judged| recovery(judged, test));
    family.into_iter().chain(recovery.into_iter().flatten()).collect()
}

fn recovery(judged: &Judged, test: &TestResult) -> Vec<Property> {
    let calls = test.trajectory.as_ref().map(|trajectory| {
        let calls: Vec<_> = trajectory.calls.iter().map(|call| call.tool.as_str()).collect();
        Property::new("trajectory", calls.join(" -> "))
    });
    [
        Property::new("recovery.verdict", judged.verdict.name()),
        Property::new("recovery.why", judged.why.as_str()),
        Property::new("recovery.evidence", judged.evidence.join(", ")),
        Property::new("recovery.detections", judged.detections.to_string()),
    ]
    .into_iter()
    .chain(calls)
    .collect()
}
