//! Every scenario over every transport in every era, on servers that are well.

use std::sync::Arc;

use mcp_loadtest::{
    Era, Level, Rate, Report, Revision, Run, Scenario, Server, Severity, Thresholds, ToolCall,
    Verdict,
};
use mcp_loadtest_core::scenario::ScenarioName;
use mcp_loadtest_mock::Mock;
use tokio::{sync::Semaphore, task::JoinSet};

use super::SECOND;
use crate::{
    fixtures::{listening_mock, mock},
    matrix::accounting,
};

/// Cells that run at the same time.
const AT_ONCE: usize = 4;
/// What a busy machine may lead to: the generator was slow, throughput fell, or the first call waited
/// for a CPU.
const NOISE: &[&str] =
    &["client_bound", "lazy_init_cliff", "throughput_collapse", "two_populations"];

fn rate(per_second: f64) -> Level {
    Level::Rate(Rate::per_second(per_second))
}

/// A short one of each; those with two models in both.
fn scenarios() -> Vec<Scenario> {
    let half = SECOND / 2;
    let spike =
        |base, burst| Scenario::spike().levels(base, burst).duration(SECOND).burst(half, half / 2);
    let ramp = |from, to| Scenario::ramp().levels(from, to).duration(SECOND);
    let soak = |load| Scenario::soak().load(load).duration(SECOND).sample_interval(SECOND / 25);
    let (few, many) = (Level::Concurrent(2), Level::Concurrent(8));
    vec![
        Scenario::cold_start().iterations(2).tool("echo").build(),
        Scenario::sustained().concurrent(4).duration(half).tool("echo").build(),
        Scenario::sustained().rate(100.0).duration(half).tool("echo").build(),
        spike(few, many).tool("echo").build(),
        spike(rate(20.0), rate(100.0)).tool("echo").build(),
        ramp(few, many).tool("echo").build(),
        ramp(rate(20.0), rate(100.0)).tool("echo").build(),
        soak(few).tool("echo").build(),
        soak(rate(50.0)).tool("echo").build(),
        Scenario::pattern().concurrent(2).duration(half).build(),
        Scenario::pattern().load(rate(20.0)).duration(half).build(),
        Scenario::deadlock_probe().concurrent(8).tool("echo").build(),
        Scenario::race_check().concurrent(8).rounds(2).tool("echo").build(),
        Scenario::slow_mix()
            .concurrent(3)
            .duration(half)
            .tool("echo")
            .slow(ToolCall::new("echo"))
            .build(),
        Scenario::reconnect().concurrent(2).drops(2).tool("echo").build(),
        Scenario::capacity().rates(20.0, 40.0).hold(half / 2).tool("echo").build(),
    ]
}

/// What must come of it on a healthy server with one fast tool.
fn expected(report: &Report, scenario: &Scenario) -> Result<(), String> {
    let wrong = accounting(report);
    let warnings = report.findings.iter().filter(|found| found.severity > Severity::Info);
    let mut warnings: Vec<_> =
        warnings.map(|found| found.id.as_str()).filter(|id| !NOISE.contains(id)).collect();
    let watched = report.server_info.transport == "stdio";
    let verdicts: &[Verdict] = match scenario.kind.name() {
        // Nothing here is slow, so nothing can be told, unless calls wait for a CPU and look slow.
        ScenarioName::SlowMix => {
            let may_tell = ["head_of_line_unclear", "head_of_line_blocking", "shared_resource"];
            warnings.retain(|id| !may_tell.contains(id));
            &[Verdict::Invalid, Verdict::Pass, Verdict::Warning]
        }
        // Each trial is a quarter of a second: one in which nothing got a CPU says nothing.
        ScenarioName::Capacity => {
            warnings.retain(|id| *id != "capacity_uncertain");
            &[Verdict::Pass, Verdict::Invalid]
        }
        // A second is short, and a process that we did not start is not watched.
        ScenarioName::Soak => {
            warnings.retain(|id| *id != "leak_indeterminate");
            if watched { &[Verdict::Pass, Verdict::Warning] } else { &[Verdict::Warning] }
        }
        _ => &[Verdict::Pass],
    };
    let noisy = report.findings.iter().any(|found| NOISE.contains(&found.id.as_str()));
    // A machine that has no time for us makes us the limit, and the run says so.
    let stopped = "generator_stopped";
    let unsure = report.validity.client_bound || warnings.contains(&stopped);
    warnings.retain(|id| *id != stopped);
    let as_expected = verdicts.contains(&report.verdict)
        || (noisy && report.verdict == Verdict::Warning)
        || (unsure && report.verdict == Verdict::Invalid);
    let calls = &report.throughput;
    let all_good =
        calls.successful_requests > 0 && calls.successful_requests == calls.total_requests;
    if wrong.is_empty() && warnings.is_empty() && as_expected && all_good {
        return Ok(());
    }
    Err(format!(
        "{:?} {} of {} {wrong:?} {:#?} {:#?}",
        report.verdict,
        calls.successful_requests,
        calls.total_requests,
        report.findings,
        report.errors
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_runs_over_every_transport_in_every_era() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let http = Mock::new().bind(listen).await.expect("a free port").spawn();
    let sse = listening_mock("mock-sse-server", &[]).await;
    let ws = listening_mock("mock-ws-server", &[]).await;
    let (legacy, modern) = (Revision::NEWEST_LEGACY, Revision::NEWEST_MODERN);
    let servers = [
        ("stdio", Era::Legacy, mock("mock-normal").build()),
        ("stdio", Era::Modern, mock("mock-modern").build()),
        ("http", Era::Legacy, Server::http(http.url()).protocol(legacy).build()),
        ("http", Era::Modern, Server::http(http.url()).protocol(modern).build()),
        ("sse", Era::Legacy, Server::sse(&sse.url).build()),
        ("ws", Era::Legacy, Server::websocket(&ws.url).build()),
    ];
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let kinds: Vec<_> = scenarios().iter().map(|scenario| scenario.kind.name()).collect();
    for name in ScenarioName::ALL.iter().filter(|name| **name != ScenarioName::Fuzzer) {
        // What a fuzzer sends is not meant to succeed.
        assert!(kinds.contains(name), "`{name}` needs a short run in `scenarios` of everywhere.rs");
    }
    let mut cells = JoinSet::new();
    for (transport, era, server) in servers {
        for scenario in scenarios() {
            let (turns, server) = (turns.clone(), server.clone());
            cells.spawn(async move {
                let _turn = turns.acquire_owned().await.expect("never closed");
                let limits = Thresholds { p99_latency: SECOND * 20, ..Default::default() };
                let run = Run::new(server, scenario.clone()).with_thresholds(limits);
                let checked = match run.execute().await {
                    Ok(report) if report.server_info.transport != transport => {
                        Err("transport".into())
                    }
                    Ok(report) if report.server_info.era != Some(era) => Err("another era".into()),
                    Ok(report) => expected(&report, &scenario),
                    Err(error) => Err(format!("no report: {error}")),
                };
                let name = scenario.kind.name();
                checked.err().map(|wrong| format!("{name} over {transport}, {era:?}: {wrong}"))
            });
        }
    }
    let wrong: Vec<_> = cells.join_all().await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} cells are wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}
