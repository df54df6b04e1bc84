//! The `mcp-loadtest` binary: process state in, exit code out.

use std::process::ExitCode;

use mcp_loadtest_cli::{env::Env, run};

fn main() -> ExitCode {
    ExitCode::from(run(Env::from_process()).code())
}
