//! A trace tells the report of its run again, whatever the scenario, the model and the threads.

use mcp_loadtest::{Level, Rate, Run, Scenario, Server, Thresholds, ToolCall};

use super::SECOND;
use crate::{
    fixtures::{http_mock, mock},
    run_directory::assert_agrees,
};

fn rate(per_second: f64) -> Level {
    Level::Rate(Rate::per_second(per_second))
}

#[tokio::test]
async fn a_schedule_is_told_again_from_its_trace() {
    let scheduled = || Scenario::sustained().rate(200.0).duration(SECOND).tool("echo");
    assert_agrees("open", Run::new(mock("mock-normal"), scheduled())).await;
    let slow = mock("mock-slow").env("MOCK_DELAY_S", "0.1");
    assert_agrees("dropped", Run::new(slow, scheduled().max_in_flight(3))).await;
    let http = http_mock(&[]).await;
    let threaded = Run::new(Server::http(&http.url), scheduled()).with_threads(2);
    assert_agrees("open over HTTP", threaded).await;
}

#[tokio::test]
async fn steps_are_told_again_from_their_trace() {
    let ramp = || Scenario::ramp().concurrent(1, 12).duration(SECOND * 2).tool("echo");
    assert_agrees("ramp", Run::new(mock("mock-semaphore"), ramp())).await;
    let http = http_mock(&[]).await;
    assert_agrees("ramp over HTTP", Run::new(Server::http(&http.url), ramp()).with_threads(2))
        .await;
    let rates = Scenario::ramp().levels(rate(20.0), rate(200.0)).duration(SECOND * 2).tool("echo");
    assert_agrees("rates", Run::new(Server::http(&http.url), rates).with_threads(2)).await;
    let spike =
        Scenario::spike().concurrent(2, 8).duration(SECOND * 2).burst(SECOND / 2, SECOND / 2);
    assert_agrees("spike", Run::new(mock("mock-normal"), spike.tool("echo"))).await;
}

#[tokio::test]
async fn mixes_checks_and_searches_are_told_again_from_their_trace() {
    let mix = Scenario::slow_mix().concurrent(4).duration(SECOND).tool("echo");
    let mix = mix.slow(ToolCall::new("slow"));
    assert_agrees("mix", Run::new(mock("mock-serial").env("MOCK_DELAY_S", "0.1"), mix)).await;
    let race = Scenario::race_check().concurrent(10).rounds(2).tool("echo");
    assert_agrees("race", Run::new(mock("mock-race"), race)).await;
    let cuts = Scenario::reconnect().drops(2).tool("echo");
    assert_agrees("cuts", Run::new(mock("mock-normal"), cuts)).await;
    let search = Scenario::capacity().rates(20.0, 60.0).hold(SECOND / 4).tool("echo");
    let limits = Thresholds { p99_latency: SECOND * 5, ..Default::default() };
    let search = Run::new(mock("mock-normal"), search).with_thresholds(limits);
    assert_agrees("search", search).await;
    let soak = Scenario::soak().concurrent(2).duration(SECOND * 2).sample_interval(SECOND / 10);
    assert_agrees("soak", Run::new(mock("mock-leak"), soak.tool("echo"))).await;
    let limits = Thresholds { p50_latency: SECOND / 100, ..Default::default() };
    let slow = mock("mock-slow").env("MOCK_THREADED", "1").env("MOCK_DELAY_S", "0.05");
    let ends = Scenario::sustained().concurrent(16).duration(SECOND * 60).tool("echo");
    let ends = Run::new(slow, ends.abort_on_fail(true)).with_thresholds(limits);
    assert_agrees("ends early", ends).await;
}
