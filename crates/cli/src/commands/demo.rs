//! `demo`: a deadlock caught and a healthy server measured, with no set-up.

use std::{cell::Cell, path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest::{Report, Server};
use mcp_loadtest_core::{config::Config, exit::Exit, pace::Rate, scenario::ScenarioName};

use super::explain;
use crate::{
    env::Env,
    error::CliError,
    fault_log::FaultLogArg,
    live::LiveArgs,
    load::{self, Load, ShowArgs},
};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the runs make their directories.
    #[arg(short, long, value_name = "DIR", default_value = "./runs")]
    output_dir: PathBuf,
    /// How long the healthy server is loaded.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = crate::server_args::parse_some_time)]
    duration: Duration,
    /// No progress while it runs.
    #[arg(short, long)]
    quiet: bool,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

const EXPLANATION: &str = "\
Algorithm:
  1. Start our own mock with the lazy-init deadlock (`mock --fault lazy-init-deadlock`): it answers
     `initialize` and `tools/list`, and a lone call; first calls that meet hang for ever.
  2. Run `deadlock-probe` against it with short thresholds: it must be caught.
  3. Start the healthy mock and call it 2,000 times a second for a few seconds, on a schedule, each
     call with a token that its reply must give back: it must pass.
  4. Exit with 0 if both came out as they must.

Tunable knobs: --duration, --output-dir.";

/// Runs `demo`.
pub(crate) fn run(args: &DemoArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    env.out(
        "1. A server that answers `initialize` and `tools/list`, and hangs when its first calls meet:\n\n",
    );
    let broken = part(args, env, "lazy-init-deadlock", ScenarioName::DeadlockProbe)?;
    show(&broken, env);
    if broken.interrupted {
        return Ok(Exit::Interrupted);
    }
    env.out("\n2. The same server without the bug, under load:\n\n");
    let healthy = part(args, env, "none", ScenarioName::Sustained)?;
    show(&healthy, env);
    if healthy.interrupted {
        return Ok(Exit::Interrupted);
    }
    env.out("\nNow your own: mcp-loadtest deadlock-probe -s \"python -m my_mcp\"\n");
    let as_it_must = broken.deadlock_count > 0 && healthy.passed();
    Ok(if as_it_must { Exit::Pass } else { Exit::Fail })
}

fn show(report: &Report, env: &mut Env) {
    load::show_terminal(report, env);
    if let Some(dir) = &report.run_dir {
        env.out(&format!("\nReport: {}\n", dir.join("report.md").display()));
    }
}

fn part(
    args: &DemoArgs,
    env: &mut Env,
    fault: &str,
    scenario: ScenarioName,
) -> Result<Report, CliError> {
    let program = env.program.to_string_lossy().into_owned();
    let server: Server = Server::stdio(program).args(["mock", "--fault", fault]).into();
    let mut config = Config::default();
    config.scenario.name = Some(scenario);
    config.scenario.tool = Some("echo".into());
    config.scenario.args = Some(mcp_loadtest_core::config::Arguments(
        serde_json::json!({ "text": "hello {{nonce}}" }),
    ));
    if scenario == ScenarioName::DeadlockProbe {
        config.scenario.hang_threshold = Some(Duration::from_millis(500));
        config.scenario.grace_period = Some(Duration::from_millis(1500));
    } else {
        config.scenario.duration = Some(args.duration);
        config.scenario.rate = Some(Rate::per_second(2_000.0));
    }
    let load = Load {
        server,
        config,
        output_dir: env.path(&args.output_dir),
        strict_protocol: false,
        tee_stderr: false,
        threads: None,
        show: ShowArgs { json: false, quiet: args.quiet },
        live: LiveArgs::default(),
        faults: FaultLogArg::default(),
        page: Cell::new(None),
    };
    load.measure(env)
}
