//! `audit list`: rows in the order of arrival.

use clap::Args;
use mcp_loadtest_core::exit::Exit;
use mcp_loadtest_mock::audit::{Filter, Keep, Row, Source};

use super::{
    selection::Selection,
    table::{self, Side},
    text,
};
use crate::{env::Env, error::CliError};

/// Arguments of `audit list`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
Examples:
  mcp-loadtest audit audit.db list --success false
  mcp-loadtest audit audit.db list --tool search --q timeout --from 1h --limit 200
  mcp-loadtest audit audit.db list --after 1000 --json")]
pub(super) struct ListArgs {
    #[command(flatten)]
    selection: Selection,
    /// How many are listed at most [default: 50].
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// List the first ones after this row instead of the last ones.
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    /// Print the rows as one JSON list.
    #[arg(long)]
    json: bool,
}

const LIMIT: usize = 50;
pub(super) const SIDES: [Side; 6] =
    [Side::Right, Side::Left, Side::Left, Side::Left, Side::Right, Side::Left];

pub(super) fn run(args: &ListArgs, log: &mut dyn Source, env: &mut Env) -> Result<Exit, CliError> {
    let rows = log.query(&Filter {
        after: args.after,
        limit: Some(args.limit.unwrap_or(LIMIT)),
        keep: if args.after.is_some() { Keep::First } else { Keep::Last },
        ..args.selection.filter()
    })?;
    if args.json {
        env.out_json(&rows);
    } else if rows.is_empty() {
        env.err("there is no such row in the log\n");
    } else {
        env.out(&table(&rows));
    }
    Ok(Exit::Pass)
}

fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(text::cells).collect();
    table::render(text::HEADS, SIDES, &cells)
}
