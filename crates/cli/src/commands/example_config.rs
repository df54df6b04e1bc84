//! `example-config`: a configuration to start from.

use clap::Args;
use mcp_loadtest_core::{config::EXAMPLE, exit::Exit};

use super::explain;
use crate::{env::Env, error::CliError};

/// Arguments of `example-config`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  mcp-loadtest example-config > bench.toml && mcp-loadtest run --config bench.toml"
)]
pub(crate) struct ExampleConfigArgs {
    /// Print what it is for and exit.
    #[arg(long)]
    explain: bool,
}

/// Runs `example-config`.
pub(crate) fn run(args: &ExampleConfigArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(
            env,
            "Prints a commented configuration with every key; `run --config FILE` runs it.\n\
             `schema config` prints its JSON Schema. Precedence: default < file < flag.",
        ));
    }
    env.out(EXAMPLE);
    Ok(Exit::Pass)
}
