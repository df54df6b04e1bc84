//! Whose data replies carry, and what becomes of sessions that are cut.

use mcp_loadtest::{Run, Scenario, Server, Severity, Verdict};
use serde_json::json;

use super::{SECOND, report};
use crate::{
    fixtures::{http_mock, inline_mock, listening_mock, mock, real_findings, verdict},
    processes::{MARK, marked, unique_mark},
};

#[tokio::test]
async fn identical_calls_show_a_race_and_nothing_where_there_is_none() {
    let scenario = || Scenario::race_check().concurrent(20).rounds(3).tool("echo");
    let racing = report(Run::new(mock("mock-race"), scenario())).await;
    let found = racing.finding("divergent_replies").expect("it is told");
    assert_eq!((found.severity, racing.verdict), (Severity::Critical, Verdict::Critical));
    assert_eq!(racing.throughput.total_requests, 60);
    for server in [mock("mock-race").env("MOCK_HEALTHY", "1"), mock("mock-normal")] {
        let healthy = report(Run::new(server, scenario())).await;
        assert_eq!(verdict(&healthy), Verdict::Pass, "{:#?}", healthy.findings);
        assert!(real_findings(&healthy).is_empty(), "{:#?}", healthy.findings);
    }
}

/// Errors were dropped before replies were compared: a race that shows as one was a matter of its share.
#[tokio::test]
async fn identical_calls_of_which_some_fail_show_a_race_and_a_rate_limit_is_none() {
    let checked = async |fails: &str, reply: &str| {
        let server = inline_mock(&format!(
            "
import itertools
from _common import echo, err, ok, serve
calls = itertools.count(1)
serve(lambda request: {reply} if next(calls) % 5 in {fails} else echo(request))
"
        ));
        let scenario = Scenario::race_check().concurrent(20).rounds(3).tool("echo");
        report(Run::new(server, scenario)).await
    };
    for (reply, said) in [
        ("err(request, -32000, 'somebody was faster')", "ServerError: somebody was faster"),
        ("ok(request, {'content': [], 'isError': True})", "ToolError"),
    ] {
        let racing = checked("[0]", reply).await;
        let found = racing.finding("divergent_replies").expect("it is told");
        assert_eq!((found.severity, racing.verdict), (Severity::Critical, Verdict::Critical));
        assert_eq!(found.message, "12 of 60 identical calls failed, the others did not");
        assert!(found.evidence[0].starts_with(said), "{found:#?}");
    }
    for (fails, reply) in [
        ("[0]", "err(request, 429, 'slow down')"),
        ("[0, 1, 2, 3, 4]", "err(request, -32000, 'out of order')"),
    ] {
        let report = checked(fails, reply).await;
        assert!(report.finding("divergent_replies").is_none(), "{:#?}", report.findings);
        assert!(report.errors.total > 0, "{reply}");
    }
}

/// Over HTTP a limit is known by its status, whatever the refusal says of itself.
#[tokio::test]
async fn a_rate_limit_that_is_told_in_json_is_no_race() {
    for (status, told) in [("429", false), ("500", true)] {
        let limited = listening_mock("limited-http", &[("MOCK_STATUS", status)]).await;
        let scenario = Scenario::race_check().concurrent(20).rounds(3).tool("echo");
        let report = report(Run::new(Server::http(&limited.url).build(), scenario)).await;
        assert_eq!(report.finding("divergent_replies").is_some(), told, "{:#?}", report.findings);
        assert_eq!(report.errors.total, 12, "{status}");
    }
}

/// Calls are only alike if their arguments are, whatever session makes them.
#[tokio::test]
async fn a_race_check_over_several_sessions_fills_placeholders_in_once() {
    let args = json!({ "text": "{{uuid}}", "turn": "{{iter}}", "word": "{{nonce}}" });
    let scenario =
        Scenario::race_check().concurrent(8).rounds(2).sessions(4).tool("echo").args(args);
    let report = report(Run::new(mock("mock-normal"), scenario)).await;
    assert!(real_findings(&report).is_empty(), "all calls are alike: {:#?}", report.findings);
    assert_eq!(verdict(&report), Verdict::Pass);
}

#[tokio::test]
async fn nonces_show_replies_that_are_mixed_up() {
    let scenario = || {
        let scenario = Scenario::sustained().concurrent(8).duration(SECOND);
        scenario.tool("echo").args(json!({ "text": "{{nonce}}" }))
    };
    let crossed = report(Run::new(mock("mock-crossed"), scenario())).await;
    let found = crossed.finding("crossed_replies").expect("it is told");
    assert_eq!((found.severity, crossed.verdict), (Severity::Critical, Verdict::Critical));
    let healthy = report(Run::new(mock("mock-normal"), scenario())).await;
    assert_eq!(verdict(&healthy), Verdict::Pass, "{:#?}", healthy.findings);
}

#[tokio::test]
async fn sessions_that_are_cut_come_back_over_every_transport() {
    let http = http_mock(&[]).await;
    let sse = listening_mock("mock-sse-server", &[]).await;
    let ws = listening_mock("mock-ws-server", &[]).await;
    let mark = unique_mark();
    for server in [
        mock("mock-normal").env(MARK, &mark).build(),
        Server::http(&http.url).build(),
        Server::sse(&sse.url).build(),
        Server::websocket(&ws.url).build(),
    ] {
        let transport = server.transport.name();
        let scenario = Scenario::reconnect().drops(4).concurrent(3).tool("echo");
        let report = report(Run::new(server, scenario)).await;
        assert_eq!(verdict(&report), Verdict::Pass, "{transport}: {:#?}", report.findings);
        assert_eq!(report.throughput.successful_requests, 12, "{transport}");
        let steps: Vec<_> =
            report.steps.iter().map(|step| (step.name.as_str(), step.latency.count)).collect();
        for name in ["cut", "reopen", "retry"] {
            assert!(steps.contains(&(name, 4)), "{transport}: {steps:?}");
        }
    }
    assert_eq!(marked(&mark), [0; 0]);
}

/// A server that ignores the end of its input is ended, and that is told.
#[tokio::test]
async fn a_server_that_outlives_its_session_is_told() {
    let mark = unique_mark();
    let server = mock("mock-stubborn").env(MARK, &mark).shutdown_timeout(SECOND / 2);
    let scenario = Scenario::reconnect().drops(2).concurrent(2).tool("echo");
    let report = report(Run::new(server, scenario)).await;
    assert!(report.finding("shutdown_needs_signal").is_some(), "{:#?}", report.findings);
    assert_eq!(report.throughput.successful_requests, 4);
    assert_eq!(marked(&mark), [0; 0]);
}
