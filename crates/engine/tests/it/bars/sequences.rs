//! Sequences: those that come with the tool, and one's own, with what follows a step that fails.

use std::time::Duration;

use mcp_loadtest::{
    ErrorBehavior, PatternName, Report, Run, Scenario, Sequence, SequenceStep, ThinkTime, Verdict,
};
use mcp_loadtest_core::{
    config::Arguments,
    server::{ServerBuilder, Started},
};
use serde_json::json;

use super::{SECOND, report};
use crate::fixtures::{inline_mock, mock, verdict};

/// Refuses calls whose text is `bad`.
fn choosy() -> ServerBuilder<Started> {
    inline_mock(
        "from _common import *\n\
         FAILURE = {'content': [{'type': 'text', 'text': 'no'}], 'isError': True}\n\
         def call(request):\n    \
             bad = params_of(request)['arguments'].get('text') == 'bad'\n    \
             return ok(request, FAILURE) if bad else echo(request)\n\
         serve(call)",
    )
}

fn call(text: &str) -> SequenceStep {
    let args = Some(Arguments(json!({ "text": text })));
    SequenceStep { tool: Some("echo".into()), args, ..Default::default() }
}

fn list() -> SequenceStep {
    SequenceStep { method: Some("tools/list".into()), ..Default::default() }
}

fn sequence(error_behavior: ErrorBehavior, steps: Vec<SequenceStep>) -> Sequence {
    let think_time = ThinkTime::fixed(Duration::from_millis(1));
    Sequence { name: "own".into(), weight: 1.0, think_time, error_behavior, steps }
}

async fn own(behavior: ErrorBehavior, steps: Vec<SequenceStep>) -> Report {
    let scenario = Scenario::pattern().concurrent(2).duration(SECOND * 3);
    report(Run::new(choosy(), scenario.sequence(sequence(behavior, steps)))).await
}

/// Good calls, refused calls, and requests for the list that follow them.
fn counts(report: &Report) -> (u64, u64, u64) {
    let of = |name: &str| report.tools.iter().find(|tool| tool.name == name);
    let good = of("echo").map_or(0, |tool| tool.successful_requests);
    let listed = of("tools/list").map_or(0, |tool| tool.total_requests);
    (good, report.errors.total, listed)
}

#[tokio::test]
async fn what_follows_a_step_that_fails_is_as_it_was_asked_for() {
    let steps = || vec![call("good"), call("bad"), list()];
    let (good, bad, listed) = counts(&own(ErrorBehavior::Continue, steps()).await);
    assert!(good > 3 && good == bad && bad == listed, "continue: {good} {bad} {listed}");
    let (good, bad, listed) = counts(&own(ErrorBehavior::Abort, steps()).await);
    assert!(good > 3 && good == bad && listed == 0, "abort: {good} {bad} {listed}");
    let (good, bad, listed) = counts(&own(ErrorBehavior::Retry, steps()).await);
    assert!(good > 3 && 2 * good == bad && good == listed, "retry: {good} {bad} {listed}");
}

/// A sequence of one step is no single call: it may be made again, or end the run.
#[tokio::test]
async fn a_sequence_of_one_step_has_its_error_behavior_too() {
    let (_, bad, _) = counts(&own(ErrorBehavior::Continue, vec![call("bad")]).await);
    assert!(bad > 3, "{bad}");
    let retried = own(ErrorBehavior::Retry, vec![call("bad")]).await;
    assert_eq!(retried.errors.total % 2, 0, "each is made twice");
    let stopped = own(ErrorBehavior::Stop, vec![call("bad")]).await;
    assert!((1..=2).contains(&stopped.errors.total), "{}", stopped.errors.total);
    assert!(stopped.finding("aborted").is_some(), "{:#?}", stopped.findings);
}

#[tokio::test]
async fn a_step_that_fails_may_end_the_run() {
    let scenario = Scenario::pattern().concurrent(2).duration(SECOND * 600);
    let steps = vec![call("good"), call("bad"), list()];
    let stops = scenario.sequence(sequence(ErrorBehavior::Stop, steps));
    let report = report(Run::new(choosy(), stops)).await;
    assert!((1..=2).contains(&report.errors.total), "{}", report.errors.total);
    assert!(report.finding("aborted").is_some() && report.duration < SECOND * 300);
}

#[tokio::test]
async fn the_sequences_that_come_with_the_tool_run_on_a_healthy_server() {
    let explore = Scenario::pattern().concurrent(4).duration(SECOND);
    let explored = report(Run::new(mock("mock-normal"), explore)).await;
    assert_eq!(verdict(&explored), Verdict::Pass, "{:#?}", explored.findings);
    let (good, bad, listed) = counts(&explored);
    assert!(listed > 3 && good >= listed && bad == 0, "{good} {bad} {listed}");
    let write = Scenario::pattern().concurrent(4).duration(SECOND).tool("slow");
    let write = write.pattern(PatternName::ReadThenWrite);
    let server = mock("mock-serial").env("MOCK_DELAY_S", "0.01").env("MOCK_THREADED", "1");
    let written = report(Run::new(server, write)).await;
    assert_eq!(verdict(&written), Verdict::Pass, "{:#?}", written.findings);
    let names: Vec<_> = written.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "slow"], "first what reads, then what was named");
    let unnamed = Scenario::pattern().pattern(PatternName::ReadThenWrite);
    let error = Run::new(mock("mock-normal"), unnamed).execute().await.expect_err("none is named");
    assert!(error.to_string().contains("none is called unasked"), "{error}");
}
