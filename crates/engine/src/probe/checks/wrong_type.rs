//! Calls with an argument of a wrong type.

use mcp_loadtest_core::check::{Depth, Family, negative};

use super::{Check, Running};
use crate::probe::{bench::Bench, negative::try_tools};

pub(super) static CHECK: Check = Check {
    id: "wrong_type",
    family: Family::NegativePath,
    taxonomy: Some("FAULT-SCHEMA-TYPE-MISMATCH (2603.05637)"),
    depth: Depth::Quick,
    about: "gives each argument a wrong type in its turn",
    meaning: "a tool works on with values of which its code knows nothing, or brings the server down",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(
        bench,
        &CHECK,
        |subject, _| negative::wrong_type(subject),
        "no tool has typed arguments",
    ))
}
