//! A server of known size: where its knee is, and how much it holds.

use std::time::Duration;

use mcp_loadtest::{Level, Rate, Run, Scenario, Thresholds};

use super::{SECOND, assert_measured, report};
use crate::fixtures::mock;

/// Slots of the mock, and how long each is taken by a call.
const SLOTS: f64 = 8.0;
const SERVICE: f64 = 0.05;

#[tokio::test]
async fn a_ramp_finds_the_knee_of_a_semaphore() {
    // Long calls: what a busy machine adds to each is then a small share of it.
    let service = 0.1;
    let ramp = || {
        let scenario = Scenario::ramp().concurrent(1, 20).step_increment(2.0);
        let server = mock("mock-semaphore").env("MOCK_SERVICE_S", service.to_string());
        Run::new(server, scenario.duration(SECOND * 14).tool("echo"))
    };
    assert_measured(ramp, ("breaking_point", "knee"), SLOTS, 0.10).await;
}

/// New callers begin while the replies of the others have arrived but were not yet looked at: such a
/// ramp went on for ever.
#[tokio::test]
async fn a_ramp_of_many_callers_on_a_fast_server_comes_to_its_end() {
    let scenario = Scenario::ramp().concurrent(1, 200).step_increment(4.0).duration(SECOND * 4);
    let report = report(Run::new(mock("mock-normal"), scenario.tool("echo"))).await;
    assert_eq!(report.errors.total, 0, "{:#?}", report.errors);
    assert_eq!(report.segments.len(), 51);
}

#[tokio::test]
async fn a_ramp_of_rates_finds_it_too() {
    let rate = |per_second| Level::Rate(Rate::per_second(per_second));
    // At its end the queue holds two seconds of work, so no call is taken for a hanging one.
    let ramp = || {
        let scenario = Scenario::ramp().levels(rate(20.0), rate(290.0)).duration(SECOND * 12);
        Run::new(mock("mock-semaphore"), scenario.tool("echo"))
    };
    let capacity = ("breaking_point", "capacity_per_sec");
    assert_measured(ramp, capacity, SLOTS / SERVICE, 0.10).await;
}

#[tokio::test]
async fn a_ramp_within_the_room_of_a_server_has_no_knee() {
    let scenario = Scenario::ramp().concurrent(1, 6).duration(SECOND * 4);
    let report = report(Run::new(mock("mock-semaphore"), scenario.tool("echo"))).await;
    let told = report.finding("breaking_point").expect("it is told");
    assert!(!told.figures.contains_key("knee"), "{told:#?}");
    assert!(report.finding("throughput_collapse").is_none());
}

fn search(hold: Duration, limits: Thresholds) -> Run {
    let scenario = Scenario::capacity().rates(100.0, 800.0).hold(hold).tool("echo");
    Run::new(mock("mock-semaphore"), scenario).with_thresholds(limits)
}

/// No latency is limited and no call fails, but a queue that grows is held by nobody.
#[tokio::test]
async fn a_search_without_a_limit_on_latency_finds_it_too() {
    let limits = || Thresholds { error_rate: 0.01, ..Thresholds::default() };
    let run = || search(SECOND * 2, limits());
    assert_measured(run, ("capacity", "rate_per_sec"), SLOTS / SERVICE, 0.15).await;
}

#[tokio::test]
async fn a_search_finds_what_a_semaphore_holds() {
    // Beyond its capacity a queue grows: after three seconds at 2.5 % more, calls wait for 75 ms. p95
    // rather than p99, because a pause of this machine delays a few calls in a hundred as well.
    let p95_latency = Duration::from_secs_f64(SERVICE * 2.5);
    let run = || search(SECOND * 3, Thresholds { p95_latency, ..Thresholds::default() });
    assert_measured(run, ("capacity", "rate_per_sec"), SLOTS / SERVICE, 0.05).await;
}
