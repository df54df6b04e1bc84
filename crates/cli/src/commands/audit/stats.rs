//! `audit stats`: the sums of each tool.

use std::ops::ControlFlow;

use clap::Args;
use mcp_loadtest_core::{display::visible, exit::Exit};
use mcp_loadtest_mock::audit::{NameSummary, Source, Stats};

use super::{
    selection::Selection,
    table::{self, Side},
    text::took,
};
use crate::{env::Env, error::CliError};

/// Arguments of `audit stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest audit audit.db stats
  mcp-loadtest audit audit.db stats --from 10m --method tools/call --json")]
pub(super) struct StatsArgs {
    #[command(flatten)]
    selection: Selection,
    /// Print the sums as one JSON document.
    #[arg(long)]
    json: bool,
}

const HEADS: [&str; 11] = [
    "tool or method",
    "count",
    "errors",
    "p50",
    "p90",
    "p99",
    "max",
    "gap p50",
    "gap min",
    "retries",
    "cancelled",
];

pub(super) fn run(args: &StatsArgs, log: &mut dyn Source, env: &mut Env) -> Result<Exit, CliError> {
    let mut stats = Stats::default();
    log.each(&args.selection.filter(), &mut |row| {
        stats.add(&row);
        ControlFlow::Continue(())
    })?;
    let summary = stats.summary();
    if args.json {
        env.out_json(&summary);
    } else if summary.rows == 0 {
        env.err("there is no such row in the log\n");
    } else {
        let mut sides = [Side::Right; HEADS.len()];
        sides[0] = Side::Left;
        let rows: Vec<_> = summary.names.iter().map(cells).collect();
        env.out(&table::render(HEADS, sides, &rows));
    }
    Ok(Exit::Pass)
}

fn cells(sums: &NameSummary) -> [String; HEADS.len()] {
    let gap = |micros: Option<u64>| micros.map_or_else(|| "-".into(), took);
    [
        visible(&sums.name, 48),
        sums.count.to_string(),
        format!("{:.1}%", sums.error_rate * 100.0),
        took(sums.p50_us),
        took(sums.p90_us),
        took(sums.p99_us),
        took(sums.max_us),
        gap(sums.gap_p50_us),
        gap(sums.gap_min_us),
        sums.retries.to_string(),
        sums.cancelled.to_string(),
    ]
}
