//! `example-config`: a configuration, or a suite, to start from.

use clap::Args;
use mcp_loadtest_core::{config, exit::Exit, suite};

use super::explain;
use crate::{env::Env, error::CliError};

/// Arguments of `example-config`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mcp-loadtest example-config > bench.toml && mcp-loadtest run --config bench.toml\n  \
                  mcp-loadtest example-config --suite > suite.yml && mcp-loadtest test suite.yml"
)]
pub(crate) struct ExampleConfigArgs {
    /// A suite for `test` instead.
    #[arg(long)]
    suite: bool,
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
             `schema config` prints its JSON Schema. Precedence: default < file < flag.\n\
             With --suite a suite of tests, which `test FILE` carries out; `schema suite` is its\n\
             JSON Schema, docs/reference/suite.md has every key.",
        ));
    }
    env.out(if args.suite { suite::EXAMPLE } else { config::EXAMPLE });
    Ok(Exit::Pass)
}
