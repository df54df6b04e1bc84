//! Servers that freeze. A caller on a schedule waits as long as a user would; a caller that makes its
//! next call only after the last one was answered hardly notices.

use std::{process::Command, sync::atomic::Ordering::Relaxed, time::Duration};

use mcp_loadtest::{Report, Run, Scenario};
use tokio::time::Instant;

use super::{SECOND, assert_seen, quantile, report};
use crate::{
    fixtures::mock,
    processes::{MARK, marked, unique_mark, until},
};

fn signal(signal: &str, pid: u32) {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(sent.expect("kill can be run").success());
}

/// Stops the server for two seconds in the middle of the run, and tells for how long it was at most: a
/// machine that is busy may let us sleep for longer.
async fn disturbed(scenario: Scenario) -> (Report, Duration) {
    let mark = unique_mark();
    let run = Run::new(mock("mock-normal").env(MARK, &mark), scenario);
    let progress = run.progress();
    let running = tokio::spawn(report(run));
    until("load is on", || progress.ok.load(Relaxed) > 200).await;
    let pids = marked(&mark);
    let [pid] = pids[..] else { panic!("one server, not {pids:?}") };
    let stopped = Instant::now();
    signal("-STOP", pid);
    tokio::time::sleep(SECOND * 2).await;
    signal("-CONT", pid);
    let stop = stopped.elapsed();
    (running.await.expect("no panic"), stop)
}

#[tokio::test]
async fn a_server_that_stops_once_for_two_seconds_is_seen_on_a_schedule_only() {
    let seconds = SECOND * 10;
    let scheduled = Scenario::sustained().rate(100.0).duration(seconds).tool("echo").build();
    let by_turns = Scenario::sustained().concurrent(1).duration(seconds).tool("echo").build();
    assert_seen(async || {
        let ((open, stop), (closed, _)) =
            tokio::join!(disturbed(scheduled.clone()), disturbed(by_turns.clone()));
        assert_eq!(open.throughput.total_requests, 1_000);
        assert_eq!(open.errors.total, 0, "{:#?}", open.findings);
        assert_eq!(open.service.count, 1_000);
        // 200 calls fall due while it is stopped; the ten slowest of all wait for 1.9 s or longer.
        let p99 = open.latency.p99;
        assert!(p99 >= Duration::from_millis(1_500), "p99 {p99:?}");
        assert!(open.latency.max >= Duration::from_millis(1_900), "{:?}", open.latency.max);
        // Calls were sent in time, so their own times tell the same. The other caller hardly notices.
        let as_it_was = p99 <= stop + Duration::from_millis(300)
            && open.service.p99 > SECOND
            && closed.latency.max >= Duration::from_millis(1_900)
            && closed.latency.p99 * 4 < p99;
        let (service, turns) = (open.service.p99, (closed.latency.p99, closed.latency.max));
        as_it_was.then_some(()).ok_or_else(|| {
            format!("stopped {stop:?}, p99 {p99:?}, service {service:?}, by turns {turns:?}")
        })
    })
    .await;
}

#[tokio::test]
async fn a_server_that_freezes_again_and_again_has_the_quantiles_of_arithmetic() {
    // A quarter of the calls falls into a freeze of 500 ms and waits for what is left of it: a tenth
    // of all for 300 ms or longer, a hundredth for 480 ms or longer.
    assert_seen(async || {
        let scenario = Scenario::sustained().rate(1_000.0).duration(SECOND * 8).tool("echo");
        let report = report(Run::new(mock("mock-stall"), scenario)).await;
        assert_eq!(report.throughput.total_requests, 8_000);
        let at = |q| quantile(&report, q).as_secs_f64() * 1e3;
        let (p50, p90, p99) = (at(0.5), at(0.9), at(0.99));
        let service = report.service.p50.as_secs_f64() * 1e3;
        let as_it_was = (200.0..=450.0).contains(&p90)
            && (400.0..=750.0).contains(&p99)
            && p50 * 2.0 < p90
            && service * 2.0 < p90;
        as_it_was.then_some(()).ok_or_else(|| {
            format!("p50 {p50} ms, p90 {p90} ms, p99 {p99} ms, service p50 {service} ms")
        })
    })
    .await;
}
