//! The call with good arguments that every refusal is held against.

use mcp_loadtest_core::check::{
    CaseResult, CaseVerdict, Depth, Family, negative::arguments_problem,
};

use super::{Check, Running};
use crate::probe::{
    bench::{Bench, KnownTool},
    report::ToolVerdict,
};

pub(super) static CHECK: Check = Check {
    id: mcp_loadtest_core::check::CONTROL_CALL,
    family: Family::NegativePath,
    taxonomy: None,
    depth: Depth::Quick,
    about: "looks at the call with good arguments that was made of each tool",
    meaning: "a tool that refuses good arguments refuses bad ones for no good reason",
    run,
};

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let called =
            bench.tools.iter().filter(|known| known.control.verdict != ToolVerdict::Skipped);
        let mut any = false;
        for known in called {
            any = true;
            bench.tell(judge(bench, known).tool(&known.tool.name));
        }
        if !any {
            bench.skip(&CHECK, "no tool was called");
        }
    })
}

fn judge(bench: &Bench, known: &KnownTool) -> CaseResult {
    let told = |verdict| CHECK.case("good arguments", verdict);
    let forbidden = bench.settings.arguments.as_ref();
    let forbidden = forbidden.and_then(|good| arguments_problem(&known.tool.input_schema, good));
    let sure = bench.settings.arguments.is_some();
    let why = |what: &str| format!("the control call {what}: {}", known.control.reason);
    match known.control.verdict {
        ToolVerdict::Ok | ToolVerdict::Slow if !bench.has_time_for(known) => {
            told(CaseVerdict::Held).detail("it takes long: --deep tries it with bad arguments")
        }
        ToolVerdict::Ok | ToolVerdict::Slow => told(CaseVerdict::Held),
        ToolVerdict::ToolError | ToolVerdict::Refused if forbidden.is_some() => {
            let problem = forbidden.unwrap_or_default();
            told(CaseVerdict::CouldNotTell)
                .detail(format!("the given arguments are none that its schema allows: {problem}"))
        }
        // Made-up arguments may well be refused; those that somebody vouches for may not.
        ToolVerdict::ToolError | ToolVerdict::Refused if sure => {
            told(CaseVerdict::Broken).detail(why("was refused"))
        }
        ToolVerdict::ToolError | ToolVerdict::Refused => {
            told(CaseVerdict::CouldNotTell).detail(why("was refused"))
        }
        // These are findings of their own.
        ToolVerdict::Hung
        | ToolVerdict::Crashed
        | ToolVerdict::Malformed
        | ToolVerdict::Skipped => {
            told(CaseVerdict::CouldNotTell).detail(why("got no answer that could be used"))
        }
    }
}
