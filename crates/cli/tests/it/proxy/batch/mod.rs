//! Batches of 2025-03-26: the same cases through the proxy and to the mock itself, over pipes and
//! over HTTP, and through the proxy to a server that we did not write.

mod http;
mod real;
mod rows;
mod sse;
mod stdio;

pub(super) use self::http::open;

use serde_json::{Value, json};

use super::{call, request};

fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    request(1, "initialize", params)
}

fn cancel(id: u64) -> Value {
    let params = json!({"requestId": id});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// Three calls and a notification.
fn three(first: u64) -> Value {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    json!([call(first), note, call(first + 1), call(first + 2)])
}

/// The ids in an array of replies, in order.
fn ids(array: &Value) -> Vec<u64> {
    let mut ids: Vec<_> = array
        .as_array()
        .unwrap_or_else(|| panic!("no array: {array}"))
        .iter()
        .map(|reply| reply["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    ids
}

/// The reply to a call in an array.
fn reply_to(array: &Value, id: u64) -> &Value {
    array.as_array().unwrap().iter().find(|reply| reply["id"] == id).unwrap()
}

/// Whoever serves a batch: the proxy in front of a mock, or the mock.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Subject {
    Proxy,
    Mock,
}

const SUBJECTS: [Subject; 2] = [Subject::Proxy, Subject::Mock];

/// A fault that touches one of three calls and leaves one array of replies, and whether the reply to
/// the second call is what it asks for.
type Case = (&'static str, fn(&Value) -> bool);

const IN_THE_ARRAY: [Case; 6] = [
    ("error:-32602@nth=2", |array| reply_to(array, 3)["error"]["code"] == -32602),
    ("tool-error@nth=2", |array| reply_to(array, 3)["result"]["isError"] == true),
    ("slow:300@nth=2", |array| reply_to(array, 3)["result"]["isError"] != true),
    ("schema-violation@nth=2", |array| reply_to(array, 3)["result"]["content"].is_string()),
    ("oversized:5000@nth=2", |array| {
        reply_to(array, 3)["result"]["content"][0]["text"].as_str().unwrap().len() == 5000
    }),
    ("error@tool=echo,nth=2", |array| reply_to(array, 3)["error"]["code"] == -32603),
];

fn check_array(array: &Value, (fault, is_touched): Case, subject: Subject) {
    assert_eq!(ids(array), [2, 3, 4], "{subject:?} {fault}");
    assert!(is_touched(array), "{subject:?} {fault}: {array}");
    for id in [2, 4] {
        let result = &reply_to(array, id)["result"];
        assert!(result["content"].is_array() && result["isError"] != true, "{fault}: {result}");
    }
}
