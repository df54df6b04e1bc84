//! `proxy`: clean when nothing is asked of it, and wrong in exactly the way that is.

mod batch;
mod events;
mod http;
mod log;
mod stdio;
mod waiting;

use serde_json::{Value, json};

fn initialize() -> Value {
    request(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}),
    )
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn call(id: u64) -> Value {
    request(id, "tools/call", json!({"name": "echo", "arguments": {"text": "hi"}}))
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
