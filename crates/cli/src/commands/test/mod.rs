//! `test`: suites of tests for servers and agents.

mod files;
mod outputs;
mod piped;
mod stand;
mod watched;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use mcp_loadtest::{LoadedSuite, Seed, Stop, SuiteOutcome, SuiteRun};
use mcp_loadtest_core::{
    agent::dialect,
    exit::Exit,
    suite::{EXAMPLE, Provider, Selection, Shard, SuiteReport, script::PERSONAS},
};

pub(super) use self::outputs::OutputArgs;
use self::stand::Mocks;
use super::{block_on, explain};
use crate::{
    ci_args::CiArgs, env::Env, error::CliError, interrupt, load::ShowArgs, progress::ProgressLine,
};

const EXAMPLES: &str = "\
Examples:
  mcp-loadtest test suite.yml
  mcp-loadtest test tests/ --tag smoke --fail-fast
  mcp-loadtest test suite.yml --name 'hung search' --model scripted:careful
  mcp-loadtest test suite.yml --repeat 20 --json
  mcp-loadtest test tests/ --shard 1/4 --junit junit.xml --github
  mcp-loadtest test suite.yml --update

Exit codes: 0 all passed, 1 a test failed, 2 a suite is wrong, or a server or a model could not be
started or reached, 130 interrupted; what was done so far is reported.";

/// Arguments of `test`.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TestArgs {
    /// Suites, or directories that hold some.
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,
    /// Only tests whose name holds this, whatever its case. Repeatable: any of them.
    #[arg(long = "name", value_name = "TEXT")]
    names: Vec<String>,
    /// Only tests with this tag. Repeatable: any of them. Tests with `negative_path`, `fuzz`, `recovery`
    /// or `inject` have the tag EDGE by themselves.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// No tests with this tag. Repeatable.
    #[arg(long = "skip-tag", value_name = "TAG")]
    skip_tags: Vec<String>,
    /// Only one part of the tests: 1/4 is the first of four.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Begin no further test after the first that fails.
    #[arg(long)]
    fail_fast: bool,
    /// Carry each test out so often: it passes when it passes each time; the share is told with its
    /// 95 % interval.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// How many tests go on at the same time [default: what the suite says, or 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    parallel: Option<u16>,
    /// The model of all agents, in place of those that the suites name.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What chances and made-up arguments come from.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Write the values of `snapshot` down instead of comparing them.
    #[arg(long)]
    update: bool,
    /// Write what models say into this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Have models say what --record wrote: no key is needed, and the gates are the same.
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
    #[command(flatten)]
    outputs: OutputArgs,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

const EXPLANATION: &str = "\
Algorithm:
  1. Read all suites, fill in ${VAR} and ${VAR:-default}, and judge them: an unknown key, a name that
     leads nowhere, a matcher that tests nothing or a missing key of a model ends it here (exit 2),
     before anything is started.
  2. Start each server when it is first needed. Each worker has a session of its own with it, so that
     one call is in flight at a time: a server that dies has died of one test, fails that one, and is
     started again.
  3. tools, resources, prompts: one request each, with its own deadline; when that is over, the server
     is told so (notifications/cancelled, or the closed stream) and the test fails. Then `expect` is
     held against the reply. negative_path and fuzz follow with bad input.
  4. agents: a model and a loop of ours. A call that an injected fault touches is not made: the model
     sees what an MCP client would show it, and a virtual clock goes on by max_detection_ms. The run
     gets one verdict: recovered, degraded_honestly, gave_up, fabricated, looped, never_engaged or
     not_faulted; the first two and the last pass.
  5. loads: one by one, when all else is over.

Models that come with the tool (--model, or `model:` of an agent):
";

/// Runs `test`.
pub(crate) fn run(args: &TestArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        let personas = PERSONAS.iter();
        let list: String = personas
            .map(|persona| format!("  scripted:{:<13} {}\n", persona.name, persona.about))
            .collect();
        let sample: String = EXAMPLE.lines().map(|line| format!("  {line}\n")).collect();
        let keys = "Every key: docs/reference/suite.md, or `mcp-loadtest schema suite`.";
        let sample = format!("\nA suite (`example-config --suite` prints it):\n{sample}\n{keys}");
        return Ok(explain(env, &format!("{EXPLANATION}{list}{sample}")));
    }
    execute(args, env.has_audience(), env)
}

fn execute(args: &TestArgs, visible: bool, env: &mut Env) -> Result<Exit, CliError> {
    let loaded = files::load(&args.files, args.update, env)?;
    let suites: Vec<_> = loaded.iter().map(|loaded| loaded.suite.clone()).collect();
    let run = suite_run(args, suites, env);
    if run.is_empty() {
        return Err(CliError::usage(
            "no test was chosen",
            "look at --name, --tag and --skip-tag: together they leave none",
        ));
    }
    let SuiteOutcome { report, snapshots } = carry_out(run, visible, env)?;
    args.outputs.tell(&report, env)?;
    if args.update {
        files::write_snapshots(&loaded, &snapshots, env)?;
    }
    Ok(report.exit())
}

fn suite_run(args: &TestArgs, suites: Vec<LoadedSuite>, env: &Env) -> SuiteRun {
    let vars = model_variables(&suites, env);
    SuiteRun::new(suites)
        .select(Selection {
            names: args.names.clone(),
            tags: args.tags.clone(),
            skip_tags: args.skip_tags.clone(),
            shard: args.shard,
        })
        .parallel(args.parallel)
        .repeat(args.repeat.max(1))
        .fail_fast(args.fail_fast)
        .seed(args.seed.map(Seed).unwrap_or_default())
        .model(args.model.clone())
        .vars(vars)
        .record(args.record.as_ref().map(|dir| env.path(dir)))
        .replay(args.replay.as_ref().map(|dir| env.path(dir)))
}

/// Where files may be put that nobody keeps.
fn scratch(env: &Env) -> PathBuf {
    let named = ["TMPDIR", "TEMP", "TMP"].iter().find_map(|name| (env.var)(name));
    let named = named.filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let usual = || PathBuf::from(if cfg!(windows) { "." } else { "/tmp" });
    named.unwrap_or_else(usual)
}

/// The variables that models may need: keys and addresses.
fn model_variables(suites: &[LoadedSuite], env: &Env) -> BTreeMap<String, String> {
    let usual = Provider::ALL.iter().flat_map(|provider| {
        let home = dialect::home(*provider);
        [home.key_env.to_owned(), home.base_url_env.to_owned()]
    });
    let own = suites.iter().flat_map(|loaded| &loaded.suite().models);
    let own = own.filter_map(|model| model.api_key_env.clone());
    usual.chain(own).filter_map(|name| Some((name.clone(), (env.var)(&name)?))).collect()
}

/// Carries a run out, with mocks of our own, and shows meanwhile how far it is.
fn carry_out(run: SuiteRun, visible: bool, env: &mut Env) -> Result<SuiteOutcome, CliError> {
    env.keep(&run.secrets());
    let stop = Stop::new();
    let line = ProgressLine::new("testing", None, visible);
    let shown = line.label();
    let run = run
        .with_stand(Arc::new(Mocks { program: env.program.clone() }))
        .agents_in(env.cwd.clone(), scratch(env))
        .with_stop(stop.clone())
        .watched_by(Arc::new(move |name, _| shown(name)));
    block_on(async {
        tokio::select! {
            outcome = run.execute() => Ok(outcome?),
            () = line.wait() => unreachable!("the line is shown for ever"),
            () = interrupt::listen(stop) => Err(CliError::Interrupted),
        }
    })?
}

/// Carries a run out and tells what became of it.
pub(super) fn tell(
    run: SuiteRun,
    outputs: &OutputArgs,
    env: &mut Env,
) -> Result<SuiteReport, CliError> {
    let SuiteOutcome { report, .. } = carry_out(run, env.has_audience(), env)?;
    outputs.tell(&report, env)?;
    Ok(report)
}

/// Carries out the suite that was given as a configuration.
pub(crate) fn run_config(
    file: &Path,
    show: ShowArgs,
    ci: &CiArgs,
    env: &mut Env,
) -> Result<Exit, CliError> {
    let (files, outputs) = (vec![file.to_owned()], OutputArgs::printed(show.json, ci));
    let args = TestArgs { files, repeat: 1, outputs, ..TestArgs::default() };
    execute(&args, env.has_audience() && !show.quiet, env)
}

/// Whether the file is a suite; what cannot be read is told by whoever reads it.
pub(crate) fn is_suite(file: &Path, env: &Env) -> bool {
    files::is_suite(&env.path(file))
}
