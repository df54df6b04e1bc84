//! `audit`: what a server's log of messages says.
//!
//! One file per thing that can be done with a log. To add one: a file with its `Args` and its `run`,
//! a variant of [`Action`] and an arm in [`run`].

mod export;
mod list;
mod selection;
mod show;
mod stats;
mod table;
mod tail;
mod text;

use clap::{Args, Subcommand};
use mcp_loadtest_core::{exit::Exit, hint::Hint};
use mcp_loadtest_mock::audit::{STORES, StoreSpec};

use super::explain;
use crate::{env::Env, error::CliError};

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest audit mcp-loadtest-audit.db
  mcp-loadtest audit audit.db list --tool search --success false --from 10m
  mcp-loadtest audit audit.db show 17
  mcp-loadtest audit postgres://ci@db/audit stats --from 2026-05-10T14:30:00Z
  mcp-loadtest audit audit.db tail --follow
  mcp-loadtest audit calls.jsonl export --format csv --output calls.csv

Exit codes: 0 done, 2 the log is not there or cannot be read.")]
pub(crate) struct AuditArgs {
    /// The log: sqlite:PATH, jsonl:PATH, postgres://USER@HOST/DATABASE, or a path that ends in .db, .sqlite or .jsonl.
    #[arg(default_value = StoreSpec::DEFAULT, value_parser = hinted::<StoreSpec>)]
    store: StoreSpec,
    /// Print what is done and exit.
    #[arg(long, global = true)]
    explain: bool,
    /// What to do with it [default: list].
    #[command(subcommand)]
    action: Option<Action>,
}

/// What can be done with a log.
#[derive(Debug, Subcommand)]
enum Action {
    /// List rows, the latest at the end.
    List(list::ListArgs),
    /// Show all of one row.
    Show(show::ShowArgs),
    /// Sum up: calls, errors, response times, gaps and retries of each tool.
    Stats(stats::StatsArgs),
    /// Show the last rows, and new ones as they come.
    Tail(tail::TailArgs),
    /// Write rows as JSON lines or CSV.
    Export(export::ExportArgs),
}

const EXPLANATION: &str = "\
Reads the log that a mock or a proxy writes with --audit: a row for every message that reached it, a
request together with its reply. So the number of rows with the method `tools/call` is the number of
calls that arrived. Nothing is written to the log and no log is made.
  list    rows in the order of arrival; the last 50 unless --limit or --after say otherwise
  show    one row with everything that is known of it
  stats   for each tool: calls, share of errors, response times from arrival to reply, gaps between
          arrivals, retries (the same call again, in whichever session, after one that did not go
          well) and calls that the client gave up
  tail    the last rows, then with --follow new ones as they are recorded
  export  JSON lines, which is also a log that this command reads, or CSV
Filters add up: a row is shown if all of them hold. --from and --to take a time or how long ago.
Logs:";

/// Runs `audit`.
pub(crate) fn run(args: &AuditArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        let stores: Vec<_> =
            STORES.iter().map(|store| format!("\n  {:<30} {}", store.form, store.about)).collect();
        return Ok(explain(env, &(EXPLANATION.to_owned() + &stores.concat())));
    }
    let mut log = args.store.clone().in_dir(&env.cwd).read()?;
    match &args.action {
        None => list::run(&list::ListArgs::default(), &mut *log, env),
        Some(Action::List(args)) => list::run(args, &mut *log, env),
        Some(Action::Show(args)) => show::run(args, &mut *log, env),
        Some(Action::Stats(args)) => stats::run(args, &mut *log, env),
        Some(Action::Tail(args)) => tail::run(args, &mut *log, env),
        Some(Action::Export(args)) => export::run(args, &mut *log, env),
    }
}

/// Reads a value, with what to try next in the error.
fn hinted<T: std::str::FromStr<Err: Hint>>(text: &str) -> Result<T, String> {
    text.parse::<T>().map_err(|error| with_hint(&error))
}

fn with_hint(error: &dyn Hint) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}
