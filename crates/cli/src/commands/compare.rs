//! `compare`: saved runs, and whether the others are worse than the first.

use std::path::{Path, PathBuf};

use clap::Args;
use mcp_loadtest::SavedRun;
use mcp_loadtest_core::{
    compare::{self, Undecided, html::Side},
    config::{Allowance, CompareConfig},
    exit::Exit,
};

use super::explain;
use crate::{baseline, ci_args::CiArgs, env::Env, error::CliError};

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest compare ./runs/2026-05-10T14-30-00-9XY7K2 ./runs/2026-05-11T14-30-00-3AB4CD
  mcp-loadtest compare main/metrics.json branch/metrics.json --p99 5% --p50 5% --undecided fail
  mcp-loadtest compare ./runs/BASE ./runs/CURRENT --throughput off --markdown comparison.md
  mcp-loadtest compare ./runs/V1 ./runs/V2 ./runs/V3 --html comparison.html

Exit codes: 0 no regression, 1 a regression (or undecided, with --undecided fail), 2 the runs cannot be read or
compared.")]
pub(crate) struct CompareArgs {
    /// The run that is compared with: its directory or its metrics.json.
    #[arg(required_unless_present = "explain")]
    base: Option<PathBuf>,
    /// The run that may be worse. Several are compared one by one with the same base.
    #[arg(required_unless_present = "explain", num_args = 1..)]
    current: Vec<PathBuf>,
    /// How much p50 may grow, or off [default: off].
    #[arg(long, value_name = "PERCENT")]
    p50: Option<Allowance>,
    /// How much p95 may grow, or off [default: off].
    #[arg(long, value_name = "PERCENT")]
    p95: Option<Allowance>,
    /// How much p99 may grow, or off [default: 10%].
    #[arg(long, value_name = "PERCENT")]
    p99: Option<Allowance>,
    /// How many percentage points more of the calls may fail, or off [default: 0.5%].
    #[arg(long, value_name = "PERCENT")]
    error_rate: Option<Allowance>,
    /// How much fewer calls a second may succeed, or off [default: 10%, with --rate off].
    #[arg(long, value_name = "PERCENT")]
    throughput: Option<Allowance>,
    /// More deadlocks than before are no regression.
    #[arg(long)]
    allow_deadlocks: bool,
    /// What a difference means that the data cannot decide: pass or fail [default: pass].
    #[arg(long, value_name = "HOW", value_parser = parse_undecided)]
    undecided: Option<Undecided>,
    /// Print the comparison as one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Also write the comparison to this file as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Also write the comparison to this file as one HTML page, with the percentiles of all runs.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    ci: CiArgs,
    /// Print what is done and exit.
    #[arg(long)]
    explain: bool,
}

pub(super) const EXPLANATION: &str = "\
Algorithm:
  1. Read metrics.json of the runs; it holds the response times of every second. Each run is compared
     with the first; the worst of them decides.
  2. Refuse runs that cannot be compared: another scenario or other settings of it (a longer run is
     fine), other tools, another transport, a run that was cut short, is not valid, or measured the
     generator instead of the server.
  3. Draw the seconds of each run again, 1000 times, in runs of neighbouring seconds: the middle 95 %
     of the changes is the interval of each figure. Seconds without a call count; the last one, which
     is broken off, does not.
  4. A figure is worse when all of its interval lies beyond what is allowed, better when all of it
     lies on the good side, the same when all of it is within what is allowed, else undecided.
  5. Each tool is judged alike, by its own response times; their interval is widened by how much the
     calls of one second resemble each other.
  6. More deadlocks than before are a regression.
What varies between runs, such as a machine that was busy during all of one, cannot be seen in two
runs. Where that matters, test both servers in turns: run -s OLD -s NEW.

Tunable knobs: --p50, --p95, --p99, --error-rate, --throughput, --allow-deadlocks, --undecided.
The same limits are read from [compare] in a configuration, for `run --baseline`, which has them as
flags too: --compare-p99 and so on.";

pub(crate) fn parse_undecided(text: &str) -> Result<Undecided, String> {
    match text {
        "pass" => Ok(Undecided::Pass),
        "fail" => Ok(Undecided::Fail),
        _ => Err("use `pass` or `fail`".into()),
    }
}

impl CompareArgs {
    fn config(&self) -> CompareConfig {
        CompareConfig {
            baseline: None,
            p50: self.p50,
            p95: self.p95,
            p99: self.p99,
            error_rate: self.error_rate,
            throughput: self.throughput,
            allow_deadlocks: self.allow_deadlocks.then_some(true),
            undecided: self.undecided,
        }
    }
}

/// Runs `compare`.
pub(crate) fn run(args: &CompareArgs, env: &mut Env) -> Result<Exit, CliError> {
    let (Some(base), false) = (&args.base, args.explain) else {
        return Ok(explain(env, EXPLANATION));
    };
    let read = |path: &PathBuf| SavedRun::read(&env.path(path));
    let base_run = read(base)?;
    let others = args.current.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let kind = others.first().map_or(&base_run.scenario_kind, |report| &report.scenario_kind);
    let comparison = compare::against(&base_run, &others, &args.config().policy(kind));
    if let Some(file) = &args.markdown {
        let mut page = Vec::new();
        compare::markdown::render(&comparison, &mut page)?;
        write(env.path(file), &page)?;
    }
    if let Some(file) = &args.html {
        let file = env.path(file);
        let all = std::iter::once((base, &base_run)).chain(args.current.iter().zip(&others));
        let side = |(path, report): (&PathBuf, _)| Side {
            reports: std::slice::from_ref(report),
            pages: vec![page_of(&env.path(path), &file)],
        };
        let mut page = Vec::new();
        compare::html::render(&comparison, &all.map(side).collect::<Vec<_>>(), &mut page)?;
        write(file.clone(), &page)?;
    }
    if args.json {
        let mut text = Vec::new();
        compare::json::render(&comparison, &mut text)?;
        env.out(&String::from_utf8_lossy(&text));
    } else {
        baseline::show(&comparison, env);
    }
    args.ci.tell_comparison(&comparison, env)?;
    Ok(comparison.exit())
}

/// The way from the page that is written to that of a run; nothing where the run has none.
fn page_of(run: &Path, written: &Path) -> Option<String> {
    let dir = if run.is_file() { run.parent()? } else { run };
    let page = dir.join("report.html").canonicalize().ok()?;
    compare::html::link(&written.parent()?.canonicalize().ok()?, &page)
}

fn write(path: PathBuf, page: &[u8]) -> Result<(), CliError> {
    std::fs::write(&path, page).map_err(|source| CliError::Write { path, source })
}
