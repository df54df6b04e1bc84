//! Parameters nested deeper than a recursive parser can follow.

use mcp_loadtest_core::check::{Depth, Family};
use mcp_loadtest_wire::session::Outgoing;

use super::{Check, Running};
use crate::probe::{
    bench::Bench,
    frames::{GoodRequest, Spoilt, Taking, try_frames},
};

pub(super) static CHECK: Check = Check {
    id: "deep_nesting",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends parameters that are nested thousands of levels deep",
    meaning: "one small message overflows the stack and ends the server for all of its clients",
    run,
};

/// A parser that recurses and does not count overflows its stack somewhere in between.
static FRAMES: [Spoilt; 3] = [
    Spoilt {
        case: "lists nested 5,000 levels deep",
        taking: Taking::IsFine,
        frame: |good| nested(good, 5_000, "[", "]"),
    },
    Spoilt {
        case: "objects nested 5,000 levels deep",
        taking: Taking::IsFine,
        frame: |good| nested(good, 5_000, "{\"a\":", "}"),
    },
    Spoilt {
        case: "lists nested 100,000 levels deep",
        taking: Taking::IsFine,
        frame: |good| nested(good, 100_000, "[", "]"),
    },
];

fn nested(good: &GoodRequest, levels: usize, open: &str, close: &str) -> Outgoing {
    let value = format!("{}1{}", open.repeat(levels), close.repeat(levels));
    good.replacing("\"params\":{", format!("\"params\":{{\"x\":{value}{}", comma(good)).as_bytes())
}

/// Needed where other parameters follow.
fn comma(good: &GoodRequest) -> &'static str {
    match good.json["params"].as_object() {
        Some(params) if !params.is_empty() => ",",
        _ => "",
    }
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_frames(bench, &CHECK, &FRAMES))
}
