//! The crate as somebody else's test uses it.

use std::{fmt::Debug, time::Duration};

use mcp_loadtest::{
    ErrorCategory, LatencyStats, Outcome, Report, Run, Scenario, Seed, Server, Stop, Thresholds,
    ToolCall, Verdict,
};
use mcp_loadtest_core::{hint::Hint as _, server::ProtocolChoice};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    environments::program,
    fixtures::{http_mock, mock, verdict},
    processes::{MARK, unique_mark, until, until_gone},
};

/// The example of the design, as it stands there; only command, tool and arguments are of a server
/// that is installed, and it takes five seconds in place of thirty.
mod design {
    use super::program;
    use mcp_loadtest::{Run, Scenario, Server, Thresholds};
    use serde_json::json;
    use std::time::Duration;

    #[tokio::test]
    async fn no_deadlock_under_concurrent_calls() {
        let server = Server::stdio(program("mcp-2.3.0", "bin/python"))
            .args([program("mcp-2.3.0", "echo_mcp.py")])
            .env("LOG_LEVEL", "warn");

        let scenario = Scenario::sustained()
            .concurrent(20)
            .duration(Duration::from_secs(5))
            .tool("echo")
            .args(json!({ "text": "AAPL" }));

        let report = Run::new(server, scenario)
            .with_thresholds(Thresholds {
                p99_latency: Duration::from_millis(500),
                error_rate: 0.01,
                hang_timeout: Duration::from_secs(5),
                ..Default::default()
            })
            .execute()
            .await
            .expect("run failed");

        assert!(report.passed(), "thresholds violated: {report:?}");
        assert_eq!(report.deadlock_count, 0);
    }
}

fn short_load() -> Scenario {
    Scenario::sustained().concurrent(4).duration(Duration::from_millis(500)).tool("echo").build()
}

#[tokio::test]
async fn runs_go_on_side_by_side_in_one_process() {
    let listening = http_mock(&[]).await;
    let over_http = Server::http(&listening.url).build();
    let servers = [
        mock("mock-normal").build(),
        mock("mock-error").build(),
        over_http,
        mock("mock-modern").build(),
    ];
    let mut runs = JoinSet::new();
    for (index, server) in servers.into_iter().enumerate() {
        runs.spawn(async move {
            (index, Run::new(server, short_load()).execute().await.expect("it runs"))
        });
    }
    let mut reports = runs.join_all().await;
    reports.sort_by_key(|(index, _)| *index);
    let verdicts: Vec<_> = reports.iter().map(|(_, report)| verdict(report)).collect();
    assert_eq!(
        verdicts,
        [Verdict::Pass, Verdict::Critical, Verdict::Pass, Verdict::Pass],
        "{reports:#?}"
    );
    // Nobody's calls are counted by another.
    for (_, report) in &reports {
        assert_eq!(
            report.throughput.total_requests,
            report.throughput.successful_requests + report.errors.total
        );
    }
    let names: std::collections::BTreeSet<_> =
        reports.iter().map(|(_, report)| &report.run_id).collect();
    assert_eq!(names.len(), reports.len());
}

#[test]
fn builders_take_their_settings_in_any_order() {
    let (duration, args) = (Duration::from_secs(3), json!({ "text": "x" }));
    let one = Scenario::sustained()
        .concurrent(4)
        .duration(duration)
        .tool("echo")
        .args(args.clone())
        .sessions(2);
    let other = Scenario::sustained()
        .sessions(2)
        .args(args.clone())
        .tool("echo")
        .duration(duration)
        .concurrent(4);
    assert_eq!(one.build(), other.build());

    let one = Scenario::deadlock_probe()
        .tool("echo")
        .concurrent(3)
        .grace_period(duration)
        .hang_threshold(duration);
    let other = Scenario::deadlock_probe()
        .hang_threshold(duration)
        .grace_period(duration)
        .concurrent(3)
        .tool("echo");
    assert_eq!(one.build(), other.build());

    let one = Scenario::cold_start().iterations(2).warmup(false).tool("echo").timeout(duration);
    let other = Scenario::cold_start().timeout(duration).tool("echo").warmup(false).iterations(2);
    assert_eq!(one.build(), other.build());

    let one = Server::stdio("x").arg("-m").env("A", "1").working_dir("/").startup_timeout(duration);
    let other =
        Server::stdio("x").startup_timeout(duration).working_dir("/").env("A", "1").arg("-m");
    assert_eq!(one.build(), other.build());
}

/// Everything that is data can be shown, stored and read back.
#[test]
fn public_data_is_debug_serialize_and_deserialize() {
    fn is_data<T: Debug + Serialize + DeserializeOwned>() {}
    is_data::<Server>();
    is_data::<mcp_loadtest::Transport>();
    is_data::<ProtocolChoice>();
    is_data::<Scenario>();
    is_data::<mcp_loadtest::ScenarioKind>();
    is_data::<ToolCall>();
    is_data::<Seed>();
    is_data::<Thresholds>();
    is_data::<mcp_loadtest::ThresholdKind>();
    is_data::<mcp_loadtest::ThresholdViolation>();
    is_data::<Report>();
    is_data::<mcp_loadtest::ServerInfo>();
    is_data::<LatencyStats>();
    is_data::<mcp_loadtest_core::report::ThroughputStats>();
    is_data::<mcp_loadtest_core::report::ErrorStats>();
    is_data::<mcp_loadtest_core::report::ProcessStats>();
    is_data::<mcp_loadtest_core::report::ToolStats>();
    is_data::<mcp_loadtest_core::report::StepStats>();
    is_data::<mcp_loadtest_core::report::summary::Summary>();
    is_data::<mcp_loadtest::Finding>();
    is_data::<mcp_loadtest::Severity>();
    is_data::<Verdict>();
    is_data::<ErrorCategory>();
    is_data::<Outcome>();
    is_data::<mcp_loadtest::Exit>();
    is_data::<mcp_loadtest::Era>();
    is_data::<mcp_loadtest::Revision>();
    is_data::<mcp_loadtest::Trace>();
    is_data::<mcp_loadtest_core::config::Config>();
    is_data::<mcp_loadtest::ProbeReport>();
    is_data::<mcp_loadtest::ToolProbe>();
    is_data::<mcp_loadtest::ToolVerdict>();
    is_data::<mcp_loadtest::Greeting>();
    is_data::<mcp_loadtest::Answer>();
    is_data::<mcp_loadtest::Tool>();
    is_data::<mcp_loadtest::PastRun>();
    is_data::<mcp_loadtest::UnfinishedRun>();
    is_data::<mcp_loadtest::Replayed>();
    is_data::<mcp_loadtest::Snapshot>();
    is_data::<mcp_loadtest::Comparison>();
    is_data::<mcp_loadtest::Policy>();
    is_data::<mcp_loadtest::Baseline>();
    is_data::<mcp_loadtest::CaseFile>();
    is_data::<mcp_loadtest::FuzzStats>();
    is_data::<mcp_loadtest::Level>();
    is_data::<mcp_loadtest::Rate>();
    is_data::<mcp_loadtest::ThinkTime>();
    is_data::<mcp_loadtest::eval::RecoveryObservation>();
    is_data::<mcp_loadtest::eval::RecoveryReport>();

    // What acts is no data, but can be shown and sent to another thread.
    fn is_handle<T: Debug + Send + 'static>() {}
    is_handle::<Run>();
    is_handle::<mcp_loadtest::Session>();
    is_handle::<Stop>();
    is_handle::<mcp_loadtest::Probe>();
    is_handle::<mcp_loadtest::SavedRun>();
    is_handle::<mcp_loadtest::RunError>();
    is_handle::<mcp_loadtest::SavedError>();
    is_handle::<mcp_loadtest::Progress>();
}

#[tokio::test]
async fn a_report_reads_back_from_its_own_serialization() {
    let report = Run::new(mock("mock-normal"), short_load()).execute().await.expect("it runs");
    let text = serde_json::to_string(&report).expect("it can be written");
    let read: Report = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(read.latency, report.latency);
    assert_eq!(read.latency.histogram.len(), report.throughput.successful_requests);
    assert_eq!(read.findings, report.findings);

    let dir = tempfile::tempdir().expect("a directory");
    let (told, counted) = (dir.path().join("report.md"), dir.path().join("metrics.json"));
    report.write_markdown(&told).expect("a report for people");
    report.write_json(&counted).expect("metrics for machines");
    let read = |path| std::fs::read_to_string(path).expect("it was written");
    assert!(read(told).contains("echo"));
    let metrics: serde_json::Value = serde_json::from_str(&read(counted)).expect("JSON");
    assert_eq!(metrics["run_id"], json!(report.run_id));
}

/// What a run is made of is data: a file, and the same run again.
#[tokio::test]
async fn a_run_is_made_from_a_configuration_and_tells_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = Run::new(mock("mock-normal"), short_load())
        .with_thresholds(Thresholds { error_rate: 0.01, ..Default::default() })
        .with_tags(["nightly".to_owned()])
        .with_output_dir(dir.path());
    let config = run.config();
    let text = serde_json::to_string(&config).expect("it can be written");
    let read: mcp_loadtest::Config = serde_json::from_str(&text).expect("it can be read");
    let again = Run::try_from(read).expect("a run");
    assert_eq!(again.config(), config);
    let report = again.execute().await.expect("it runs");
    assert!(report.passed() && report.tags == ["nightly"], "{:#?}", report.findings);
    let kept = report.run_dir.expect("the directory that the configuration names");
    assert!(kept.starts_with(dir.path()) && kept.join("summary.json").is_file());

    let elsewhere = "[server]\nname = 'mine'\n[scenario]\ntype = 'sustained'";
    let elsewhere = mcp_loadtest::Config::parse(elsewhere, "bench.toml").expect("well formed");
    let error = Run::try_from(elsewhere).expect_err("only the command line reads such files");
    assert!(error.to_string().contains("name") && error.hint.is_some(), "{error}");
}

#[tokio::test]
async fn whoever_stops_a_run_gets_what_was_measured() {
    let stop = Stop::new();
    let scenario =
        Scenario::sustained().concurrent(2).duration(Duration::from_secs(3600)).tool("echo");
    let run = Run::new(mock("mock-normal"), scenario).with_stop(stop.clone());
    let progress = run.progress();
    let running = tokio::spawn(run.execute());
    until("the first call", || progress.ok.load(std::sync::atomic::Ordering::Relaxed) > 0).await;
    stop.stop();
    let report = running.await.expect("no panic").expect("a report");
    assert!(report.interrupted && report.throughput.successful_requests > 0);
    assert_eq!(
        mcp_loadtest_core::report::summary::exit(&report).code(),
        mcp_loadtest::Exit::INTERRUPTED
    );
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_no_server_behind() {
    let mark = unique_mark();
    let scenario = Scenario::sustained().duration(Duration::from_secs(3600)).tool("echo");
    let run = Run::new(mock("mock-daemon").env(MARK, &mark), scenario);
    let progress = run.progress();
    let running = tokio::spawn(run.execute());
    until("the first call", || progress.ok.load(std::sync::atomic::Ordering::Relaxed) > 0).await;
    running.abort();
    until_gone(&mark, &Default::default()).await;
}

#[tokio::test]
async fn a_call_timeout_is_the_callers_own_and_no_hang() {
    let scenario =
        Scenario::deadlock_probe().concurrent(4).timeout(Duration::from_millis(300)).tool("echo");
    let report = Run::new(mock("mock-broken"), scenario).execute().await.expect("it runs");
    assert_eq!(report.errors.by_category, [(ErrorCategory::Timeout, report.errors.total)].into());
    assert_eq!((report.hang_count, report.deadlock_count), (0, 0));
    assert_eq!(report.throughput.total_requests, report.errors.total);
    assert!(!report.passed());
}

#[tokio::test]
async fn a_probe_that_bails_early_still_accounts_for_every_call() {
    let scenario = Scenario::deadlock_probe().concurrent(6).bail_early(true).tool("echo");
    let scenario = scenario
        .hang_threshold(Duration::from_millis(300))
        .grace_period(Duration::from_millis(300));
    let report = Run::new(mock("mock-broken"), scenario).execute().await.expect("it runs");
    assert!(
        report.deadlock_count >= 1 && report.verdict == Verdict::Critical,
        "{:#?}",
        report.findings
    );
    assert_eq!((report.throughput.total_requests, report.errors.total), (6, 6));
    let cancelled = report.errors.by_category.get(&ErrorCategory::Cancelled).copied().unwrap_or(0);
    assert_eq!(cancelled + u64::from(report.deadlock_count), 6);
}

#[tokio::test]
async fn several_calls_are_chosen_by_weight_and_a_seed_repeats_the_choice() {
    let call =
        |text: &str, weight| ToolCall::new("echo").args(json!({ "text": text })).weight(weight);
    let scenario =
        Scenario::sustained().concurrent(1).duration(Duration::from_secs(4)).seed(Seed(7));
    let scenario = scenario.tool_call(call("often", 3.0)).tool_call(call("seldom", 1.0));
    let choices = || async {
        let dir = tempfile::TempDir::new().expect("a directory");
        let run = Run::new(mock("mock-normal"), scenario.clone()).with_output_dir(dir.path());
        let report = run.execute().await.expect("it runs");
        let trace = std::fs::read_to_string(&report.trace_path).expect("the trace");
        let lines = trace
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let requests = lines.filter(|line| line["kind"] == "request" && line["phase"] == "load");
        requests.map(|line| line["params"]["arguments"]["text"] == "often").collect::<Vec<_>>()
    };
    let (one, other) = (choices().await, choices().await);
    // A trace of very many calls is a sample: it has the first of them, and not all that came later.
    let common = one.len().min(other.len()).min(1_000);
    assert!(common > 20, "{common} calls");
    assert_eq!(one[..common], other[..common]);
    let often = one.iter().filter(|often| **often).count() as f64 / one.len() as f64;
    assert!((0.5..0.95).contains(&often), "{often}");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_named_with_its_nearest() {
    let error = Run::new(mock("mock-normal"), Scenario::cold_start().tool("ecko")).execute().await;
    let error = error.expect_err("there is no such tool");
    assert!(
        matches!(&error, mcp_loadtest::RunError::UnknownTool { name, .. } if name == "ecko"),
        "{error}"
    );
    assert_eq!(error.hint().as_deref(), Some("did you mean `echo`?"));
}
