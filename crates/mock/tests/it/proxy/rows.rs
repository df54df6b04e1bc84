//! What is written down about a call that the server does not answer, or whose client does not wait.

use std::net::SocketAddr;

use futures_util::future::join_all;
use mcp_loadtest_core::{
    config::TransportName,
    fault::{FLOOD_TIME, REORDER_LIMIT},
};
use mcp_loadtest_mock::audit::Row;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::{BODY, hear, start};
use crate::{
    support::{post, request},
    written::{memory, wait_for},
};

/// A server that says the same whatever it is asked.
async fn canned(status: &'static str, kind: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let reply = reply.clone();
            tokio::spawn(async move {
                if hear(&mut stream, BODY).await {
                    let _ = stream.write_all(reply.as_bytes()).await;
                }
            });
        }
    });
    url
}

fn call() -> String {
    request("tools/call", json!({"name": "echo", "arguments": {}}))
}

async fn ask(proxy: SocketAddr, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    let lines = "Content-Type: application/json\r\nConnection: close\r\n";
    stream.write_all(&post(lines, body)).await.unwrap();
    stream
}

#[tokio::test]
async fn an_answer_that_is_no_reply_is_no_success() {
    let refusal = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}});
    let stray = json!({"jsonrpc": "2.0", "id": 999, "result": {}});
    for (status, body, code, category) in [
        ("200 OK", stray.to_string(), None, "transport"),
        ("200 OK", String::new(), None, "transport"),
        ("200 OK", "hello".to_owned(), None, "transport"),
        ("202 Accepted", String::new(), None, "transport"),
        ("200 OK", refusal.to_string(), Some(-32600), "protocol"),
        ("307 Temporary Redirect", String::new(), None, "http"),
        ("503 Service Unavailable", String::new(), None, "http"),
    ] {
        let server = canned(status, "application/json", body.clone()).await;
        let audit = memory();
        let proxy = start(&server, TransportName::Http, &[], audit.clone()).await;
        let mut answer = Vec::new();
        ask(proxy, &call()).await.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains(status) && answer.ends_with(&body), "it is passed on: {answer}");
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        let told = (row.success, row.error_category.as_deref(), row.error_code);
        assert_eq!(told, (false, Some(category), code), "{status} {body}: {row:?}");
        assert_eq!(row.note.is_some(), category != "http", "{row:?}");
    }
}

#[tokio::test]
async fn a_batch_that_is_answered_by_a_stray_reply_is_no_success() {
    let stray = json!({"jsonrpc": "2.0", "id": 999, "result": {}}).to_string();
    let server = canned("200 OK", "application/json", stray).await;
    let audit = memory();
    let proxy = start(&server, TransportName::Http, &[], audit.clone()).await;
    let mut answer = Vec::new();
    ask(proxy, &format!("[{}]", call())).await.read_to_end(&mut answer).await.unwrap();
    let row = wait_for(&audit, |row| row.tool.is_some()).await;
    assert_eq!((row.success, row.error_category.as_deref()), (false, Some("transport")), "{row:?}");
}

/// A server may end the response to a call of which it was told that nobody waits for it.
#[tokio::test]
async fn a_call_that_was_withdrawn_needs_no_reply() {
    for status in ["200 OK", "202 Accepted"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let audit = memory();
        let proxy = start(&url, TransportName::Http, &[], audit.clone()).await;
        let _asking = ask(proxy, &call()).await;
        let (mut called, _) = listener.accept().await.unwrap();
        assert!(hear(&mut called, BODY).await);
        let params = json!({"requestId": 1});
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        let _cancelling = ask(proxy, &cancel.to_string()).await;
        let (mut told, _) = listener.accept().await.unwrap();
        assert!(hear(&mut told, BODY).await);
        let end = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        called.write_all(end.as_bytes()).await.unwrap();
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        assert!(row.cancelled && !row.success, "{status}: {row:?}");
        assert_eq!(row.error_category.as_deref(), Some("cancelled"), "{status}: {row:?}");
    }
}

/// What kind of response a server gives, to what, and its body.
type Form = (&'static str, String, String);

/// A reply by itself, one in a stream, and one to a batch.
fn forms() -> [Form; 3] {
    let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    [
        ("application/json", call(), reply.clone()),
        ("text/event-stream", call(), format!("data: {reply}\n\n")),
        ("application/json", format!("[{}]", call()), format!("[{reply}]")),
    ]
}

const FLOOD: &str = "flood:100@method=tools/call";

/// The row of a call whose client waits for all that comes.
async fn row_of(faults: &[&str], (kind, body, reply): Form) -> Row {
    let server = canned("200 OK", kind, reply).await;
    let audit = memory();
    let proxy = start(&server, TransportName::Http, faults, audit.clone()).await;
    let mut answer = Vec::new();
    ask(proxy, &body).await.read_to_end(&mut answer).await.unwrap();
    wait_for(&audit, |row| row.tool.is_some()).await
}

#[tokio::test]
async fn a_call_lasts_as_long_as_its_reply_is_held() {
    for (faults, least) in [
        (&[FLOOD][..], FLOOD_TIME),
        (&["reorder"], REORDER_LIMIT),
        (&["duplicate", "reorder"], REORDER_LIMIT),
        (&[FLOOD, "reorder"], FLOOD_TIME + REORDER_LIMIT),
    ] {
        for row in join_all(forms().map(|form| row_of(faults, form))).await {
            assert!(row.success && !row.cancelled, "{faults:?}: {row:?}");
            let time = u128::from(row.duration_us);
            assert!(time >= least.as_micros(), "{faults:?}: {row:?}");
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_a_flood_has_had_no_reply() {
    for (kind, body, reply) in forms() {
        let server = canned("200 OK", kind, reply).await;
        let audit = memory();
        let proxy = start(&server, TransportName::Http, &[FLOOD], audit.clone()).await;
        let mut stream = ask(proxy, &body).await;
        let mut heard = Vec::new();
        while !String::from_utf8_lossy(&heard).contains("flood") {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0, "{kind} {body}");
        }
        drop(stream);
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        assert!(!row.success && row.cancelled, "{kind} {body}: {row:?}");
        assert_eq!(row.bytes_out, 0, "{kind} {body}: {row:?}");
    }
}
