//! Frames that are no JSON.

use mcp_loadtest_core::check::{Depth, Family};

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{Spoilt, Taking, try_frames},
};

pub(super) static CHECK: Check = Check {
    id: "broken_json",
    family: Family::Envelope,
    taxonomy: Some("FAULT-PROTO-MALFORMED-JSON (2606.05339)"),
    depth: Depth::Usual,
    about: "sends half a frame, an empty one, text, and a byte order mark",
    meaning: "a client that is cut off in the middle of a message takes the server with it",
    run,
};

static FRAMES: [Spoilt; 6] = [
    Spoilt {
        case: "half a request",
        taking: Taking::IsFine,
        frame: |good| {
            let bytes = good.bytes();
            good.sending(bytes[..bytes.len() / 2].to_vec())
        },
    },
    Spoilt {
        case: "an empty frame",
        taking: Taking::IsFine,
        frame: |good| good.sending(Vec::new()),
    },
    Spoilt {
        case: "text in place of JSON",
        taking: Taking::IsFine,
        frame: |good| good.sending(b"GET / HTTP/1.0".to_vec()),
    },
    Spoilt {
        case: "a number in place of an object",
        taking: Taking::IsFine,
        frame: |good| good.sending(b"42".to_vec()),
    },
    Spoilt {
        case: "`null` in place of an object",
        taking: Taking::IsFine,
        frame: |good| good.sending(b"null".to_vec()),
    },
    Spoilt {
        case: "a byte order mark before a request",
        taking: Taking::IsFine,
        frame: |good| good.sending([b"\xef\xbb\xbf".as_slice(), &good.bytes()].concat()),
    },
];

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_frames(bench, &CHECK, &FRAMES))
}
