//! One session in somebody's hand, against servers of both eras and on every transport.

use std::time::Duration;

use mcp_loadtest::{Era, ErrorCategory, Outcome, RunError, Server, Session};
use serde_json::json;

use crate::{
    environments::{START_LIMIT, program},
    fixtures::{http_mock, listening_mock, mock},
    processes::{MARK, marked, unique_mark, until, until_gone},
};

async fn echoes(server: impl Into<Server>) -> Session {
    let session = Session::spawn(server).await.expect("a session");
    let tools = session.list_tools().await.expect("a list");
    assert!(tools.iter().any(|tool| tool.name == "echo"), "{tools:?}");
    let answer = session.call_tool("echo", json!({ "text": "hello" })).await;
    assert_eq!(answer.outcome, Outcome::Ok, "{answer:?}");
    let body = answer.body.expect("a result").to_string();
    assert!(body.contains("hello"), "{body}");
    session
}

#[tokio::test]
async fn a_session_lists_calls_and_ends_with_its_server() {
    let mark = unique_mark();
    let session = echoes(mock("mock-normal").env(MARK, &mark)).await;
    assert_eq!(session.server_info().era, Some(Era::Legacy));
    assert_eq!(marked(&mark).len(), 1);
    session.shutdown().await;
    assert_eq!(marked(&mark), [0; 0]);
}

#[tokio::test]
async fn it_speaks_both_eras_on_every_transport() {
    let http = http_mock(&[]).await;
    let sse = listening_mock("mock-sse-server", &[]).await;
    let ws = listening_mock("mock-ws-server", &[]).await;
    echoes(Server::http(&http.url)).await.shutdown().await;
    echoes(Server::sse(&sse.url)).await.shutdown().await;
    echoes(Server::websocket(&ws.url)).await.shutdown().await;
    let modern = echoes(mock("mock-modern")).await;
    assert_eq!(modern.server_info().era, Some(Era::Modern));
    modern.shutdown().await;
}

/// A server that we did not write.
#[tokio::test]
async fn it_speaks_with_a_server_of_the_python_sdk() {
    let server = Server::stdio(program("mcp-2.3.0", "bin/python"))
        .startup_timeout(START_LIMIT)
        .args([program("mcp-2.3.0", "echo_mcp.py")]);
    let session = echoes(server).await;
    let unknown = session.call_tool("no_such_tool", json!({})).await;
    assert!(matches!(unknown.outcome, Outcome::Failed(_)), "{unknown:?}");
    assert!(!unknown.message.is_empty());
    session.shutdown().await;
}

#[tokio::test]
async fn many_calls_are_in_flight_at_once_and_each_has_its_own_answer() {
    let session = Session::spawn(mock("mock-normal")).await.expect("a session");
    let calls = (0..50).map(|n| session.call_tool("echo", json!({ "text": format!("<{n}>") })));
    let calls: Vec<_> = calls.map(Box::pin).collect();
    for (n, call) in calls.into_iter().enumerate() {
        let body = call.await.body.expect("a result").to_string();
        assert!(body.contains(&format!("<{n}>")), "{n}: {body}");
    }
    session.shutdown().await;
}

#[tokio::test]
async fn a_call_that_never_comes_back_is_a_deadlock_by_its_own_patience() {
    let brief = Duration::from_millis(300);
    let session = Session::spawn(mock("mock-broken")).await.expect("a session");
    let session = session.with_patience(brief, brief);
    let answer = session.call_tool("echo", json!({})).await;
    assert_eq!(answer.outcome, Outcome::Failed(ErrorCategory::Deadlock), "{answer:?}");
    assert!(answer.took >= brief * 2 && answer.body.is_none());
    session.shutdown().await;
}

#[tokio::test]
async fn whoever_drops_a_session_leaves_no_server_behind() {
    let mark = unique_mark();
    let session = Session::spawn(mock("mock-daemon").env(MARK, &mark)).await.expect("a session");
    drop(session);
    until_gone(&mark, &Default::default()).await;

    // Nor does whoever does not wait until it has begun.
    let slow = mock("mock-slow-init").env(MARK, &mark).env("MOCK_INIT_DELAY_S", "600");
    let waiting = tokio::spawn(Session::spawn(slow));
    until("the server", || !marked(&mark).is_empty()).await;
    waiting.abort();
    until_gone(&mark, &Default::default()).await;
}

/// The names that the design gives to what can go wrong.
#[tokio::test]
async fn errors_say_how_far_a_server_came() {
    let of = |server: Server| async { Session::spawn(server).await.expect_err("no session") };
    let none = of(Server::stdio("no-such-program-anywhere").build()).await;
    assert!(matches!(none, RunError::ServerStart { .. }), "{none:?}");
    let ended = of(Server::stdio("sh").args(["-c", "exit 3"]).build()).await;
    assert!(matches!(ended, RunError::ServerExit { .. }), "{ended:?}");
    let silent = Server::stdio("sleep").arg("600").startup_timeout(Duration::from_millis(300));
    let silent = of(silent.build()).await;
    assert!(matches!(silent, RunError::Handshake { .. }), "{silent:?}");
    let told = serde_json::to_value(&silent).expect("it can be told");
    assert!(told["error"].as_str().is_some_and(|text| text.contains("did not answer")), "{told}");
    assert!(told["hint"].as_str().is_some_and(|text| text.contains("--startup-timeout")), "{told}");
}
