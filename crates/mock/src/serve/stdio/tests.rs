use std::{future::pending, sync::Mutex};

use mcp_loadtest_core::seed::Seed;
use serde_json::{Value, json};

use super::*;
use crate::{
    audit::Audit,
    catalog::{Catalog, builtin},
    desk::Desk,
};

/// Gives its pieces one by one, as a pipe may.
struct Pieces(Vec<Vec<u8>>);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(first) = self.0.first_mut() else { return Ok(0) };
        let length = first.len().min(buffer.len());
        buffer[..length].copy_from_slice(&first[..length]);
        first.drain(..length);
        if first.is_empty() {
            self.0.remove(0);
        }
        Ok(length)
    }
}

/// Keeps the writes apart.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const PONG: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

async fn run(fault: &str, pieces: Vec<Vec<u8>>) -> (Served, Vec<Vec<u8>>) {
    let mut catalog = Catalog::default();
    catalog.extend(builtin::tools(&[]));
    let faults = Desk::new(vec![fault.parse().unwrap()], Seed(1));
    let server = Arc::new(Server::new(Default::default(), catalog, faults, Audit::none()));
    let writes = Writes::default();
    let served = serve(server, Pieces(pieces), writes.clone(), pending()).await.unwrap();
    let written = writes.0.lock().unwrap().clone();
    (served, written)
}

fn initialize(version: &str) -> Vec<u8> {
    line(0, "initialize", json!({"protocolVersion": version, "capabilities": {}}))
}

fn line(id: u64, method: &str, params: Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{message}\n").into_bytes()
}

fn replies(writes: &[Vec<u8>]) -> Vec<Value> {
    let text = String::from_utf8(writes.concat()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn what_one_read_brings_is_answered_with_one_write() {
    let (served, writes) = run("none", vec![PING.repeat(3), PING.to_vec()]).await;
    assert_eq!((served, writes), (Served::Gone, vec![PONG.repeat(3), PONG.to_vec()]));
}

#[tokio::test]
async fn a_line_may_come_in_pieces() {
    let pieces = PING.chunks(1).map(<[u8]>::to_vec).collect();
    assert_eq!(run("none", pieces).await.1.concat(), PONG);
}

#[tokio::test]
async fn blank_lines_and_notifications_are_not_answered() {
    let quiet = b"\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    assert_eq!(run("none", vec![quiet.to_vec()]).await.1.concat(), b"");
}

#[tokio::test]
async fn a_line_that_is_too_long_costs_only_itself() {
    let long = vec![b'x'; MESSAGE_LIMIT + 3 * READ_SIZE];
    let (_, writes) = run("none", vec![long, b"yy\n".to_vec(), PING.to_vec()]).await;
    let replies = replies(&writes);
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert_eq!(replies[0]["error"]["code"], -32600);
    assert_eq!(replies[1]["result"], json!({}));
}

#[tokio::test]
async fn a_message_much_longer_than_a_read_is_answered() {
    let text = "x".repeat(20 * READ_SIZE);
    let call = line(2, "tools/call", json!({"name": "echo", "arguments": {"message": text}}));
    let (_, writes) = run("none", vec![initialize("2025-11-25"), call, PING.to_vec()]).await;
    let bytes = writes.concat();
    assert!(bytes.len() > 2 * text.len() && bytes.ends_with(PONG));
}

#[tokio::test]
async fn without_a_handshake_there_is_only_a_refusal() {
    let call = line(2, "tools/call", json!({"name": "echo"}));
    let (_, writes) = run("none", vec![call]).await;
    assert_eq!(replies(&writes)[0]["error"]["code"], -32600);
}

#[tokio::test]
async fn batches_belong_to_the_revisions_that_have_them() {
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "echo"}});
    let ping = json!({"jsonrpc": "2.0", "id": 6, "method": "ping"});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = format!("{}\n", json!([call, ping, notice])).into_bytes();
    for (version, answered) in [("2024-11-05", true), ("2025-03-26", true), ("2025-06-18", false)] {
        let (_, writes) = run("none", vec![initialize(version), batch.clone()]).await;
        let replies = replies(&writes);
        match replies[1].as_array() {
            Some(together) => {
                let mut ids: Vec<_> =
                    together.iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
                ids.sort_unstable();
                assert!(answered && ids == [5, 6], "{version}: {replies:?}");
            }
            None => {
                assert!(!answered, "{version}: {replies:?}");
                assert_eq!(replies[1]["error"]["code"], -32600, "{version}");
            }
        }
    }
}

/// The end of the input is a cancellation too: nobody is left to hear of it.
#[tokio::test]
async fn the_end_of_the_input_ends_what_still_runs() {
    let slow = json!({"name": "slow", "arguments": {"milliseconds": 60_000}});
    let call = line(2, "tools/call", slow);
    let (served, writes) = run("none", vec![initialize("2025-11-25"), call]).await;
    assert_eq!((served, replies(&writes).len()), (Served::Gone, 1));
}

#[tokio::test]
async fn bad_arguments_are_refused_as_the_revision_says() {
    let bad = json!({"name": "slow", "arguments": {"milliseconds": "soon"}});
    for (version, is_tool_error) in [("2025-06-18", false), ("2025-11-25", true)] {
        let call = line(2, "tools/call", bad.clone());
        let (_, writes) = run("none", vec![initialize(version), call]).await;
        let reply = &replies(&writes)[1];
        assert_eq!(reply["result"]["isError"] == true, is_tool_error, "{version}: {reply}");
        assert_eq!(reply["error"]["code"] == -32602, !is_tool_error, "{version}: {reply}");
    }
}
