//! Text that is no Unicode: bytes that are not UTF-8, and halves of surrogate pairs.

use mcp_loadtest_core::{
    check::{Depth, Family},
    mcp::method,
};
use mcp_loadtest_wire::session::{Outgoing, Target};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{GoodRequest, Spoilt, Taking, judge, look_for_damage, try_frames},
};

pub(super) static CHECK: Check = Check {
    id: "invalid_byte",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Quick,
    about: "sends a byte that is not UTF-8, and half a surrogate pair",
    meaning: "one wrong byte of one client ends the server",
    run,
};

/// All of today's SDKs either drop such a frame or put another character in place of the byte.
static FRAMES: [Spoilt; 2] = [
    Spoilt {
        case: "a byte that is not UTF-8",
        taking: Taking::IsFine,
        frame: |good| spoilt_text(good, b"\xff"),
    },
    Spoilt {
        case: "half a character",
        taking: Taking::IsFine,
        frame: |good| spoilt_text(good, b"\xe2\x82"),
    },
];

/// Stands for the text that cannot be written in a [`Value`].
const PLACE: &str = "mcp-loadtest-place";

fn spoilt_text(good: &GoodRequest, text: &[u8]) -> Outgoing {
    let mut marked = good.clone();
    marked.json["params"]["_meta"]["note"] = json!(PLACE);
    marked.replacing(PLACE, text)
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if let Target::WebSocket(_) = bench.target {
            bench.skip(&CHECK, "a WebSocket is closed for such a byte, as RFC 6455 asks");
        } else {
            try_frames(bench, &CHECK, &FRAMES).await;
        }
        half_a_pair_as_argument(bench).await;
    })
}

/// A server that can read half a pair may still be unable to write it: so a tool gets one that is
/// likely to come back.
async fn half_a_pair_as_argument(bench: &Bench) {
    let texts = |arguments: &Value| {
        let members = arguments.as_object().into_iter().flatten();
        members.filter(|(_, value)| value.is_string()).map(|(name, _)| name.clone()).next()
    };
    let subject = bench.subjects().find_map(|(tool, good)| Some((tool, good, texts(good)?)));
    let Some((tool, arguments, member)) = subject else { return };
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let mut arguments = arguments.clone();
    arguments[&member] = json!(PLACE);
    let params = json!({ "name": tool.name, "arguments": arguments });
    let good = GoodRequest::new(bench, &session, method::TOOLS_CALL, params);
    let out = good.replacing(PLACE, br"\ud800");
    let sent = good.send(bench, &session, &out).await;
    let case = format!("half a surrogate pair as `{member}`");
    let result = judge(&CHECK, &case, Taking::IsFine, &sent);
    bench.tell(result.tool(&tool.name).sent(out.bytes()));
    look_for_damage(bench, &CHECK).await;
}
