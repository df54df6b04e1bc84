//! Replies that are to be overtaken.

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::{Mock, audit::Audit};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpListener};

use super::{BODY, HEAD, hear, start};
use crate::{
    peer::Peer,
    written::{memory, wait_for},
};

/// The one that waits must not hold up those that it waits for: they share a stream.
#[tokio::test(start_paused = true)]
async fn a_reply_on_a_shared_stream_waits_until_another_has_left() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = Mock::new().bind_as(TransportName::Sse, listen).await.unwrap().spawn();
    let transport = TransportName::Sse;
    let proxy = start(server.url(), transport, &["reorder@nth=1"], Audit::default()).await;
    let mut peer = Peer::visit(transport, Era::Legacy, proxy).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(peer.call("echo", json!({})).await);
    }
    let mut came = Vec::new();
    for _ in 0..3 {
        came.push(peer.frame(0).await.json()["id"].as_u64().unwrap());
    }
    assert_ne!(came[0], asked[0], "it is overtaken: {came:?}");
    came.sort_unstable();
    assert_eq!(came, asked, "each is answered once");
}

/// A server of HTTP+SSE that ends its stream behind its first reply.
async fn brief() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    let endpoint = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                    Connection: close\r\n\r\nevent: endpoint\ndata: /messages\n\n";
    let accepted = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(hear(&mut stream, HEAD).await);
        stream.write_all(endpoint.as_bytes()).await.unwrap();
        let (mut post, _) = listener.accept().await.unwrap();
        assert!(hear(&mut post, BODY).await);
        post.write_all(accepted.as_bytes()).await.unwrap();
        stream.write_all(format!("data: {reply}\n\n").as_bytes()).await.unwrap();
    });
    url
}

#[tokio::test]
async fn a_reply_that_waits_outlives_the_stream_of_its_server() {
    for fault in ["reorder", "slow:50"] {
        let (transport, audit) = (TransportName::Sse, memory());
        let proxy = start(&brief().await, transport, &[fault], audit.clone()).await;
        let mut peer = Peer::visit(transport, Era::Modern, proxy).await;
        let id = peer.call("echo", json!({})).await;
        assert!(peer.reply(id).await["result"].is_object(), "{fault}");
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        assert!(row.success && !row.cancelled, "{fault}: {row:?}");
    }
}

#[tokio::test]
async fn a_call_of_a_batch_that_hangs_keeps_no_stream_open_that_its_server_has_ended() {
    let (transport, audit) = (TransportName::Sse, memory());
    let proxy = start(&brief().await, transport, &["hang@tool=stuck"], audit.clone()).await;
    let mut peer = Peer::visit(transport, Era::Modern, proxy).await;
    let call = |id: u64, tool: &str| {
        let params = json!({ "name": tool, "arguments": {} });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    peer.tell(&json!([call(1, "echo"), call(2, "stuck")])).await;
    assert!(peer.reply(1).await["result"].is_object());
    let row = wait_for(&audit, |row| row.tool.as_deref() == Some("stuck")).await;
    assert!(row.cancelled && !row.success, "{row:?}");
}
