//! Calls without an argument that is required.

use mcp_loadtest_core::check::{Depth, Family, negative};

use super::{Check, Running};
use crate::probe::{bench::Bench, negative::try_tools};

pub(super) static CHECK: Check = Check {
    id: "missing_required",
    family: Family::NegativePath,
    taxonomy: Some("FAULT-SCHEMA-MISSING-REQUIRED (2603.05637)"),
    depth: Depth::Quick,
    about: "leaves out each required argument in its turn",
    meaning: "a model that forgets an argument is not told so, or brings the server down",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(
        bench,
        &CHECK,
        |subject, _| negative::missing_required(subject),
        "no tool has required arguments",
    ))
}
