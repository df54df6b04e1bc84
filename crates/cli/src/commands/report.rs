//! `report`: a saved run, told again.

use std::path::PathBuf;

use clap::Args;
use mcp_loadtest::{Report, RoundsDir, SavedRun};
use mcp_loadtest_core::{
    compare,
    exit::Exit,
    report::{Format, RENDERERS},
};

use super::{explain, run::formats};
use crate::{
    baseline::{self, Compared},
    ci_args::{CiArgs, JunitArg},
    env::Env,
    error::CliError,
    fault_log::FaultLogArg,
    load, targets,
};

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest report ./runs/2026-05-10T14-30-00-9XY7K2
  mcp-loadtest report ./runs/2026-05-10T14-30-00-9XY7K2 --from-trace --json
  mcp-loadtest report ./runs/2026-05-10T14-30-00-9XY7K2 --format html > report.html
  mcp-loadtest report ./runs/2026-05-10T14-30-00-9XY7K2 --format markdown > report.md
  mcp-loadtest report ./runs/2026-05-10T14-30-00-9XY7K2 --audit proxy.db --format html > report.html")]
pub(crate) struct ReportArgs {
    /// The directory that a run printed at its end; of several servers, the one that holds all of them.
    #[arg(required_unless_present = "explain")]
    dir: Option<PathBuf>,
    /// Compute every number again from trace.jsonl, instead of reading metrics.json.
    #[arg(long)]
    from_trace: bool,
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = Format::ALL.map(Format::as_str))]
    #[arg(help = format!("How to tell it: {}", formats()))]
    format: String,
    /// Print the summary as one JSON document.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    faults: FaultLogArg,
    #[command(flatten)]
    ci: CiArgs,
    #[command(flatten)]
    junit: JunitArg,
    /// Print what is done and exit.
    #[arg(long)]
    explain: bool,
}

pub(super) const EXPLANATION: &str = "\
Algorithm:
  1. Read metrics.json of the run directory; it holds the whole report, histograms included.
  2. With --from-trace, or when the run was cut short and left no metrics.json, read trace.jsonl
     instead, fold every event as the live run did, and judge again by config.toml. A trace that
     does not have every call is refused: its numbers would be wrong.
  3. With --audit, read the rows that a mock or a proxy wrote down in the time of the run, and merge the
     calls that a fault hit into windows: hits belong together when no more lies between them than
     four times what usually does, and two seconds at least.
  4. Print the result in the form that was asked for, and exit as the run itself would have.
Of several servers that were tested in turns, comparison.json is read and told in place of metrics.json;
it can be told as terminal, markdown, html and json.";

impl ReportArgs {
    /// Several servers that were tested in turns: their figures side by side.
    fn tell_rounds(&self, rounds: &RoundsDir, env: &mut Env) -> Result<Exit, CliError> {
        let of_one_run = [
            (self.from_trace, "--from-trace"),
            (self.faults.is_given(), "--audit"),
            (self.junit.is_asked_for(), "--junit"),
        ];
        if let Some((_, flag)) = of_one_run.iter().find(|(given, _)| *given) {
            return Err(CliError::usage(
                format!("{flag} is for one run, and this directory has those of several servers"),
                "give the directory of one of the runs in it",
            ));
        }
        let comparison = rounds.comparison()?;
        let runs = rounds.runs(&comparison)?;
        let mut text = Vec::new();
        match self.format.as_str() {
            _ if self.json => compare::json::render(&comparison, &mut text)?,
            "json" => compare::json::render(&comparison, &mut text)?,
            "terminal" => {
                compare::terminal::render(&comparison, &mut text)?;
                text.extend(targets::failures(&runs).into_bytes());
            }
            "markdown" => compare::markdown::render(&comparison, &mut text)?,
            "html" => rounds.render_page(&comparison, &runs, &mut text)?,
            other => {
                return Err(CliError::usage(
                    format!("several servers side by side cannot be told as {other}"),
                    "use terminal, markdown, html or json, or give the directory of one of the runs in it",
                ));
            }
        }
        env.out(&String::from_utf8_lossy(&text));
        let mut reports = runs.iter().flat_map(|target| &target.reports);
        let exit = match reports.clone().any(|report| report.interrupted) {
            true => Exit::Interrupted,
            false if reports.all(Report::passed) => Exit::Pass,
            false => Exit::Fail,
        };
        self.ci.tell_rounds(&comparison, &runs, exit, env)?;
        Ok(exit)
    }
}

/// Runs `report`.
pub(crate) fn run(args: &ReportArgs, env: &mut Env) -> Result<Exit, CliError> {
    let Some(dir) = args.dir.as_ref().filter(|_| !args.explain) else {
        return Ok(explain(env, EXPLANATION));
    };
    if let Some(rounds) = RoundsDir::open(env.cwd.join(dir)) {
        return args.tell_rounds(&rounds, env);
    }
    let saved = SavedRun::open(env.cwd.join(dir))?;
    let form = RENDERERS.iter().find(|entry| entry.name == args.format);
    let form = form.filter(|_| !args.json);
    if let Some(entry) = form.filter(|entry| !entry.renderer.shows_faults())
        && args.faults.is_given()
    {
        return Err(CliError::usage(
            format!("--audit has no effect on {}, which does not show faults", entry.name),
            "leave it out, or use another --format",
        ));
    }
    let mut report = if args.from_trace { saved.report_from_trace()? } else { saved.report()? };
    args.faults.lay_over(&mut report, env)?;
    // A gate that failed then fails again.
    let comparison = report.baseline.is_some().then(|| saved.comparison()).transpose()?;
    let exit = baseline::exit(&report, comparison.as_ref());
    if !saved.is_complete() {
        env.err("INCOMPLETE: the run was cut short; this is what its trace tells\n");
    }
    if let Some(entry) = form {
        let mut text = Vec::new();
        entry.renderer.render(&report, &mut text)?;
        env.out(&String::from_utf8_lossy(&text));
    } else {
        load::show_json(&report, Some(saved.path()), exit, env);
    }
    let compared = Compared { exit, report, comparison };
    args.junit.write_run(&compared, env)?;
    args.ci.tell_run(&compared, None, env)?;
    Ok(exit)
}
