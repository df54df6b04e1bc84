//! `audit list`: rows in the order of arrival.

use clap::Args;
use mcp_loadtest_core::{
    display::visible,
    exit::Exit,
    report::wrap::{cut, width},
};
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

/// How many columns a line has at most; `show` and `--json` have all.
const WIDTH: usize = 80;
/// How much of what a row is about is shown, and of how it ended.
const WHAT: usize = 18;
const OUTCOME: usize = 14;
/// So much of an argument or an error is shown at least.
const LEAST: usize = 10;

fn table(rows: &[Row]) -> String {
    let mut cells: Vec<_> = rows.iter().map(text::cells).collect();
    for (row, cells) in rows.iter().zip(&mut cells) {
        // The time of day, to the millisecond; a tool goes by its name.
        cells[1] = cells[1].chars().skip(11).take(12).collect();
        cells[2] = visible(row.tool.as_deref().unwrap_or(&cells[2]), WHAT);
        cells[3] = visible(&text::outcome(row), OUTCOME);
    }
    let taken: usize = (0..5).map(|column| room(&cells, column) + 2).sum();
    let left = WIDTH.saturating_sub(taken).max(LEAST);
    cells.iter_mut().for_each(|row| row[5] = cut(&row[5], left));
    // Its own head is wider than what may be left.
    let heads = [&text::HEADS[..5], &["detail"]].concat();
    table::render(std::array::from_fn(|at| heads[at]), SIDES, &cells)
}

/// How wide a column is.
fn room(cells: &[[String; 6]], column: usize) -> usize {
    let widths = cells.iter().map(|row| width(&row[column]));
    widths.max().unwrap_or(0).max(text::HEADS[column].len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_eighty_columns_whatever_was_sent() {
        let long = "x".repeat(300);
        let row = Row {
            seq: 123_456,
            method: Some("tools/call".into()),
            tool: Some(long.clone().into()),
            error_message: Some(long.clone()),
            error_category: Some(long.into()),
            duration_us: 12_345_678,
            ..Row::default()
        };
        let table = table(&[row, Row::default()]);
        assert!(table.lines().all(|line| width(line) <= 80), "{table}");
        assert_eq!(table.lines().count(), 3);
    }
}
