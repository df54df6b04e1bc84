//! `man`: the manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use mcp_loadtest_core::exit::Exit;

use super::explain;
use crate::{args::Cli, env::Env, error::CliError};

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mcp-loadtest man | man -l -\n  mcp-loadtest man --dir /usr/local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Write a page per command into this directory instead of printing the main page.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print what it does and exit.
    #[arg(long)]
    explain: bool,
}

/// Runs `man`.
pub(crate) fn run(args: &ManArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(
            env,
            "Prints the manual page, or writes a page per command with --dir.",
        ));
    }
    if let Some(dir) = &args.dir {
        let dir = env.cwd.join(dir);
        std::fs::create_dir_all(&dir)?;
        clap_mangen::generate_to(Cli::command(), &dir)?;
        env.err(&format!("manual pages written to {}\n", dir.display()));
        return Ok(Exit::Pass);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    env.out(&String::from_utf8_lossy(&page));
    Ok(Exit::Pass)
}
