//! Calls with a value that is not listed.

use mcp_loadtest_core::check::{Depth, Family, negative};

use super::{Check, Running};
use crate::probe::{bench::Bench, negative::try_tools};

pub(super) static CHECK: Check = Check {
    id: "enum_miss",
    family: Family::NegativePath,
    taxonomy: None,
    depth: Depth::Usual,
    about: "gives arguments values that are not in their list",
    meaning: "a tool works on with a choice that it does not have",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(
        bench,
        &CHECK,
        |subject, _| negative::enum_miss(subject),
        "no tool lists the values of an argument",
    ))
}
