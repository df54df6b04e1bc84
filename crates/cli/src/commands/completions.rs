//! `completions`: for the shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use mcp_loadtest_core::exit::Exit;

use super::explain;
use crate::{args::Cli, env::Env, error::CliError};

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  mcp-loadtest completions bash > ~/.local/share/bash-completion/completions/mcp-loadtest"
)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    #[arg(value_enum, required_unless_present = "explain")]
    shell: Option<Shell>,
    /// Print what they are for and exit.
    #[arg(long)]
    explain: bool,
}

/// Runs `completions`.
pub(crate) fn run(args: &CompletionsArgs, env: &mut Env) -> Result<Exit, CliError> {
    let Some(shell) = args.shell.filter(|_| !args.explain) else {
        return Ok(explain(
            env,
            "Prints a completion script; put it where your shell looks for such scripts.",
        ));
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp-loadtest", &mut script);
    env.out(&String::from_utf8_lossy(&script));
    Ok(Exit::Pass)
}
