//! What was due and not sent, and who was the limit.

use std::time::Duration;

use mcp_loadtest::{Run, Scenario, Server, Verdict};
use mcp_loadtest_mock::Mock;

use super::{SECOND, report};
use crate::fixtures::mock;

#[tokio::test]
async fn calls_that_find_no_room_are_dropped_and_counted() {
    // Four calls at once, each for three seconds: twelve of the hundred a second that are due. A
    // machine that sends one of them late by a part of that is no matter.
    let server = mock("mock-slow").env("MOCK_THREADED", "1").env("MOCK_DELAY_S", "3");
    let scenario = Scenario::sustained().rate(100.0).max_in_flight(4).duration(SECOND * 9);
    let report = report(Run::new(server, scenario.tool("echo"))).await;
    assert_eq!(report.throughput.total_requests, 900);
    let sent = report.throughput.successful_requests;
    assert_eq!(sent + report.dropped, 900, "{:#?}", report.errors);
    assert!((4..=16).contains(&sent), "{sent} were sent");
    assert_eq!(report.verdict, Verdict::Invalid, "{:#?}", report.findings);
    assert!(report.finding("load_not_offered").is_some(), "{:#?}", report.findings);
    assert!(!report.validity.client_bound, "{:#?}", report.validity.reasons);
}

#[tokio::test]
async fn a_slow_server_is_never_taken_for_a_slow_generator() {
    let server = || mock("mock-slow").env("MOCK_DELAY_S", "0.05");
    let closed = Scenario::sustained().concurrent(64).duration(SECOND * 2).tool("echo");
    // One call after the other: twenty a second of a hundred.
    let open = Scenario::sustained().rate(100.0).duration(SECOND * 2).tool("echo");
    for scenario in [closed, open] {
        let report = report(Run::new(server(), scenario)).await;
        assert!(!report.validity.client_bound, "{:#?}", report.validity);
    }
}

/// A server that has to be started again makes calls late; that is its own doing.
#[tokio::test]
async fn a_server_that_crashes_is_not_blamed_on_the_generator() {
    let server = mock("mock-crash").env("MOCK_CRASH_RATE", "0.05").env("MOCK_SEED", "2");
    let scenario = Scenario::sustained().rate(50.0).duration(SECOND * 3).tool("echo");
    let report = report(Run::new(server, scenario)).await;
    assert_eq!(report.verdict, Verdict::Critical, "{:#?}", report.findings);
    assert!(report.finding("server_crash").is_some());
    assert!(!report.validity.client_bound, "{:#?}", report.validity);
}

#[tokio::test]
async fn a_generator_without_rest_says_so() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let mock = Mock::new().bind(listen).await.expect("a free port");
    let url = mock.url().to_owned();
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async move {
            tokio::time::timeout(Duration::from_secs(30), mock.serve()).await.ok()
        })
    });
    let scenario = Scenario::sustained().concurrent(128).duration(SECOND * 2).tool("echo");
    let report = report(Run::new(Server::http(&url), scenario).with_threads(1)).await;
    let validity = &report.validity;
    // Whether the thread is the limit depends on the machine. What is told must fit the figures.
    let busy = validity.busiest_thread.expect("Linux tells") >= 0.9;
    let starved = validity.starved_thread.expect("Linux tells") >= 0.5;
    assert_eq!(validity.client_bound, busy || starved, "{validity:#?}");
    assert_eq!(validity.client_bound, report.finding("client_bound").is_some());
    assert!(report.throughput.successful_requests > 0 && report.passed());
    drop(serving);
}
