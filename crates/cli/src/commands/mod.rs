//! One file per command: its arguments and what it does. To add one: its file with `XArgs` and
//! `run(&XArgs, &mut Env)`, a variant of [`Command`], and its arm below. A test then asks for a table
//! of its flags in `cli/tests/it/effects/flags`.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod deadlock_probe;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod example_config;
pub(crate) mod gateway;
pub(crate) mod list_scenarios;
pub(crate) mod llm;
pub(crate) mod man;
pub(crate) mod mock;
pub(crate) mod negative_path;
pub(crate) mod probe;
pub(crate) mod proxy;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod test;

use mcp_loadtest_core::exit::Exit;

use crate::{
    args::{Cli, Command},
    env::Env,
    error::CliError,
};

/// Carries a command out.
pub(crate) fn run(cli: Cli, env: &mut Env) -> Result<Exit, CliError> {
    match cli.command {
        Command::Demo(args) => demo::run(&args, env),
        Command::Doctor(args) => doctor::run(&args, env),
        Command::Probe(args) => probe::run(&args, env),
        Command::NegativePath(args) => negative_path::run(&args, env),
        Command::DeadlockProbe(args) => deadlock_probe::run(&args, env),
        Command::Run(args) => run::run(&args, env),
        Command::Replay(args) => replay::run(&args, env),
        Command::Report(args) => report::run(&args, env),
        Command::Compare(args) => compare::run(&args, env),
        Command::Runs(args) => runs::run(&args, env),
        Command::Audit(args) => audit::run(&args, env),
        Command::ListScenarios(args) => list_scenarios::run(&args, env),
        Command::ExampleConfig(args) => example_config::run(&args, env),
        Command::Schema(args) => schema::run(&args, env),
        Command::Agent(args) => agent::run(&args, env),
        Command::Test(args) => test::run(&args, env),
        Command::Mock(args) => mock::run(&args, env),
        Command::Llm(args) => llm::run(&args, env),
        Command::Proxy(args) => proxy::run(&args, env),
        Command::Gateway(args) => gateway::run(&args, env),
        Command::Serve(args) => serve::run(&args, env),
        Command::Completions(args) => completions::run(&args, env),
        Command::Man(args) => man::run(&args, env),
    }
}

/// The runtime of a command: one thread, because the load has threads of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}

/// Prints an explanation instead of doing anything.
pub(crate) fn explain(env: &mut Env, text: &str) -> Exit {
    env.out(text.trim_end());
    env.out("\n");
    Exit::Pass
}
