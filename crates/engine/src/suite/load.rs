//! A load test: it fails when a threshold is violated or a bug is found.

use mcp_loadtest_core::{
    report::Severity,
    suite::{Outcome, TestResult, expect::Mismatch},
};

use super::{choose::Case, desk::Desk, pool::Pool};
use crate::{Report, Run};

/// Carries the test out.
pub(super) async fn carry_out(
    desk: &Desk,
    case: Case,
    mut result: TestResult,
    pool: &mut Pool,
) -> TestResult {
    match measure(desk, case, pool).await {
        Ok(report) => {
            result.failures = failures(&report);
            result.outcome = if report.passed() { Outcome::Passed } else { Outcome::Failed };
        }
        Err(why) => {
            result.outcome = Outcome::Broken;
            result.reason = why;
        }
    }
    result
}

async fn measure(desk: &Desk, case: Case, pool: &Pool) -> Result<Report, String> {
    let loaded = &desk.suites[case.suite];
    let test = &loaded.suite.loads[case.index];
    let name = loaded.server_name(test.server.as_deref());
    let known = pool.servers().get(case.suite, name).await?;
    let scenario = test.scenario.to_scenario(&test.thresholds);
    let scenario = scenario.map_err(|error| error.to_string())?;
    // Whoever drops the future ends the run.
    let run = Run::new(known.server.clone(), scenario).with_thresholds(test.thresholds.clone());
    run.execute().await.map_err(|error| error.to_string())
}

/// Why it does not pass.
fn failures(report: &Report) -> Vec<Mismatch> {
    let violated = report.threshold_violations.iter().map(|violation| {
        let tool = violation.tool.as_ref().map_or_else(String::new, |tool| format!(" of `{tool}`"));
        let why = format!("{}{tool}, wanted {}", violation.actual, violation.expected);
        Mismatch::new(format!("thresholds.{}", violation.metric), why)
    });
    let bugs = report.findings.iter().filter(|finding| finding.severity == Severity::Critical);
    let bugs = bugs.map(|finding| Mismatch::new(finding.id.clone(), finding.message.clone()));
    let mut failures: Vec<_> = violated.chain(bugs).collect();
    if failures.is_empty() && !report.passed() {
        failures.push(Mismatch::new("verdict", report.verdict.name()));
    }
    failures
}
