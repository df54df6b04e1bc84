//! The lazy-init deadlock over HTTP. The clock stands still but for the time that everybody waits,
//! so that nine minutes of silence are seen in a moment.

use std::{io, time::Duration};

use mcp_loadtest_core::{
    mcp::{Revision, method},
    outcome::ErrorCategory,
};
use mcp_loadtest_mock::{Fault, Mock};
use mcp_loadtest_wire::session::{How, Session};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::LocalSet,
    time::{Instant, timeout},
};

use super::support::{LIMIT, connect, echo, open, options, post, request, start, target};

const NINE_MINUTES: Duration = Duration::from_secs(540);

#[tokio::test(start_paused = true)]
async fn the_first_call_ends_all_answers_in_both_eras() {
    LocalSet::new()
        .run_until(async {
            for (revision, control) in [
                (Revision::NEWEST_LEGACY, method::PING),
                (Revision::NEWEST_MODERN, method::DISCOVER),
            ] {
                let mock = start(Fault::LazyInitDeadlock).await;
                let (session, _) = open(&mock, revision).await;
                assert_eq!(session.list_tools(LIMIT).await.expect("a list").tools.len(), 1);
                let (call, control) =
                    (echo(&session, "x", NINE_MINUTES), session.prepare(control, json!({})));
                assert_eq!(call.await.failure(), Some(ErrorCategory::Timeout), "{revision}");
                let reply = session.call(&control, How::setup(LIMIT)).await;
                assert_eq!(reply.failure(), Some(ErrorCategory::Timeout), "{revision}");
                let mut patience = options();
                patience.startup_timeout = LIMIT;
                let second = Session::open(&target(&mock), &patience, revision).await;
                assert!(second.is_err(), "{revision}: a second session begins");
            }
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn not_even_refusals_are_sent() {
    let mock = start(Fault::LazyInitDeadlock).await;
    let mut early = connect(&mock).await;
    early.write_all(b"GET /mcp HTTP/1.1\r\n").await.unwrap();
    wedge(&mut connect(&mock).await).await;
    for bytes in [&b"nonsense\r\n\r\n"[..], b"GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", b"POST"] {
        let mut stream = connect(&mock).await;
        stream.write_all(bytes).await.unwrap();
        let read = timeout(LIMIT, stream.read(&mut [0])).await;
        assert!(read.is_err(), "{}: {read:?}", String::from_utf8_lossy(bytes));
    }
    let read = timeout(LIMIT, early.read(&mut [0])).await;
    assert!(read.is_err(), "a request that had begun: {read:?}");
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_mock_ends_after_ten_minutes() {
    let mock = Mock::new().fault(Fault::LazyInitDeadlock);
    let bound = mock.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().to_owned();
    let begun = Instant::now();
    let serving = tokio::spawn(bound.serve());
    let mut stream = TcpStream::connect(address).await.unwrap();
    wedge(&mut stream).await;
    // The client that wedged it does not wait for the end.
    drop(stream);
    let error = serving.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(begun.elapsed().as_secs(), 600);
}

/// A modern call needs nothing before it.
async fn wedge(stream: &mut TcpStream) {
    let meta = json!({(method::META_VERSION): "2026-07-28", (method::META_CAPABILITIES): {}});
    let lines = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
    let call = request(method::TOOLS_CALL, json!({"name": "echo", "_meta": meta}));
    stream.write_all(&post(lines, &call)).await.unwrap();
    let read = timeout(LIMIT, stream.read(&mut [0])).await;
    assert!(read.is_err(), "the mock is not wedged: {read:?}");
}

#[tokio::test(start_paused = true)]
async fn a_healthy_mock_does_not_wedge() {
    LocalSet::new()
        .run_until(async {
            let mock = start(Fault::None).await;
            let again = target(&mock);
            for revision in [Revision::NEWEST_LEGACY, Revision::NEWEST_MODERN] {
                let (session, _) = open(&mock, revision).await;
                for _ in 0..10 {
                    assert_eq!(echo(&session, "x", LIMIT).await.failure(), None);
                }
                assert!(Session::open(&again, &options(), revision).await.is_ok());
            }
        })
        .await;
}
