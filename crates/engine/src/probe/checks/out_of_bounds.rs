//! Calls with a value beyond a limit.

use mcp_loadtest_core::check::{Depth, Family, negative};

use super::{Check, Running};
use crate::probe::{bench::Bench, negative::try_tools};

pub(super) static CHECK: Check = Check {
    id: "out_of_bounds",
    family: Family::NegativePath,
    taxonomy: None,
    depth: Depth::Usual,
    about: "gives arguments values just outside of their limits",
    meaning: "limits that a tool announces are not kept, and its code may rely on them",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(
        bench,
        &CHECK,
        |subject, _| negative::out_of_bounds(subject),
        "no tool has arguments with limits",
    ))
}
