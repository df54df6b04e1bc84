//! Calls that wait for others, and bursts that leave a mark.

use serde_json::json;

use mcp_loadtest::{Run, Scenario, ToolCall, Verdict};
use mcp_loadtest_core::server::{ServerBuilder, Started};

use super::{SECOND, figure, report};
use crate::fixtures::{inline_mock, mock};

fn mix() -> Scenario {
    let scenario = Scenario::slow_mix().concurrent(4).duration(SECOND * 3);
    scenario.tool("echo").slow(ToolCall::new("slow")).build()
}

#[tokio::test]
async fn a_mix_tells_a_serial_server_from_a_parallel_one() {
    let server = || mock("mock-serial").env("MOCK_DELAY_S", "0.3");
    let (serial, parallel) = tokio::join!(
        report(Run::new(server(), mix())),
        report(Run::new(server().env("MOCK_THREADED", "1"), mix())),
    );
    assert_eq!(serial.verdict, Verdict::Warning, "{:#?}", serial.findings);
    let beside = figure(&serial, "head_of_line_blocking", "beside_p50_ms");
    let alone = figure(&serial, "head_of_line_blocking", "alone_p50_ms");
    assert!(beside > 90.0 && beside > alone * 5.0, "{alone} ms alone, {beside} ms beside");
    assert!(parallel.finding("head_of_line_blocking").is_none(), "{:#?}", parallel.findings);
    // The machine itself is something that is shared; it is not a queue.
    assert!(parallel.finding("head_of_line_unclear").is_none(), "{:#?}", parallel.findings);
    let labels: Vec<_> = serial.segments.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(labels, ["fast calls alone", "fast calls beside slow ones", "the slow calls"]);
    assert!(serial.segments[2].latency.p50.as_secs_f64() > 0.29, "{:#?}", serial.segments[2]);
}

/// The slow tool need not be named: of two, the slower one is found.
#[tokio::test]
async fn the_slower_of_two_tools_is_found() {
    // Each is tried once: the fast one must not be slower where it gets no CPU for a second.
    let server = mock("mock-serial").env("MOCK_DELAY_S", "1.2");
    let scenario = Scenario::slow_mix().concurrent(3).duration(SECOND * 6);
    let report = report(Run::new(server, scenario.tool("slow").tool("echo"))).await;
    assert!(report.finding("head_of_line_blocking").is_some(), "{:#?}", report.findings);
    assert!(report.finding("head_of_line_blocking").expect("it is").message.starts_with("`echo`"));
}

/// One tool is often slow or fast by its arguments.
#[tokio::test]
async fn one_tool_with_two_arguments_can_be_mixed() {
    let server = inline_mock(
        "import time\nfrom _common import *\n\
         def call(request):\n    \
             time.sleep(params_of(request)['arguments'].get('seconds', 0))\n    \
             return echo(request)\n\
         serve(call)",
    );
    let slow = ToolCall::new("echo").args(json!({ "seconds": 0.2 }));
    let scenario = Scenario::slow_mix().concurrent(3).duration(SECOND * 4).tool("echo").slow(slow);
    let report = report(Run::new(server, scenario)).await;
    assert!(report.finding("head_of_line_blocking").is_some(), "{:#?}", report.findings);
}

/// Ten slots of 20 ms: of sixty callers at once fifty wait.
fn server() -> ServerBuilder<Started> {
    mock("mock-semaphore").env("MOCK_SLOTS", "10").env("MOCK_SERVICE_S", "0.02")
}

#[tokio::test]
async fn a_server_that_stays_slow_after_a_burst_is_told_from_one_that_recovers() {
    let scenario = Scenario::spike()
        .concurrent(2, 60)
        .duration(SECOND * 8)
        .burst(SECOND * 2, SECOND)
        .tool("echo")
        .build();
    let (recovers, stuck) = tokio::join!(
        report(Run::new(server(), scenario.clone())),
        report(Run::new(server().env("MOCK_STUCK_ABOVE", "20"), scenario.clone())),
    );
    assert!(recovers.finding("no_recovery").is_none(), "{:#?}", recovers.findings);
    assert_eq!(recovers.segments.len(), 3);
    let before = figure(&stuck, "no_recovery", "before_ms");
    let now = figure(&stuck, "no_recovery", "at_the_end_ms");
    assert!(before < 100.0 && now > 150.0, "{before} ms before, {now} ms at the end");
}
