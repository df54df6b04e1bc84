//! Every form of the same results.

use serde_json::Map;

use super::*;
use crate::{
    check::{CaseResult, CaseVerdict, Family},
    eval::RecoveryReport,
    suite::{
        expect::Mismatch,
        recovery::{CallFault, Judged, Live, RecoveryVerdict, TracedCall, Trajectory},
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

/// An agent that was watched on the wire and came through, after eleven calls.
fn live() -> TestResult {
    let mut live = agent();
    live.outcome = Outcome::Passed;
    live.failures.clear();
    let judged = live.recovery.as_mut().unwrap();
    (judged.verdict, judged.why) = (RecoveryVerdict::Recovered, "it found it elsewhere".into());
    judged.failures.clear();
    judged.times = Some(RecoveryReport {
        time_to_detection_ms: Some(3_000),
        time_to_recovery_ms: None,
        ..RecoveryReport::default()
    });
    live.live = Some(Live {
        retries: 2,
        back_off_ms: vec![100, 250],
        cancels: 1,
        left_running: 1,
        duplicated_effects: 1,
        hang_ms: vec![3_000],
        exit_code: Some(0),
    });
    let trajectory = live.trajectory.as_mut().unwrap();
    let call = trajectory.calls[0].clone();
    let again = TracedCall { is_error: false, fault: None, aimed_at: false, ..call.clone() };
    trajectory.calls = [vec![call.clone(), call], vec![again; 20]].concat();
    live
}

#[test]
fn of_an_agent_that_was_watched() {
    let mut failed = live();
    failed.outcome = Outcome::Failed;
    failed.failures = vec![Mismatch::new("live.retries", "got 2, wanted at most 1")];
    let report = SuiteReport::new(vec![live(), failed], 80.0, 1, false);
    for name in ["terminal", "markdown", "html"] {
        let text = (form(name).unwrap().render)(&report);
        // Style and scripts are the same in all pages.
        let text = text.split("</style>").last().unwrap_or_default();
        let text = text.split("<script").next().unwrap_or_default();
        let text = anstream_free(text).replace(env!("CARGO_PKG_VERSION"), "[version]");
        insta::assert_snapshot!(format!("live_{name}"), text);
    }
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
