//! What calls leave behind in a server that is watched for long.

use std::time::Duration;

use mcp_loadtest::{Level, Rate, Run, Scenario, Verdict};

use super::{SECOND, assert_within, figure, report};
use crate::fixtures::mock;

const RATE: f64 = 150.0;

fn soak(length: Duration) -> Scenario {
    Scenario::soak()
        .load(Level::Rate(Rate::per_second(RATE)))
        .duration(length)
        .sample_interval(SECOND / 2)
        .tool("echo")
        .build()
}

#[tokio::test]
async fn a_soak_finds_a_leak_and_how_fast_it_is() {
    // 10 KiB a call, so 1.46 MiB a second: 29 MiB in twenty seconds.
    let report = report(Run::new(mock("mock-leak"), soak(SECOND * 20))).await;
    let expected = RATE * 10.0 / 1024.0;
    assert_within(figure(&report, "leak_detected", "per_sec"), expected, 0.2, "MB a second");
    assert_within(figure(&report, "leak_detected", "kb_per_call"), 10.0, 0.2, "KB a call");
    assert_eq!(report.verdict, Verdict::Critical);
}

#[tokio::test]
async fn a_soak_finds_files_that_stay_open() {
    let report = report(Run::new(mock("mock-descriptor-leak"), {
        let scenario = Scenario::soak().load(Level::Rate(Rate::per_second(20.0)));
        scenario.duration(SECOND * 12).sample_interval(SECOND / 2).tool("echo")
    }))
    .await;
    assert_within(figure(&report, "descriptor_leak", "per_sec"), 20.0, 0.2, "files a second");
    assert!(report.finding("leak_detected").is_none(), "{:#?}", report.findings);
}

/// `MCP_LOADTEST_SOAKS` says how often; more than once is for those who have the time.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test has no `Env`")]
async fn a_healthy_server_is_clean_after_a_soak() {
    let times =
        std::env::var("MCP_LOADTEST_SOAKS").map_or(1, |times| times.parse().expect("a number"));
    for _ in 0..times {
        let report = report(Run::new(mock("mock-normal"), soak(SECOND * 20))).await;
        let blamed = ["leak_detected", "leak_indeterminate", "descriptor_leak"];
        assert!(blamed.iter().all(|id| report.finding(id).is_none()), "{:#?}", report.findings);
    }
}
