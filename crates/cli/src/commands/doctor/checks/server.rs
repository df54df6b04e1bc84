//! The server that was named: does it start, begin a session and list its tools?

use mcp_loadtest::{Greeting, RunError, Stop, greet};
use mcp_loadtest_core::{
    display::visible_lines,
    doctor::{Health, Seen},
    hint::Hint as _,
    report::figures::counted,
    units::format_latency,
};

use super::super::{Check, Found, scene::Scene};
use crate::{commands::block_on, error::CliError, interrupt};

/// As much of its stderr is shown.
const LINES: usize = 12;
const WIDTH: usize = 160;

pub(super) const ENTRY: Check = Check {
    id: "server",
    about: "the server that the flags name: its start, handshake and list of tools",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let Some(server) = &scene.server else { return Ok(Vec::new()) };
    let stop = Stop::new();
    let greeting = greet(server.clone(), scene.strict_protocol, scene.tee_stderr, stop.clone());
    let greeted = block_on(async {
        tokio::select! {
            greeted = greeting => greeted,
            () = interrupt::listen(stop) => Err(RunError::Interrupted),
        }
    })?;
    match greeted {
        Ok(greeting) => Ok(vec![welcomed(&greeting).into()]),
        Err(RunError::Interrupted) => Err(CliError::Interrupted),
        Err(error) => Ok(vec![refused(&error).into()]),
    }
}

fn welcomed(greeting: &Greeting) -> Seen {
    let Greeting { server, took, problem } = greeting;
    let name = server.name.as_deref().unwrap_or("a server without a name");
    let revision = server.revision.map_or_else(String::new, |revision| format!(" MCP {revision},"));
    let what = format!(
        "{name}:{revision} handshake {}, {}",
        format_latency(*took),
        counted(u64::from(server.tools.unwrap_or_default()), "tool")
    );
    match problem {
        Some(problem) => Seen::new(Health::Warning, format!("{what}; {problem}"))
            .fix("`mcp-loadtest probe` with the same flags says more"),
        None => Seen::new(Health::Ok, what),
    }
}

fn refused(error: &RunError) -> Seen {
    let fix = error.hint().unwrap_or_else(|| "look at its stderr with `--tee-stderr`".into());
    let mut seen = Seen::new(Health::Failed, error.to_string()).fix(fix);
    if let Some(error) = error.open_error() {
        seen.details = visible_lines(error.stderr().unwrap_or_default(), LINES, WIDTH);
    }
    seen
}
