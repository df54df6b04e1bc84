//! JUnit XML, as CI servers read it: a family is a suite, a check of a tool is a test case. What no check
//! tells, such as a call of a tool that hung, stands in a suite of its own, with the verdict.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{CaseResult, CaseVerdict, Family};
use crate::{
    ci::junit::{self as cases, Case},
    report::Finding,
};

/// A check, and the tool that it was about.
type Test<'r> = (&'r str, Option<&'r str>);

/// What was tried, as JUnit XML. `subject` names the server. Findings that no check tells are cases, too,
/// and the verdict is the last one: where it is bad, no file is without a failure.
pub fn junit(
    subject: &str,
    results: &[CaseResult],
    findings: &[Finding],
    verdict: &Case,
) -> String {
    let mut suites: BTreeMap<Family, BTreeMap<Test<'_>, Vec<&CaseResult>>> = BTreeMap::new();
    for result in results {
        let key = (result.check.as_str(), result.tool.as_deref());
        suites.entry(result.family).or_default().entry(key).or_default().push(result);
    }
    let mut report = Report::new(format!("mcp-loadtest probe {subject}"));
    report.set_time(took(results));
    for (family, tests) in suites {
        let mut suite = TestSuite::new(family.name());
        suite.set_time(took(tests.values().flatten().copied()));
        suite.add_test_cases(tests.iter().map(|(test, results)| case(family, *test, results)));
        report.add_test_suite(suite);
    }
    report.add_test_suite(rest(results, findings, verdict));
    // Writing to memory cannot fail.
    report.to_string().unwrap_or_default()
}

/// What no check tells, and the verdict.
fn rest(results: &[CaseResult], findings: &[Finding], verdict: &Case) -> TestSuite {
    let is_untold = |finding: &&Finding| results.iter().all(|result| result.check != finding.id);
    let mut suite = TestSuite::new("probe");
    for finding in findings.iter().filter(is_untold) {
        suite.add_test_case(cases::case(&Case::of_finding(finding)));
    }
    suite.add_test_case(cases::case(verdict));
    suite
}

fn took<'r>(results: impl IntoIterator<Item = &'r CaseResult>) -> Duration {
    let ms = results.into_iter().filter_map(|result| result.took_ms).sum::<f64>();
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// One check of one tool: it fails with its worst cases, and is skipped where nothing is known.
fn case(family: Family, (check, tool): Test<'_>, results: &[&CaseResult]) -> TestCase {
    let name = tool.map_or_else(|| check.to_owned(), |tool| format!("{check} [{tool}]"));
    let mut case = TestCase::new(name, status(results));
    case.set_classname(format!("mcp-loadtest.{}", family.name()));
    case.set_time(took(results.iter().copied()));
    case
}

fn status(results: &[&CaseResult]) -> TestCaseStatus {
    let failed: Vec<_> = results.iter().filter(|result| result.fails()).collect();
    if let Some(first) = failed.first() {
        let told: Vec<_> = failed.iter().map(|result| told(result)).collect();
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(first.verdict.words());
        status.set_message(told_first(first)).set_description(told.join("\n"));
        return status;
    }
    match results.first() {
        Some(first) if results.iter().all(|result| !result.was_tried()) => {
            let is_unsure = first.verdict == CaseVerdict::CouldNotTell;
            let word = if is_unsure { "could not tell: " } else { "" };
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("{word}{}", first.detail));
            status
        }
        _ => TestCaseStatus::success(),
    }
}

fn told_first(result: &CaseResult) -> String {
    format!("{}: {}", result.case, result.verdict.words())
}

fn told(result: &CaseResult) -> String {
    let mut text = told_first(result);
    for (label, value) in [
        ("", Some(&result.detail)),
        ("see ", result.reference.as_ref()),
        ("sent ", result.sent.as_ref()),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = write!(text, "; {label}{value}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ci::junit::Ending, report::Severity};

    #[test]
    fn what_failed_what_held_and_what_was_skipped_can_be_told_apart() {
        let case =
            |check, verdict| CaseResult::new(check, Family::Envelope, "a <b> & \"c\" ]]>", verdict);
        let results = [
            case("one", CaseVerdict::Held).took(Duration::from_millis(1_234)),
            case("two", CaseVerdict::Crashed).detail("exit 1\u{1b}[31m\u{0} ]]> <a>").tool("t"),
            case("two", CaseVerdict::Rejected).tool("t"),
            case("three", CaseVerdict::Skipped).detail("no tools"),
        ];
        let finding = |id: &str, severity| Finding {
            id: id.into(),
            severity,
            message: "2 calls were never answered".into(),
            evidence: vec!["`echo` after 5 s".into()],
            figures: BTreeMap::new(),
            hint: None,
            meaning: None,
            reproduce: None,
        };
        let findings =
            [finding("two", Severity::Critical), finding("deadlock", Severity::Critical)];
        let verdict = Ending::Bad("the verdict is CRITICAL".into(), Vec::new());
        let verdict = Case::new("probe", "verdict", verdict);
        let text = junit("python3 'a b'.py", &results, &findings, &verdict);
        let read = Report::deserialize_from_str(&text).unwrap();
        let cases: Vec<_> = read.test_suites[0].test_cases.iter().collect();
        let failed = format!("{:?}", cases[2].status);
        let said = r#"a <b> & \"c\" ]]>: crashed; exit 1 ]]> <a>"#;
        assert!(failed.contains(said), "{failed}");
        insta::assert_snapshot!(text);
    }
}
