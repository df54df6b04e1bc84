//! Calls with an argument that nobody asked for.

use mcp_loadtest_core::{
    check::{
        Depth, Family,
        negative::{self, Made, Subject},
    },
    report::Severity,
};

use super::{Check, Running};
use crate::probe::{
    bench::{Bench, Settings},
    negative::try_tools,
};

pub(super) static CHECK: Check = Check {
    id: "extra_field",
    family: Family::NegativePath,
    taxonomy: Some("FAULT-SCHEMA-UNEXPECTED-FIELD (2603.05637)"),
    depth: Depth::Usual,
    about: "adds an argument that nobody asked for",
    meaning: "a misspelt optional argument is dropped without a word",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(try_tools(bench, &CHECK, make, "no tool takes arguments"))
}

/// A schema that is open allows it, and to take it is never worse than a warning; whoever asks for
/// strictness wants it refused all the same.
fn make(subject: &Subject<'_>, settings: &Settings) -> Made {
    let mut made = negative::extra_field(subject);
    for case in made.cases.iter_mut().filter(|_| settings.strict) {
        case.forbidden = true;
        case.if_taken = Severity::Critical;
    }
    made
}
