//! The `mcp-loadtest` binary: process state in, exit code out.

use std::process::ExitCode;

use mcp_loadtest_cli::{env::Env, run};
use mcp_loadtest_wire::process::dismiss_guard;
use mimalloc::MiMalloc;

/// Rows of a log and entries of a journal are made by one thread and freed by another, in all sizes:
/// with the system's allocator that took a tenth of the time, and more as the hours went by.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let exit = run(Env::from_process());
    dismiss_guard();
    ExitCode::from(exit.code())
}
