//! Every form, with texts that try to be more than text.

use std::time::Duration;

use super::*;
use crate::{
    compare::{Candidate, Method, Undecided, fixture},
    suite::{TestKind, expect::Mismatch},
    thresholds::ToolThresholds,
};

fn remarks() -> Vec<Remark> {
    vec![
        Remark {
            details: vec!["100% of calls,\nall: of them".into()],
            file: Some("src/a,b:c.py".into()),
            line: Some(7),
            reproduce: Some("mcp-loadtest probe -s x".into()),
            ..Remark::new("wrong_type", Severity::Warning, "taken: `5`, as if it were text")
        },
        Remark::new("p99_latency", Severity::Critical, "::set-output p99, expected\r\n<=1ms"),
        Remark::new("note", Severity::Info, "<script>alert(1)</script>\u{1b}[2J"),
    ]
}

#[test]
fn annotations_are_escaped_and_the_gravest_come_first() {
    insta::assert_snapshot!(github::annotations(&remarks()));
}

#[test]
fn no_more_annotations_than_are_shown() {
    let many: Vec<_> =
        (0..40).map(|at| Remark::new("x", Severity::Warning, format!("number {at}"))).collect();
    let text = github::annotations(&many);
    assert_eq!(text.lines().count(), 10, "{text}");
    assert!(text.ends_with("and 31 more: see the summary\n"), "{text}");
    assert_eq!(github::annotations(&[]), "");
}

#[test]
fn a_summary_is_never_so_large_that_it_is_dropped() {
    let page = "a line with an é in it\n".repeat(100_000);
    let kept = github::step_summary(&page);
    assert!(kept.len() < 1 << 20 && kept.contains("The rest is too large"), "{}", kept.len());
    assert_eq!(github::step_summary("# a\n"), "# a\n\n");
}

#[test]
fn an_output_is_one_line() {
    let pairs = [("run-dir", "a\nrun-id=forged".to_owned()), ("passed", "true".to_owned())];
    assert_eq!(github::outputs(&pairs), "run-dir=a\\nrun-id=forged\npassed=true\n");
}

#[test]
fn code_quality_has_what_gitlab_asks_for_and_stable_prints() {
    let document = code_quality::document(&remarks());
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
    let twice = [remarks(), remarks()].concat();
    let document = code_quality::document(&twice);
    let prints: std::collections::BTreeSet<_> = document
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["fingerprint"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(prints.len(), 6, "two that are alike are still two");
}

#[test]
fn a_page_for_the_summary() {
    insta::assert_snapshot!(page::render("probe of `python a.py`", &remarks()));
    assert!(page::render("probe", &[]).starts_with("## ✅ probe"));
}

#[test]
fn a_report_comes_to_its_limits_and_its_findings() {
    let mut report = crate::report::fixture::violated();
    report.threshold_violations[0].tool = Some("get_quote".into());
    let finding = &mut report.findings[0];
    finding.hint = Some("look there".into());
    finding.reproduce = Some("mcp-loadtest run".into());
    insta::assert_debug_snapshot!(of_report(&report, Some("a.toml")));
}

#[test]
fn a_comparison_that_is_open_warns_and_only_a_failed_gate_is_grave() {
    let found = |verdict, undecided| {
        let one = Candidate { verdict, ..fixture::candidate("b", Vec::new()) };
        let mut found = fixture::comparison(Method::Seconds, vec![one]);
        found.policy.undecided = undecided;
        found
    };
    use Severity::{Critical, Warning};
    for (verdict, undecided, severity, junit) in [
        (ComparisonVerdict::Pass, Undecided::Pass, None, "</system-out>"),
        (ComparisonVerdict::Undecided, Undecided::Pass, Some(Warning), "<skipped message="),
        (ComparisonVerdict::Undecided, Undecided::Fail, Some(Critical), "<failure message="),
        (ComparisonVerdict::Invalid, Undecided::Pass, Some(Critical), "<failure message="),
        (ComparisonVerdict::Regression, Undecided::Pass, Some(Critical), "<failure message="),
    ] {
        let comparison = found(verdict, undecided);
        let remark = of_comparison(&comparison, Some("a.toml"));
        assert_eq!(remark.as_ref().map(|remark| remark.severity), severity, "{verdict:?}");
        assert!(remark.is_none_or(|remark| remark.file.as_deref() == Some("a.toml")));
        let xml = junit::of_run(&crate::report::fixture::healthy(), Some(&comparison));
        let case = xml.split("<testcase ").find(|case| case.contains("name=\"baseline\""));
        let case = case.unwrap_or_else(|| panic!("no case in {xml}"));
        assert!(case.contains(junit) && case.contains(verdict.name()), "{case}");
    }
}

#[test]
fn a_test_is_told_by_what_is_known_of_it() {
    let test = |name, outcome| TestResult {
        outcome,
        ..TestResult::new("suite.yml", name, TestKind::Tool)
    };
    let mut broken = test("one", Outcome::Broken);
    broken.reason = "cannot connect".into();
    let mut failed = test("two", Outcome::Failed);
    failed.failures = vec![Mismatch::new("text", "got 1, wanted 2")];
    (failed.line, failed.reproduce) = (Some(7), "mcp-loadtest test suite.yml".into());
    let others = [Outcome::Passed, Outcome::Skipped, Outcome::NotRun].map(|of| test("x", of));
    let tests = others.into_iter().chain([broken, failed]).collect();
    let remark = |title: &str, detail: &str, reproduce: Option<&str>, line| Remark {
        details: vec![detail.into()],
        reproduce: reproduce.map(Into::into),
        file: Some("suite.yml".into()),
        line,
        ..Remark::new("test", Severity::Critical, title)
    };
    assert_eq!(
        of_suite(&SuiteReport::new(tests, 0.0, 0, false)),
        [
            remark("one could not be carried out", "cannot connect", None, None),
            remark(
                "two failed",
                "text: got 1, wanted 2",
                Some("mcp-loadtest test suite.yml"),
                Some(7)
            ),
        ]
    );
}

#[test]
fn a_limit_of_a_tool_is_not_that_of_all_calls() {
    let mut report = crate::report::fixture::violated();
    let mut tool = ToolThresholds::new("get_quote");
    (tool.p99_latency, tool.p50_latency) = (Duration::from_millis(50), Duration::from_millis(7));
    report.thresholds.tool = vec![tool];
    let failed = |report: &Report| {
        let xml = junit::of_run(report, None);
        let cases = xml.split("<testcase name=\"").skip(1);
        let limits = cases.filter(|case| case.contains("mcp-loadtest.threshold"));
        let failed =
            |case: &str| (case.split('"').next().unwrap().to_owned(), case.contains("<failure"));
        limits.map(failed).collect::<Vec<_>>()
    };
    let expected = |of_all, p50, p99| {
        [
            ("p99_latency &lt;=100ms".to_owned(), of_all),
            ("error_rate &lt;=1%".to_owned(), of_all),
            ("p50_latency [get_quote] &lt;=7ms".to_owned(), p50),
            ("p99_latency [get_quote] &lt;=50ms".to_owned(), p99),
        ]
    };
    assert_eq!(failed(&report), expected(true, false, false));
    report.threshold_violations.truncate(1);
    report.threshold_violations[0].tool = Some("get_quote".into());
    assert_eq!(failed(&report), expected(false, false, true));
}

#[test]
fn a_blank_line_stands_before_details_and_before_a_command() {
    let plain = Remark::new("x", Severity::Info, "title");
    let detail = Remark { details: vec!["more".into()], ..plain.clone() };
    let command = Remark { reproduce: Some("again".into()), ..plain.clone() };
    for (remark, told) in [
        (plain, "title\n\n"),
        (detail, "title\n\n- more\n\n"),
        (command, "title\n\n- again: `again`\n\n"),
    ] {
        let page = page::render("probe", &[remark]);
        assert_eq!(page, format!("## ✅ probe\n\n### INFO: `x`\n\n{told}"));
    }
    let warned = [Remark::new("x", Severity::Warning, "title")];
    assert!(page::render("probe", &warned).starts_with("## ⚠ probe\n"));
}
