//! The JSON Schema of a trace line, for those who read traces with other tools.

use serde_json::{Value, json};

use crate::outcome::ErrorCategory;

/// `schemas/trace.v1.json`.
pub fn schema() -> Value {
    let call = ["request_id", "session", "method", "intended_ts"];
    let ended = [call.as_slice(), &["duration_ms"]].concat();
    let needs = |kind: &str, members: &[&str]| {
        json!({
            "if": { "properties": { "kind": { "const": kind } } },
            "then": { "required": members },
        })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-loadtest trace line, version 1",
        "type": "object",
        "required": ["ts", "kind"],
        "properties": {
            "ts": { "type": "number", "minimum": 0, "description": "seconds since the run started" },
            "kind": { "enum": ["request", "response", "error", "hang", "deadlock", "dropped", "process_sample", "generator_sample", "scenario_event"] },
            "request_id": { "type": "integer", "description": "the JSON-RPC id" },
            "session": { "type": "integer" },
            "worker": { "type": "integer" },
            "segment": { "type": "integer", "description": "the step of the scenario; absent in a scenario without steps" },
            "phase": { "enum": ["setup", "warmup", "load", "control"] },
            "method": { "type": "string" },
            "tool": { "type": "string" },
            "intended_ts": { "type": "number", "description": "when the call should have started" },
            "params": { "description": "as sent" },
            "result": { "description": "as it came; the beginning as text when it is longer than 1 KiB" },
            "result_bytes": { "type": "integer", "description": "the whole length of a result that was cut" },
            "error": {
                "type": "object",
                "required": ["category", "message"],
                "properties": {
                    "category": { "enum": ErrorCategory::ALL.map(ErrorCategory::name) },
                    "message": { "type": "string" },
                    "code": { "type": "integer" },
                },
            },
            "duration_ms": { "type": "number", "minimum": 0, "description": "since the call's true start" },
            "diagnosis": { "enum": ["wedged", "call_stuck", "request_lost", "spinning", "stopped", "slow", "unclear"] },
            "evidence": { "type": "string" },
            "rss_mb": { "type": "number" },
            "pss_mb": { "type": "number", "description": "what is shared is divided among its users; Linux only" },
            "cpu_pct": { "type": "number" },
            "threads": { "type": "integer" },
            "open_files": { "type": "integer" },
            "count": { "type": "integer", "description": "how many calls were dropped" },
            "wall_ns": { "type": "integer", "description": "time since the sample before" },
            "cpu_ns": { "type": "integer", "description": "of it, on a CPU" },
            "starved_ns": { "type": "integer", "description": "of it, ready to run but without a CPU" },
            "name": { "type": "string" },
            "detail": { "type": "string" },
        },
        "allOf": [
            needs("request", &call),
            needs("response", &[ended.as_slice(), &["result"]].concat()),
            needs("error", &[ended.as_slice(), &["error"]].concat()),
            needs("hang", &ended),
            needs("deadlock", &[ended.as_slice(), &["diagnosis"]].concat()),
            needs("dropped", &["worker", "count"]),
            needs("generator_sample", &["worker", "wall_ns", "cpu_ns", "starved_ns"]),
            needs("process_sample", &["rss_mb", "cpu_pct"]),
            needs("scenario_event", &["name"]),
        ],
    })
}
