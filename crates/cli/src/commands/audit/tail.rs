//! `audit tail`: the last rows, and new ones as they are recorded.

use std::{collections::HashSet, ops::ControlFlow, time::Duration};

use clap::Args;
use mcp_loadtest_core::exit::Exit;
use mcp_loadtest_mock::audit::{Filter, Keep, Place, Row, Source};

use super::{list, selection::Selection, table, text};
use crate::{commands::block_on, env::Env, error::CliError, interrupt};

/// Arguments of `audit tail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest audit audit.db tail --lines 20
  mcp-loadtest audit audit.db tail --follow --tool search
  mcp-loadtest audit audit.db tail --follow --lines 0 --count 100 --json")]
pub(super) struct TailArgs {
    #[command(flatten)]
    selection: Selection,
    /// How many of the last rows are shown first.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    lines: usize,
    /// Show new rows as they are recorded, until Ctrl-C.
    #[arg(long, short = 'f')]
    follow: bool,
    /// With --follow: end after so many new rows.
    #[arg(long, value_name = "N", requires = "follow")]
    count: Option<usize>,
    /// Print a JSON object a line.
    #[arg(long)]
    json: bool,
}

/// How often the log is looked at.
const PAUSE: Duration = Duration::from_millis(200);
/// Nobody knows how wide the columns of rows will be that are still to come.
const WIDTHS: [usize; 6] = [8, 26, 24, 10, 8, 0];

pub(super) fn run(args: &TailArgs, log: &mut dyn Source, env: &mut Env) -> Result<Exit, CliError> {
    // The place before the rows: what is recorded in between is then seen twice, not missed.
    let place = log.end()?;
    let filter = args.selection.filter();
    let last = Filter { limit: Some(args.lines), keep: Keep::Last, ..filter.clone() };
    let rows = log.query(&last)?;
    if !args.json {
        env.out(&table::line(&text::HEADS.map(str::to_owned), list::SIDES, &WIDTHS));
    }
    rows.iter().for_each(|row| env.out(&show(args, row)));
    if args.follow {
        let shown = rows.iter().map(|row| row.seq).collect();
        let mut tail = Tail { args, filter, place, shown, left: args.count };
        block_on(tail.follow(log, env))??;
    }
    Ok(Exit::Pass)
}

struct Tail<'a> {
    args: &'a TailArgs,
    filter: Filter,
    place: Place,
    /// Rows that were shown before anything was new.
    shown: HashSet<u64>,
    left: Option<usize>,
}

impl Tail<'_> {
    async fn follow(&mut self, log: &mut dyn Source, env: &mut Env) -> Result<(), CliError> {
        let mut interrupted = std::pin::pin!(interrupt::signal());
        loop {
            self.show_new(log, env)?;
            if self.left == Some(0) || env.is_unread() {
                return Ok(());
            }
            tokio::select! {
                () = &mut interrupted => return Ok(()),
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    fn show_new(&mut self, log: &mut dyn Source, env: &mut Env) -> Result<(), CliError> {
        let (args, shown, left) = (self.args, &self.shown, &mut self.left);
        self.place = log.since(self.place, &self.filter, &mut |row| {
            if shown.contains(&row.seq) {
                return ControlFlow::Continue(());
            }
            if *left == Some(0) {
                return ControlFlow::Break(());
            }
            env.out(&show(args, &row));
            *left = left.map(|left| left - 1);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

fn show(args: &TailArgs, row: &Row) -> String {
    if args.json {
        return text::line(row);
    }
    table::line(&text::cells(row), list::SIDES, &WIDTHS)
}
