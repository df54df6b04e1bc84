//! `deadlock-probe`: the scenario of the same name, as a command of its own.

use std::{cell::Cell, path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest_core::{
    config::{Arguments, Config},
    exit::Exit,
    report::summary,
    scenario::ScenarioName,
};

use super::{explain, run::explanation};
use crate::{
    baseline::Compared,
    ci_args::{CiArgs, JunitArg},
    env::Env,
    error::CliError,
    fault_log::FaultLogArg,
    live::LiveArgs,
    load::{Load, ShowArgs},
    scenario_args::parse_arguments,
    server_args::{ServerArgs, parse_time},
};

/// Arguments of `deadlock-probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest deadlock-probe -s \"python -m my_mcp\" --tool get_market_data
  mcp-loadtest deadlock-probe -s \"npx -y my-mcp\" --concurrent 50 --hang-threshold 2s --grace-period 5s
  mcp-loadtest deadlock-probe --url http://127.0.0.1:3000/mcp --tool echo --json")]
pub(crate) struct DeadlockProbeArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The tool to call; without it, the first one that only reads.
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// The tool's arguments as JSON; without them, made up from its schema where it needs any.
    #[arg(long, value_name = "JSON", value_parser = parse_arguments)]
    args: Option<Arguments>,
    /// Calls that are released at the same instant [default: 20].
    #[arg(long, value_name = "N")]
    concurrent: Option<u32>,
    /// No reply for this long is a hang [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    hang_threshold: Option<Duration>,
    /// How much longer a hanging call is waited for before it is a deadlock [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    grace_period: Option<Duration>,
    /// How many sessions the calls are spread over [default: 1].
    #[arg(long, value_name = "N")]
    sessions: Option<u32>,
    /// Stop at the first deadlock.
    #[arg(long)]
    bail_early: bool,
    /// Calls one after another once the burst is over [default: 5].
    #[arg(long, value_name = "N")]
    steady_calls: Option<u32>,
    /// Where the run makes its directory.
    #[arg(short, long, value_name = "DIR", default_value = "./runs")]
    output_dir: PathBuf,
    #[command(flatten)]
    ci: CiArgs,
    #[command(flatten)]
    junit: JunitArg,
    #[command(flatten)]
    show: ShowArgs,
    /// Print the algorithm, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

/// Runs `deadlock-probe`.
pub(crate) fn run(args: &DeadlockProbeArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &explanation(ScenarioName::DeadlockProbe)));
    }
    let config = config(args)?;
    let server = args.server.resolve(&config, env)?;
    let load = Load {
        server,
        output_dir: env.path(&config.output.report_dir),
        config,
        strict_protocol: args.server.strict_protocol,
        tee_stderr: args.server.tee_stderr,
        threads: None,
        show: args.show,
        live: LiveArgs::default(),
        faults: FaultLogArg::default(),
        page: Cell::new(None),
    };
    let report = load.measure(env)?;
    let exit = summary::exit(&report);
    load.show(&report, exit, env);
    let compared = Compared { exit, report, comparison: None };
    args.junit.write_run(&compared, env)?;
    args.ci.tell_run(&compared, Some(&load.server), env)?;
    Ok(exit)
}

fn config(args: &DeadlockProbeArgs) -> Result<Config, CliError> {
    let mut config = Config::default();
    args.server.lay_over(&mut config.server)?;
    let scenario = &mut config.scenario;
    scenario.name = Some(ScenarioName::DeadlockProbe);
    scenario.tool.clone_from(&args.tool);
    scenario.args.clone_from(&args.args);
    scenario.concurrent = args.concurrent;
    scenario.hang_threshold = args.hang_threshold;
    scenario.grace_period = args.grace_period;
    scenario.sessions = args.sessions;
    scenario.bail_early = args.bail_early.then_some(true);
    scenario.steady_calls = args.steady_calls;
    config.output.report_dir.clone_from(&args.output_dir);
    config.check()?;
    Ok(config)
}
