//! Published servers that must pass, over every transport and in both eras.

use std::time::Duration;

use mcp_loadtest::{Era, Report, Revision, Run, Scenario, Server, Thresholds, Verdict};
use mcp_loadtest_core::{
    hint::Hint as _,
    server::{Reached, ServerBuilder},
};
use mcp_loadtest_wire::process::Launch;
use serde_json::json;

use crate::{
    environments::{START_LIMIT, program, python_echo},
    fixtures::{Listening, free_port, listening, verdict},
};

const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// A short load without a single error. The thresholds are far away: the machine may be busy.
async fn load(server: impl Into<Server>, argument: &str) -> Report {
    let scenario = Scenario::sustained().concurrent(8).duration(Duration::from_secs(5));
    let scenario = scenario.tool("echo").args(json!({ argument: "hello" }));
    let thresholds = Thresholds {
        error_rate: 0.0,
        hang_timeout: Duration::from_secs(30),
        grace_period: Duration::from_secs(60),
        ..Default::default()
    };
    let run = Run::new(server, scenario).with_thresholds(thresholds);
    run.execute().await.expect("the server answers")
}

fn assert_passes(report: &Report, era: Era) {
    assert!(report.passed(), "{:#?}", report.findings);
    assert_eq!((report.errors.total, report.hang_count), (0, 0), "{:#?}", report.findings);
    assert!(
        report.throughput.successful_requests > 8,
        "{:?}",
        report.throughput.successful_requests
    );
    assert_eq!(report.server_info.era, Some(era));
}

#[tokio::test]
async fn everything_passes_over_stdio() {
    let server = Server::stdio("node").startup_timeout(START_LIMIT);
    let server = server.args([program("everything", EVERYTHING), "stdio".into()]);
    let report = load(server, "message").await;
    assert_passes(&report, Era::Legacy);
    assert!(report.server_info.tools > Some(10));
}

#[tokio::test]
async fn everything_passes_over_http() {
    let server = listening("/mcp", |port| {
        let mut launch = Launch::new("node");
        launch.args = vec![program("everything", EVERYTHING), "streamableHttp".into()];
        launch.env.insert("PORT".into(), port.to_string());
        launch
    })
    .await;
    let report = load(Server::http(&server.url), "message").await;
    assert_passes(&report, Era::Legacy);
    assert!(report.server_info.tools > Some(10));
}

#[tokio::test]
async fn everything_passes_over_sse() {
    let server = listening("/sse", |port| {
        let mut launch = Launch::new("node");
        launch.args = vec![program("everything", EVERYTHING), "sse".into()];
        launch.env.insert("PORT".into(), port.to_string());
        launch
    })
    .await;
    let report = load(Server::sse(&server.url), "message").await;
    assert_passes(&report, Era::Legacy);
    assert!(report.server_info.tools > Some(10));
    // Asked in the wrong way, it says what it is.
    let wrong = Run::new(Server::http(&server.url), Scenario::sustained()).execute().await;
    let hint = wrong.expect_err("it speaks another transport").hint();
    assert_eq!(hint.as_deref(), Some("try `--transport sse`"));
}

/// The echo server over a transport that newer SDKs leave out, started by the run itself.
fn python_older(transport: &str, reach: impl FnOnce(u16) -> ServerBuilder<Reached>) -> Server {
    const NAME: &str = "mcp-1.30.0-older";
    let port = free_port();
    let server = reach(port).startup_timeout(START_LIMIT).started_by(program(NAME, "bin/python"));
    server.args([program(NAME, "echo_older.py"), transport.into(), port.to_string()]).build()
}

#[tokio::test]
async fn python_1_30_passes_over_sse() {
    let server = python_older("sse", |port| Server::sse(format!("http://127.0.0.1:{port}/sse")));
    let report = load(server, "text").await;
    assert_passes(&report, Era::Legacy);
    assert!(report.process.peak_rss_mb > 10.0 && report.process.peak_pss_mb > Some(5.0));
}

#[tokio::test]
async fn python_1_30_passes_over_a_websocket() {
    let server = python_older("ws", |port| Server::websocket(format!("ws://127.0.0.1:{port}/ws")));
    let report = load(server, "text").await;
    assert_passes(&report, Era::Legacy);
}

/// Calls in flight overtake each other on one stream.
#[tokio::test]
async fn python_1_30_answers_out_of_order_over_older_transports() {
    let call = |ms: u64| mcp_loadtest::ToolCall::new("slow_async").args(json!({ "ms": ms }));
    let scenario = Scenario::sustained().concurrent(16).duration(Duration::from_secs(1));
    let scenario = scenario.tool_call(call(50)).tool_call(call(400)).tool_call(call(900)).build();
    let sse = python_older("sse", |port| Server::sse(format!("http://127.0.0.1:{port}/sse")));
    let ws = python_older("ws", |port| Server::websocket(format!("ws://127.0.0.1:{port}/ws")));
    for server in [sse, ws] {
        let report = Run::new(server, scenario.clone()).execute().await.expect("it runs");
        assert!(report.passed() && report.errors.total == 0, "{:#?}", report.findings);
        assert!(report.throughput.total_requests > 16);
    }
}

/// The echo server on a version of the Python SDK, on a port.
async fn python_echo_http(version: &str) -> Listening {
    let name = format!("mcp-{version}");
    listening("/mcp", |port| {
        let mut launch = Launch::new(program(&name, "bin/python"));
        launch.args = vec![program(&name, "echo_mcp.py"), port.to_string()];
        launch
    })
    .await
}

#[tokio::test]
async fn python_1_30_passes_over_http_in_the_legacy_era() {
    let server = python_echo_http("1.30.0").await;
    let report = load(Server::http(&server.url), "text").await;
    assert_passes(&report, Era::Legacy);
    assert_eq!(verdict(&report), Verdict::Pass, "{:#?}", report.findings);
}

#[tokio::test]
async fn python_2_3_passes_over_http_in_both_eras() {
    let server = python_echo_http("2.3.0").await;
    let modern = load(Server::http(&server.url), "text").await;
    assert_passes(&modern, Era::Modern);
    let legacy = load(Server::http(&server.url).protocol(Revision::V2025_11_25), "text").await;
    assert_passes(&legacy, Era::Legacy);
}

#[tokio::test]
async fn python_passes_over_stdio_in_both_eras() {
    let era = |version| async move { load(python_echo(version), "text").await };
    assert_passes(&era("1.30.0").await, Era::Legacy);
    assert_passes(&era("2.3.0").await, Era::Modern);
    let legacy = load(python_echo("2.3.0").protocol(Revision::V2025_11_25), "text").await;
    assert_passes(&legacy, Era::Legacy);
}

/// Calls of several threads share one session; this SDK finds the caller of a reply by its id.
#[tokio::test]
async fn python_1_30_answers_several_threads_in_one_session() {
    let server = python_echo_http("1.30.0").await;
    let call = |ms: u64| mcp_loadtest::ToolCall::new("slow_async").args(json!({ "ms": ms }));
    let scenario = Scenario::sustained().concurrent(16).duration(Duration::from_secs(1));
    let scenario = scenario.tool_call(call(50)).tool_call(call(400)).tool_call(call(900));
    let report = Run::new(Server::http(&server.url), scenario)
        .with_threads(2)
        .execute()
        .await
        .expect("it runs");
    assert_eq!(
        (verdict(&report), report.errors.total),
        (Verdict::Pass, 0),
        "{:#?}",
        report.findings
    );
}
