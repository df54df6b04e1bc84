//! Every form, with texts that try to be more than text.

use super::*;

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
