//! Limits: on all calls and on single tools, judged at the end or as soon as they are not kept.

use std::time::Duration;

use mcp_loadtest::{Run, RunError, Scenario, Thresholds, Verdict};
use mcp_loadtest_core::{
    hint::Hint as _,
    server::{ServerBuilder, Started},
    thresholds::ToolThresholds,
};

use super::{SECOND, report};
use crate::fixtures::{mock, verdict};

/// Every call takes so long.
fn slow(seconds: &str) -> ServerBuilder<Started> {
    mock("mock-slow").env("MOCK_THREADED", "1").env("MOCK_DELAY_S", seconds)
}

fn at_most(latency: Duration) -> Thresholds {
    Thresholds { p95_latency: latency, ..Default::default() }
}

#[tokio::test]
async fn a_run_ends_as_soon_as_a_limit_is_not_kept() {
    // So slow that nobody takes calls that a busy machine sends late by a second for the reason; so
    // few a second that a server with a thread for each does not become the reason.
    let closed = Scenario::sustained().concurrent(64).duration(SECOND * 600).tool("echo");
    let open = Scenario::sustained().rate(100.0).duration(SECOND * 600).tool("echo");
    for scenario in [closed, open] {
        let run = Run::new(slow("3"), scenario.abort_on_fail(true));
        let report = report(run.with_thresholds(at_most(SECOND / 50))).await;
        assert_eq!(report.verdict, Verdict::Fail, "{:#?}", report.findings);
        assert!(report.throughput.total_requests >= 100, "a hasty end");
        assert!(report.duration < SECOND * 300, "{:?}", report.duration);
        assert!(report.finding("ended_on_fail").is_some(), "{:#?}", report.findings);
        assert!(!report.interrupted && report.finding("client_bound").is_none());
    }
}

/// A ramp that ends at its first steps was not asked for the rates of the last ones.
#[tokio::test]
async fn a_ramp_that_ends_early_is_not_blamed_on_the_generator() {
    use mcp_loadtest::{Level, Rate};
    let rate = |per_second| Level::Rate(Rate::per_second(per_second));
    let scenario = Scenario::ramp().levels(rate(100.0), rate(5_000.0)).duration(SECOND * 600);
    let run = Run::new(slow("3"), scenario.tool("echo").abort_on_fail(true));
    let report = report(run.with_thresholds(at_most(SECOND / 50))).await;
    assert!(!report.validity.client_bound, "{:#?}", report.validity.reasons);
    assert_eq!(report.verdict, Verdict::Fail, "{:#?}", report.findings);
}

#[tokio::test]
async fn a_run_that_keeps_its_limits_goes_on_to_its_end() {
    let scenario = Scenario::sustained().concurrent(8).duration(SECOND * 3).tool("echo");
    let run = Run::new(slow("0.05"), scenario.abort_on_fail(true));
    let report = report(run.with_thresholds(at_most(SECOND * 5))).await;
    assert_eq!(verdict(&report), Verdict::Pass, "{:#?}", report.findings);
    assert!(report.throughput.total_requests > 100 && report.duration >= SECOND * 3);
}

#[tokio::test]
async fn limits_on_single_tools_fail_and_hold_by_themselves() {
    let two_tools = || mock("mock-serial").env("MOCK_THREADED", "1").env("MOCK_DELAY_S", "1");
    let limit = |tool: &str, p50_latency| Thresholds {
        tool: vec![ToolThresholds { p50_latency, ..ToolThresholds::new(tool) }],
        ..Default::default()
    };
    let scenario = || {
        Scenario::sustained().concurrent(4).duration(SECOND * 2).tool("echo").tool("slow").build()
    };
    let limited = |thresholds| Run::new(two_tools(), scenario()).with_thresholds(thresholds);
    let failed = report(limited(limit("slow", SECOND / 2))).await;
    assert_eq!(failed.verdict, Verdict::Fail, "{:#?}", failed.findings);
    let violation = &failed.threshold_violations[0];
    assert_eq!((violation.tool.as_deref(), failed.threshold_violations.len()), (Some("slow"), 1));
    let held = report(limited(limit("echo", SECOND / 2))).await;
    assert_eq!(held.threshold_violations, [], "{:?}", held.tools[0].latency.p50);
    assert!(held.passed(), "{:#?}", held.findings);
}

#[tokio::test]
async fn a_limit_on_a_tool_that_is_not_called_is_an_error_with_a_suggestion() {
    let limits = Thresholds {
        tool: vec![ToolThresholds { p50_latency: SECOND, ..ToolThresholds::new("ecko") }],
        ..Default::default()
    };
    let run = Run::new(mock("mock-normal"), Scenario::sustained().tool("echo"));
    let error = run.with_thresholds(limits).execute().await.expect_err("it is never called");
    assert!(matches!(error, RunError::LimitOnUncalledTool { .. }), "{error}");
    assert_eq!(error.hint().as_deref(), Some("did you mean `echo`?"));
}

#[tokio::test]
async fn a_search_needs_a_limit_and_does_not_end_on_it() {
    let search = || Scenario::capacity().tool("echo");
    let without = Run::new(mock("mock-normal"), search()).execute().await;
    assert!(matches!(without, Err(RunError::Config(_))), "{without:?}");
    let ends = Run::new(mock("mock-normal"), search().abort_on_fail(true));
    let ends = ends.with_thresholds(at_most(SECOND)).execute().await;
    assert!(matches!(ends, Err(RunError::Config(_))), "{ends:?}");
}
