//! Servers at an address whose process is known: started by the run, or named by its number.

use std::time::Duration;

use mcp_loadtest::{ErrorCategory, Report, Run, RunError, Scenario, Server, Thresholds};
use mcp_loadtest_core::{
    hint::Hint as _,
    server::{ServerBuilder, StartedAndReached},
};
use mcp_loadtest_wire::session::OpenError;
use tempfile::TempDir;

use crate::{
    fixtures::{free_port, http_mock, listening_mock, mock_script},
    processes::{MARK, marked, unique_mark, until, until_gone},
};

fn load() -> Scenario {
    Scenario::sustained().concurrent(8).duration(Duration::from_secs(1)).tool("echo").build()
}

/// The HTTP mock, to be started by the run.
fn started(mark: &str) -> ServerBuilder<StartedAndReached> {
    let port = free_port();
    Server::http(format!("http://127.0.0.1:{port}/mcp"))
        .started_by("python3")
        .arg(mock_script("mock-http-server"))
        .env(MARK, mark)
        .env("MOCK_PORT", port.to_string())
}

/// On a busy machine a run may warn that we ourselves were the limit.
fn assert_passes(report: &Report) {
    assert!(report.passed() && report.errors.total == 0, "{:#?}", report.findings);
    assert!(report.throughput.successful_requests > 0);
}

async fn refused(server: impl Into<Server>) -> OpenError {
    match Run::new(server, load()).execute().await {
        Err(RunError::ServerStart { error, .. } | RunError::ServerExit { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_listens_late_is_waited_for() {
    let mark = unique_mark();
    let server = started(&mark).env("MOCK_LISTEN_DELAY_S", "1.5");
    let report = Run::new(server, load()).execute().await.expect("it runs");
    assert_passes(&report);
    assert_eq!(marked(&mark), [0; 0]);
}

#[tokio::test]
async fn one_process_serves_all_threads_and_sessions() {
    let mark = unique_mark();
    let dir = TempDir::new().expect("a directory");
    let scenario = Scenario::sustained().concurrent(64).sessions(3).tool("echo");
    let scenario = scenario.duration(Duration::from_secs(1));
    let run = Run::new(started(&mark), scenario).with_threads(2).with_output_dir(dir.path());
    let report = run.execute().await.expect("it runs");
    assert_passes(&report);
    // What it said stands in its logs, as of a server over pipes: one line for one process.
    let log = report.run_dir.expect("a directory").join("server.stdout.log");
    let text = std::fs::read_to_string(log).expect("the log");
    assert_eq!(text.matches("/mcp").count(), 1, "{text}");
    assert_eq!(marked(&mark), [0; 0]);
}

#[tokio::test]
async fn a_server_that_ends_before_it_listens_says_why() {
    let port = free_port();
    let server = Server::http(format!("http://127.0.0.1:{port}/mcp"))
        .started_by("python3")
        .args(["-c", "import sys; sys.exit('no config found')"]);
    let error = refused(server).await;
    assert!(error.to_string().contains("exit code 1"), "{error}");
    assert_eq!(error.stderr().map(str::trim), Some("no config found"));
}

#[tokio::test]
async fn a_server_that_never_listens_is_given_up() {
    let mark = unique_mark();
    let server = started(&mark).env("MOCK_LISTEN_DELAY_S", "600");
    let error = refused(server.startup_timeout(Duration::from_secs(1))).await;
    assert!(matches!(error, OpenError::NotListening { .. }), "{error:?}");
    assert!(error.hint().expect("a hint").contains("--startup-timeout"));
    assert_eq!(marked(&mark), [0; 0]);
}

/// The server that listens already would have been tested in place of the one that could not.
#[tokio::test]
async fn a_server_is_not_started_where_somebody_listens() {
    let other = http_mock(&[]).await;
    let mark = unique_mark();
    let server = Server::http(&other.url).started_by("python3").args(["-c", "input()"]);
    let error = refused(server.env(MARK, &mark)).await;
    assert!(matches!(error, OpenError::Occupied(_)), "{error:?}");
    assert_eq!(marked(&mark), [0; 0]);
}

#[tokio::test]
async fn nothing_is_left_of_a_run_that_is_dropped() {
    let mark = unique_mark();
    let scenario = Scenario::sustained().concurrent(8).duration(Duration::from_secs(600));
    let run = Run::new(started(&mark), scenario.tool("echo"));
    let progress = run.progress();
    let running = tokio::spawn(run.execute());
    until("calls succeed", || progress.ok.load(std::sync::atomic::Ordering::Relaxed) > 0).await;
    assert_eq!(marked(&mark).len(), 1);
    running.abort();
    until_gone(&mark, &Default::default()).await;
}

/// `sh` stays in front of the server: the tree is looked at, and all of it is ended.
#[tokio::test]
async fn the_whole_tree_is_seen_and_ended() {
    let mark = unique_mark();
    let port = free_port();
    let command = format!("MOCK_PORT={port} python3 {}; true", mock_script("mock-http-server"));
    let server = Server::http(format!("http://127.0.0.1:{port}/mcp"))
        .started_by("sh")
        .args(["-c", &command])
        .env(MARK, &mark);
    let report = Run::new(server, load()).execute().await.expect("it runs");
    assert_passes(&report);
    assert!(report.process.peak_rss_mb > 8.0, "{:?}", report.process.samples);
    assert_eq!(marked(&mark), [0; 0]);
}

fn assert_observed(report: &Report) {
    assert_passes(report);
    let process = &report.process;
    assert!(process.samples.len() > 1 && process.peak_rss_mb > 5.0, "{:?}", process.samples);
    assert!(process.peak_pss_mb > Some(1.0), "{:?}", process.samples);
}

#[tokio::test]
async fn a_server_that_runs_is_watched_by_its_number_and_left_alone() {
    let limits = Thresholds { memory_growth_mb: 64.0, ..Default::default() };
    let http = http_mock(&[]).await;
    let sse = listening_mock("mock-sse-server", &[]).await;
    let ws = listening_mock("mock-ws-server", &[]).await;
    for server in [
        Server::http(&http.url).pid(http.pid),
        Server::sse(&sse.url).pid(sse.pid),
        Server::websocket(&ws.url).pid(ws.pid),
    ] {
        for _ in 0..2 {
            let run = Run::new(server.clone(), load()).with_thresholds(limits.clone());
            assert_observed(&run.execute().await.expect("it runs"));
        }
    }
}

#[tokio::test]
async fn a_number_of_no_process_is_refused_and_leaves_nothing() {
    let http = http_mock(&[]).await;
    let dir = TempDir::new().expect("a directory");
    let server = Server::http(&http.url).pid(u32::MAX / 2);
    let run = Run::new(server, load()).with_output_dir(dir.path());
    let error = run.execute().await.expect_err("there is no such process").to_string();
    assert!(error.contains("no process"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

/// A connection that is lost while the server lives is no crash.
#[tokio::test]
async fn a_server_of_ours_that_only_hangs_up_has_not_crashed() {
    let mark = unique_mark();
    let port = free_port();
    let server = Server::sse(format!("http://127.0.0.1:{port}/sse"))
        .started_by("python3")
        .arg(mock_script("mock-sse-server"))
        .env(MARK, &mark)
        .env("MOCK_CALL", "hangup")
        .env("MOCK_PORT", port.to_string());
    // It hangs up at the 20th call, which must fall due.
    let load = Scenario::sustained().concurrent(8).duration(Duration::from_secs(3)).tool("echo");
    let report = Run::new(server, load).execute().await.expect("it runs");
    assert!(report.errors.by_category.contains_key(&ErrorCategory::Disconnected));
    assert!(report.finding("server_crash").is_none(), "{:#?}", report.findings);
    assert_eq!(marked(&mark), [0; 0]);
}
