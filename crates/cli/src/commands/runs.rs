//! `runs`: what has been run, the latest first.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest::{History, PastRun};
use mcp_loadtest_core::{display::visible, exit::Exit, units::format_latency};

use super::explain;
use crate::{env::Env, error::CliError};

/// Arguments of `runs`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest runs
  mcp-loadtest runs --limit 5 --json ./runs")]
pub(crate) struct RunsArgs {
    /// The directory that runs make theirs in [default: ./runs].
    dir: Option<PathBuf>,
    /// How many are listed.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print the summaries as one JSON list.
    #[arg(long)]
    json: bool,
    /// Print what is done and exit.
    #[arg(long)]
    explain: bool,
}

pub(super) const EXPLANATION: &str = "\
Reads summary.json of every run directory in DIR and lists when it began, its verdict, its scenario,
its p99, its tags, its server and where it is, the latest first. REGRESSION stands for a run that
passed alone but not against its baseline. Runs that were cut short have no summary and are left out;
`doctor --only runs` tells of them.";

/// Runs `runs`.
pub(crate) fn run(args: &RunsArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    let dir = env.path(args.dir.as_deref().unwrap_or("./runs".as_ref()));
    if args.dir.is_some() && !dir.is_dir() {
        return Err(CliError::usage(
            format!("{} is not a directory", dir.display()),
            "give the directory that `run --output-dir` was given, `./runs` by default",
        ));
    }
    let mut runs = History::of(&dir).runs()?;
    runs.truncate(args.limit as usize);
    if args.json {
        let summaries: Vec<_> = runs.into_iter().map(moved).collect();
        env.out_json(&summaries);
    } else if runs.is_empty() {
        env.err(&format!("there is no finished run in {}\n", dir.display()));
    } else {
        env.out(&table(&runs));
    }
    Ok(Exit::Pass)
}

/// The summary with the directory where the run is now.
pub(super) fn moved(run: PastRun) -> mcp_loadtest_core::report::summary::Summary {
    let run_dir = Some(run.dir.to_string_lossy().into_owned());
    mcp_loadtest_core::report::summary::Summary { run_dir, ..run.summary }
}

fn table(runs: &[PastRun]) -> String {
    let mut text = format!(
        "{:<20} {:<10} {:<14} {:>9}  {:<12} {}\n",
        "started", "verdict", "scenario", "p99", "tags", "server and directory"
    );
    for PastRun { dir, summary } in runs {
        let verdict = summary.headline();
        let p99 = summary.p99_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        let started = summary.started_at.get(..19).unwrap_or(&summary.started_at);
        text.push_str(&format!(
            "{:<20} {verdict:<10} {:<14} {:>9}  {:<12} {}\n{:<71}{}\n",
            visible(&started.replace('T', " "), 20),
            summary.scenario.as_str(),
            p99.map_or_else(|| "-".into(), format_latency),
            visible(&summary.tags.join(","), 60),
            visible(&summary.server, 200),
            "",
            dir.display()
        ));
    }
    text
}
