//! Frames that are JSON, but no proper JSON-RPC.

use mcp_loadtest_core::check::{Depth, Family};
use serde_json::json;

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{Spoilt, Taking, try_frames},
};

pub(super) static CHECK: Check = Check {
    id: "envelope",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends requests without `jsonrpc`, with another version, with parameters in a list, and \
            messages that answer nothing",
    meaning: "one careless client can end the server, or is answered where it should be told",
    run,
};

const VERSION: &str = "JSON-RPC 2.0, section 4: `jsonrpc` MUST be exactly \"2.0\"";
const PARAMS: &str = "MCP, schema: the parameters of a request are an object";

/// What is taken for granted of a frame, one by one.
static FRAMES: [Spoilt; 6] = [
    Spoilt {
        case: "a request without `jsonrpc`",
        taking: Taking::IsWrong(VERSION),
        frame: |good| {
            good.with(|json| {
                json.as_object_mut().map(|members| members.remove("jsonrpc"));
            })
        },
    },
    Spoilt {
        case: "a request of JSON-RPC 1.0",
        taking: Taking::IsWrong(VERSION),
        frame: |good| good.with(|json| json["jsonrpc"] = json!("1.0")),
    },
    Spoilt {
        case: "parameters in a list",
        taking: Taking::IsWrong(PARAMS),
        frame: |good| good.with(|json| json["params"] = json!([1, 2])),
    },
    Spoilt {
        case: "the same members twice",
        taking: Taking::IsFine,
        frame: |good| good.replacing("{", br#"{"jsonrpc":"2.0","id":0,"method":"ping","#),
    },
    Spoilt {
        case: "an answer that nobody asked for",
        taking: Taking::IsFine,
        frame: |good| {
            let answer = json!({ "jsonrpc": "2.0", "id": good.id, "result": {} });
            good.sending(answer.to_string().into_bytes())
        },
    },
    Spoilt {
        case: "an object with nothing in it",
        taking: Taking::IsFine,
        frame: |good| good.sending(b"{}".to_vec()),
    },
];

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_frames(bench, &CHECK, &FRAMES))
}
