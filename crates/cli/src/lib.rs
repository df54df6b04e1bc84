//! The shell around the engine: arguments, terminal, files.
//!
//! Every command is a function from its arguments and an [`env::Env`] to an exit code, so that tests
//! run commands in-process.

mod admin_args;
mod app;
mod args;
mod baseline;
mod ci_args;
mod commands;
mod compare_args;
pub mod env;
mod error;
mod fault_log;
mod interrupt;
mod limits;
mod listen;
mod live;
mod load;
#[cfg(feature = "otlp")]
mod otlp;
mod progress;
#[cfg(test)]
mod reference;
mod scenario_args;
mod server_args;
mod targets;
#[cfg(feature = "torture")]
mod torture;
mod version;

use std::{ffi::OsString, fmt::Display, str::FromStr};

use clap::{
    Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use mcp_loadtest_core::{exit::Exit, hint::Hint, server::shell_word};

use crate::{args::Cli, env::Env};

/// Reads a flag's value; what is wrong with it is told with its hint.
fn hinted<T>(text: &str) -> Result<T, String>
where
    T: FromStr<Err: Hint + Display>,
{
    text.parse::<T>().map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// The command line as it is declared, for whoever has to know all of it.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs one command line.
pub fn run(mut env: Env) -> Exit {
    limits::raise_open_files();
    let cli = match Cli::try_parse_from(&env.args) {
        Ok(cli) => cli,
        Err(error) => return usage(&mut env, &error),
    };
    env.set_color(cli.color);
    #[cfg(feature = "torture")]
    if let Err(error) = torture::arm(&env) {
        error.print(&mut env);
        return error.exit();
    }
    let exit = match commands::run(cli, &mut env) {
        Ok(exit) => exit,
        Err(error) => {
            error.print(&mut env);
            error.exit()
        }
    };
    match env.write_error() {
        // A result that nobody could read is no result.
        Some(error) => {
            env.err(&format!("error: cannot write to stdout: {error}\n"));
            Exit::Usage
        }
        None => exit,
    }
}

/// Help and version are answers and go to stdout; everything else clap says is an error.
fn usage(env: &mut Env, error: &clap::Error) -> Exit {
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            env.out(&text);
            Exit::Pass
        }
        _ => {
            env.err(&text);
            if let Some(hint) = bare_command(&env.args, error) {
                env.err(&format!("hint: {hint}\n"));
            }
            Exit::Usage
        }
    }
}

/// What to write for a server's command that stands there bare, as other tools take it.
fn bare_command(args: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || found.starts_with('-') {
        return None;
    }
    let name = args.get(1)?.to_str()?;
    let flags = command();
    flags.find_subcommand(name)?.get_arguments().find(|flag| flag.get_long() == Some("server"))?;
    let from = args.iter().position(|word| word.to_str() == Some(found))?;
    let words = args[from..].iter().map(|word| shell_word(&word.to_string_lossy()));
    let line = words.collect::<Vec<_>>().join(" ");
    let is_plain = !line.contains(['"', '$', '`', '\\', '!']);
    let word = if is_plain { format!("\"{line}\"") } else { shell_word(&line) };
    Some(format!("the command of a server is one word: `mcp-loadtest {name} --server {word}`"))
}
