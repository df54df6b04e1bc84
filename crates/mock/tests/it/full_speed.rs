//! As many calls as can be sent, with every store: each call leaves one row, no more and no less.

use mcp_loadtest_core::mcp::method;
use mcp_loadtest_mock::{
    Mock,
    audit::{Audit, Filter, Redaction},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};

use super::{
    audit::cluster::Cluster,
    support::{post, request},
};

const CONNECTIONS: usize = 8;
const CALLS: usize = 100_000;
/// Sent at once, so that nobody waits for a reply.
const AHEAD: usize = 50;

/// Sends calls ahead of their replies until all are answered.
async fn hammer(address: String, calls: usize) {
    let meta = json!({(method::META_VERSION): "2026-07-28", (method::META_CAPABILITIES): {}});
    let lines = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
    let body = request(method::TOOLS_CALL, json!({"name": "echo", "_meta": meta}));
    let burst = post(lines, &body).repeat(AHEAD);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut input = vec![0; 1 << 16];
    for _ in 0..calls / AHEAD {
        stream.write_all(&burst).await.unwrap();
        let (mut replies, mut kept) = (0, 0);
        while replies < AHEAD {
            let read = stream.read(&mut input[kept..]).await.unwrap();
            assert!(read > 0, "the mock hung up");
            let end = kept + read;
            // Every reply ends alike; what may be the beginning of such an end is looked at again.
            replies += memchr::memmem::find_iter(&input[..end], b"\"isError\":false").count();
            kept = end.min(14);
            let tail = input[end - kept..end].to_vec();
            input[..kept].copy_from_slice(&tail);
        }
    }
}

async fn rows_equal_calls(store: &str) {
    let audit = Audit::open(&store.parse().unwrap(), Redaction::default()).unwrap();
    let mock = Mock::new().audit(audit.clone());
    let bound = mock.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().to_owned();
    let mock = bound.spawn();
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        clients.spawn(hammer(address.clone(), CALLS / CONNECTIONS));
    }
    clients.join_all().await;
    drop(mock);
    let calls = Filter { method: Some(method::TOOLS_CALL.into()), ..Filter::default() };
    let rows = audit.query(&calls).unwrap();
    assert_eq!(rows.len(), CALLS);
    assert!(rows.iter().all(|row| row.success));
    let closing = audit.close().unwrap();
    assert_eq!((closing.emitted, closing.written), (CALLS as u64, CALLS as u64));
}

#[tokio::test]
async fn every_call_leaves_a_row_in_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    rows_equal_calls(&format!("sqlite:{}", dir.path().join("calls.db").display())).await;
}

#[tokio::test]
async fn every_call_leaves_a_row_in_postgresql() {
    let cluster = Cluster::start();
    rows_equal_calls(&cluster.url()).await;
}
