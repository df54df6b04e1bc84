//! Every form of the same results.

use serde_json::Map;

use super::*;
use crate::{
    check::{CaseResult, CaseVerdict, Family},
    suite::{
        expect::Mismatch,
        recovery::{CallFault, Judged, RecoveryVerdict, TracedCall, Trajectory},
        result::{Outcome, Repeats, TestKind, TestResult},
    },
};

fn test(name: &str, kind: TestKind, outcome: Outcome) -> TestResult {
    TestResult {
        outcome,
        took_ms: 12.0,
        line: Some(7),
        reproduce: format!("mcp-loadtest test suite.yml --name '{name}'"),
        ..TestResult::new("suite.yml", name, kind)
    }
}

fn agent() -> TestResult {
    let call = TracedCall {
        server: "api".into(),
        tool: "search".into(),
        args: Map::new(),
        text: "MCP error -32001: Request timed out".into(),
        is_error: true,
        is_unread: false,
        started_ms: 0,
        ended_ms: 3_000,
        aimed_at: true,
        fault: Some(CallFault { name: "hung-search".into(), is_silent: true }),
    };
    let why = "it names `INC-4242`, which neither the task nor any tool gave";
    let judged = Judged {
        verdict: RecoveryVerdict::Fabricated,
        why: why.into(),
        evidence: vec!["INC-7731".into()],
        detections: 1,
        times: None,
        total_hang_ms: 3_000,
        failures: vec![Mismatch::new("recovery.verdict", format!("fabricated: {why}"))],
    };
    TestResult {
        failures: judged.failures.clone(),
        recovery: Some(judged),
        trajectory: Some(Trajectory {
            calls: vec![call],
            final_response: "INC-4242".into(),
            ..Trajectory::default()
        }),
        ..test("agent <recovers>", TestKind::Agent, Outcome::Failed)
    }
}

fn report() -> SuiteReport {
    let mut negative = test("search rejects", TestKind::Tool, Outcome::Failed);
    negative.failures = vec![Mismatch::new("negative_path.failures", "got 1, wanted 0")];
    negative.cases = vec![
        CaseResult::new("wrong_type", Family::NegativePath, "`query` is 5", CaseVerdict::Accepted)
            .detail("it was carried out"),
        CaseResult::new("oversized", Family::NegativePath, "1 MiB", CaseVerdict::Held),
    ];
    let mut flaky = test("flaky", TestKind::Tool, Outcome::Passed);
    flaky.repeats = Some(Repeats::new(10, 10));
    let mut skipped = test("later", TestKind::Prompt, Outcome::Skipped);
    skipped.reason = "waits for 2.0".into();
    let mut broken = test("unreached", TestKind::Resource, Outcome::Broken);
    broken.reason = "cannot connect to http://127.0.0.1:9/mcp\x1b[2J".into();
    SuiteReport::new(vec![flaky, negative, skipped, broken, agent()], 80.0, 1, false)
}

#[test]
fn for_people() {
    let text = (form("terminal").unwrap().render)(&report());
    insta::assert_snapshot!(anstream_free(&text));
}

/// The text without colours.
fn anstream_free(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[test]
fn for_ci_servers() {
    insta::assert_snapshot!((form("junit").unwrap().render)(&report()));
}

#[test]
fn for_summaries_and_annotations() {
    insta::assert_snapshot!((form("markdown").unwrap().render)(&report()));
    insta::assert_snapshot!("annotations", (form("github").unwrap().render)(&report()));
    insta::assert_snapshot!("code_quality", (form("code_quality").unwrap().render)(&report()));
}

/// The page, but for what every page has.
#[test]
fn for_browsers() {
    let page = (form("html").unwrap().render)(&report());
    let body = page.split_once("<body>").unwrap().1.split_once("<script").unwrap().0;
    assert!(!body.contains("<recovers>") && !body.contains('\x1b'), "{body}");
    insta::assert_snapshot!(body.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
fn what_is_written_as_json_reads_back_and_keeps_to_its_schema() {
    let text = (form("json").unwrap().render)(&report());
    let again: SuiteReport = serde_json::from_str(&text).unwrap();
    assert_eq!(again, report());
    let validator = jsonschema::validator_for(&SuiteReport::json_schema()).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn what_could_not_be_carried_out_weighs_more_than_what_failed() {
    use crate::exit::Exit;
    let exit = |outcomes: &[Outcome], interrupted| {
        let tests = outcomes.iter().map(|outcome| test("t", TestKind::Tool, *outcome)).collect();
        SuiteReport::new(tests, 0.0, 0, interrupted).exit()
    };
    assert_eq!(exit(&[Outcome::Passed, Outcome::Skipped], false), Exit::Pass);
    assert_eq!(exit(&[Outcome::Passed, Outcome::Failed], false), Exit::Fail);
    assert_eq!(exit(&[Outcome::Failed, Outcome::Broken], false), Exit::Usage);
    assert_eq!(exit(&[Outcome::Failed, Outcome::NotRun], true), Exit::Interrupted);
}
