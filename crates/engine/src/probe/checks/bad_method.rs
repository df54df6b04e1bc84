//! Methods and tools whose name is no text, and calls that name none.

use mcp_loadtest_core::{
    check::{Depth, Family},
    mcp::method,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{GoodRequest, Spoilt, Taking, judge, look_for_damage, try_frames},
};

pub(super) static CHECK: Check = Check {
    id: "bad_method",
    family: Family::Envelope,
    taxonomy: Some("FAULT-PROTO-UNKNOWN-METHOD (2606.05339)"),
    depth: Depth::Usual,
    about: "sends methods and tool names that are numbers, nothing, or missing",
    meaning: "a request of the wrong type ends the server, or is carried out all the same",
    run,
};

const METHOD: &str = "JSON-RPC 2.0, section 4: `method` is a string";
const NAME: &str = "MCP tools: `name` of tools/call is a required string";

static FRAMES: [Spoilt; 3] = [
    Spoilt {
        case: "a number as method",
        taking: Taking::IsWrong(METHOD),
        frame: |good| good.with(|json| json["method"] = json!(42)),
    },
    Spoilt {
        case: "`null` as method",
        taking: Taking::IsWrong(METHOD),
        frame: |good| good.with(|json| json["method"] = Value::Null),
    },
    Spoilt {
        case: "an id and no method",
        taking: Taking::IsWrong(METHOD),
        frame: |good| {
            good.with(|json| {
                json.as_object_mut().map(|members| members.remove("method"));
            })
        },
    },
];

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        try_frames(bench, &CHECK, &FRAMES).await;
        if bench.hello.has_tools() {
            bad_names(bench).await;
        }
    })
}

async fn bad_names(bench: &Bench) {
    let cases = [
        ("a number as the name of a tool", json!({ "name": 42, "arguments": {} })),
        ("`null` as the name of a tool", json!({ "name": null, "arguments": {} })),
        ("a call that names no tool", json!({ "arguments": {} })),
    ];
    for (case, params) in cases {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let good = GoodRequest::new(bench, &session, method::TOOLS_CALL, params);
        let out = good.sending(good.bytes());
        let sent = good.send(bench, &session, &out).await;
        bench.tell(judge(&CHECK, case, Taking::IsWrong(NAME), &sent).sent(out.bytes()));
    }
    look_for_damage(bench, &CHECK).await;
}
