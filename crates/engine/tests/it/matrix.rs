//! Scenario x mock: one table of what must come out.

use std::time::Duration;

use mcp_loadtest::{ErrorCategory, Report, Run, Scenario, Thresholds, Verdict};

use crate::fixtures::mock;

async fn probe(name: &str, hang: Duration, grace: Duration) -> Report {
    let scenario = Scenario::deadlock_probe().concurrent(5).hang_threshold(hang).grace_period(grace).tool("echo");
    Run::new(mock(name), scenario).execute().await.unwrap()
}

#[tokio::test]
async fn a_wedged_server_is_a_deadlock() {
    let report = probe("mock-broken.py", Duration::from_millis(500), Duration::from_secs(1)).await;
    assert_eq!(report.verdict, Verdict::Critical);
    assert_eq!(report.deadlock_count, 5, "{report:#?}");
    assert!(report.finding("deadlock").unwrap().message.contains("wedged"));
}

#[tokio::test]
async fn a_healthy_server_passes() {
    let report = probe("mock-normal.py", Duration::from_secs(5), Duration::from_secs(10)).await;
    assert_eq!(report.verdict, Verdict::Pass, "{:#?}", report.findings);
    assert_eq!(report.throughput.successful_requests, 10);
}

#[tokio::test]
async fn sustained_load_on_a_healthy_server_passes() {
    let scenario = Scenario::sustained().concurrent(8).duration(Duration::from_secs(2)).tool("echo");
    let report = Run::new(mock("mock-normal.py"), scenario)
        .with_thresholds(Thresholds { error_rate: 0.0, ..Default::default() })
        .execute()
        .await
        .unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    assert!(report.throughput.successful_requests > 100);
    assert_eq!(report.errors.by_category.get(&ErrorCategory::Crash), None);
}
