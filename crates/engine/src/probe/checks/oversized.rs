//! Calls with a very long text.

use mcp_loadtest_core::check::{
    Depth, Family,
    negative::{self, Made, Subject},
};

use super::{Check, Running};
use crate::probe::{
    bench::{Bench, Settings},
    negative::try_tools,
};

pub(in crate::probe) static CHECK: Check = Check {
    id: "oversized",
    family: Family::NegativePath,
    taxonomy: Some("FAULT-INPUT-OVERSIZED (2606.05339)"),
    depth: Depth::Usual,
    about: "sends a very long text",
    meaning: "one long text brings the server down or blocks it",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(bench, &CHECK, make, "no tool takes a text"))
}

/// Long texts are costly; the first of a tool and the last tell as much as all of them.
fn make(subject: &Subject<'_>, settings: &Settings) -> Made {
    let mut made = negative::oversized(subject, settings.oversized);
    if settings.depth != Depth::Deep && made.cases.len() > 2 {
        made.cases.drain(1..made.cases.len() - 1);
    }
    made
}
