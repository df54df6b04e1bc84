//! Connections that are slow, greedy or in a hurry.

use mcp_loadtest_core::mcp::method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::support::{connect, post, receive, request, send, start};

fn initialize() -> Vec<u8> {
    post("", &request(method::INITIALIZE, json!({})))
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    for _ in 0..3 {
        assert_eq!(send(&mut stream, &initialize()).await.status, 200);
    }
    // Two at once are answered in turn.
    stream.write_all(&initialize().repeat(2)).await.unwrap();
    for _ in 0..2 {
        assert_eq!(receive(&mut stream).await.status, 200);
    }
}

#[tokio::test]
async fn a_request_may_come_in_pieces() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    for byte in initialize() {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(receive(&mut stream).await.status, 200);
}

#[tokio::test]
async fn a_client_that_asks_for_leave_gets_it() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    let body = request(method::INITIALIZE, json!({}));
    let whole = post("Expect: 100-continue\r\n", &body);
    let head = whole.len() - body.len();
    assert_eq!(send(&mut stream, &whole[..head]).await.status, 100);
    assert_eq!(send(&mut stream, &whole[head..]).await.status, 200);
}

/// The clock stands still but for the time that everybody waits.
#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_is_given_up() {
    let mock = start("none").await;
    let whole = initialize();
    for part in [10, whole.len() - 1] {
        let mut stream = connect(&mock).await;
        let begun = tokio::time::Instant::now();
        assert_eq!(send(&mut stream, &whole[..part]).await.status, 408, "after {part} bytes");
        assert_eq!(begun.elapsed().as_secs(), 10);
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "the connection is closed");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    bytes.resize(1 << 20, b' ');
    let reply = send(&mut stream, &bytes).await;
    assert_eq!((reply.status, reply.header("Connection")), (413, Some("close")));
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    let head = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(70 << 10));
    assert_eq!(send(&mut stream, head.as_bytes()).await.status, 431);
}

#[tokio::test]
async fn a_dropped_mock_lets_go_of_its_connections() {
    let mock = start("none").await;
    let mut stream = connect(&mock).await;
    assert_eq!(send(&mut stream, &initialize()).await.status, 200);
    drop(mock);
    let end = stream.read(&mut [0]).await;
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}
