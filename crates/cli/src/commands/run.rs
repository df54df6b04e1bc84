//! `run`: a scenario, from flags, from a file, or from a file that flags correct.

use std::{cell::Cell, path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest_core::{
    config::{Baseline, Config, Format, ScenarioConfig, Trace, flag_instead_of_form},
    exit::Exit,
    scenario::ScenarioName,
    thresholds::Thresholds,
};

use super::{explain, test};
use crate::{
    baseline,
    ci_args::{CiArgs, JunitArg},
    compare_args::CompareLimitArgs,
    env::Env,
    error::CliError,
    fault_log::FaultLogArg,
    live::LiveArgs,
    load::{Load, ShowArgs},
    scenario_args::ScenarioArgs,
    server_args::{ServerArgs, parse_time},
    targets::{Target, TargetArgs},
};

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest run -s \"python -m my_mcp\" --scenario sustained --concurrent 50 --duration 60s \\
      --tool get_market_data --args '{\"ticker\":\"AAPL\"}'
  mcp-loadtest run -s \"python -m my_mcp\" --rate 200/s --tool search --args '{\"q\":\"{{uuid}}\"}'
  mcp-loadtest run -s \"python -m my_mcp\" --scenario capacity --p99-latency 200ms
  mcp-loadtest run --config bench.toml --duration 10s
  mcp-loadtest run --url http://127.0.0.1:3000/mcp --tool echo --p99-latency 200ms --error-rate 0.01
  mcp-loadtest run --config bench.toml --tui
  mcp-loadtest run --config bench.toml --web 127.0.0.1:0
  mcp-loadtest run --config bench.toml --baseline last --tag v1.2 --junit run.xml
  mcp-loadtest run -s \"python -m ours\" -s \"npx -y theirs\" --label ours --label theirs --duration 10s")]
pub(crate) struct RunArgs {
    /// A configuration file (see `example-config`); flags win over what it says.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    targets: TargetArgs,
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten)]
    compare: CompareLimitArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    faults: FaultLogArg,
    #[command(flatten)]
    ci: CiArgs,
    #[command(flatten)]
    junit: JunitArg,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    live: LiveArgs,
    /// Print what the scenario does, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

/// What the run must keep to.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Thresholds")]
pub(crate) struct ThresholdArgs {
    /// Fail when half of the calls take longer.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) p50_latency: Option<Duration>,
    /// Fail when 5 of 100 calls take longer.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) p95_latency: Option<Duration>,
    /// Fail when 1 of 100 calls takes longer.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) p99_latency: Option<Duration>,
    /// Fail when 1 of 1000 calls takes longer.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) p999_latency: Option<Duration>,
    /// Fail when a larger share of calls fails: `0.01` or `1%`.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) error_rate: Option<f64>,
    /// No reply for this long is a hang [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) hang_timeout: Option<Duration>,
    /// Fail when fewer calls end every second.
    #[arg(long, value_name = "N")]
    pub(crate) min_rps: Option<f64>,
    /// Fail when the server's memory grows by more.
    #[arg(long, value_name = "MB")]
    pub(crate) memory_growth_mb: Option<f64>,
}

/// What the run leaves behind.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Where each run makes its directory [default: ./runs].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    #[arg(long = "format", value_name = "FORMAT", value_parser = parse_format, help = formats_help())]
    pub(crate) formats: Vec<Format>,
    /// Which calls trace.jsonl keeps: full, sampled, errors or off [default: sampled].
    #[arg(long, value_name = "HOW", value_parser = parse_trace)]
    pub(crate) trace: Option<Trace>,
    /// A name under which the run is found again, for --baseline tag:NAME. Repeatable.
    #[arg(long = "tag", value_name = "NAME")]
    pub(crate) tags: Vec<String>,
    /// Compare with an earlier run and fail when this one is worse: last (the last run of the same
    /// server and scenario that passed), tag:NAME, or a run directory.
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<Baseline>,
    /// Send metrics and a sample of spans to this OpenTelemetry collector when the run is over, as
    /// OTLP over HTTP; such as http://127.0.0.1:4318.
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<crate::otlp::Endpoint>,
    /// Threads that make the load; by default as many as are useful. Only over HTTP can there be more
    /// of them than --sessions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

/// The words of all forms.
pub(crate) fn formats() -> String {
    Format::ALL.map(Format::as_str).join(", ")
}

fn formats_help() -> String {
    let usual = Format::USUAL.map(Format::as_str).join(", ");
    let exports = Format::EXPORTS.map(Format::as_str).join(" and ");
    format!(
        "Forms of the result: {}. Repeatable; {exports} alone come in addition to the others [default: {usual}]",
        formats()
    )
}

fn parse_format(text: &str) -> Result<Format, String> {
    let known = Format::ALL.into_iter().find(|format| format.as_str() == text);
    known.ok_or_else(|| match flag_instead_of_form(text) {
        Some(hint) => hint,
        None => format!("there is no `{text}`; use {}", formats()),
    })
}

fn parse_trace(text: &str) -> Result<Trace, String> {
    let known = Trace::ALL.into_iter().find(|trace| trace.as_str() == text);
    known.ok_or_else(|| format!("use {}", Trace::ALL.map(Trace::as_str).join(", ")))
}

impl OutputArgs {
    fn refuse_idle_threads(&self, scenario: Option<ScenarioName>) -> Result<(), CliError> {
        match scenario.filter(|name| self.threads.is_some() && name.is_of_one_thread()) {
            Some(name) => Err(CliError::usage(
                format!("--threads has no effect on `{name}`: one thread makes all of its calls"),
                "leave it out",
            )),
            None => Ok(()),
        }
    }
}

impl ThresholdArgs {
    fn lay_over(&self, thresholds: &mut Thresholds, grace_period: Option<Duration>) {
        let set = |to: &mut Duration, from: Option<Duration>| *to = from.unwrap_or(*to);
        set(&mut thresholds.p50_latency, self.p50_latency);
        set(&mut thresholds.p95_latency, self.p95_latency);
        set(&mut thresholds.p99_latency, self.p99_latency);
        set(&mut thresholds.p999_latency, self.p999_latency);
        set(&mut thresholds.hang_timeout, self.hang_timeout);
        set(&mut thresholds.grace_period, grace_period);
        thresholds.error_rate = self.error_rate.unwrap_or(thresholds.error_rate);
        thresholds.min_rps = self.min_rps.unwrap_or(thresholds.min_rps);
        thresholds.memory_growth_mb = self.memory_growth_mb.unwrap_or(thresholds.memory_growth_mb);
    }
}

impl RunArgs {
    /// The scenario of the flag, or of the file, or the usual one.
    fn scenario_name(&self, env: &Env) -> Result<ScenarioName, CliError> {
        let written = match (&self.scenario.scenario, &self.config) {
            (Some(name), _) => Some(*name),
            (None, Some(_)) => self.config(&self.server, env)?.scenario.name,
            (None, None) => None,
        };
        Ok(written.unwrap_or(ScenarioName::Sustained))
    }

    fn refuse_two_hang_thresholds(&self, config: &Config) -> Result<(), CliError> {
        let is_probe = config.scenario.name == Some(ScenarioName::DeadlockProbe);
        if is_probe
            && self.scenario.hang_threshold.is_some()
            && self.thresholds.hang_timeout.is_some()
        {
            return Err(CliError::usage(
                "--hang-threshold and --hang-timeout say the same of deadlock_probe",
                "give one of them",
            ));
        }
        Ok(())
    }

    /// Where a scenario has times of its own in the file, it prefers them to those of the thresholds, and
    /// would to flags that are laid over these.
    fn clear_older_times(&self, scenario: &mut ScenarioConfig) {
        if self.scenario.grace_period.is_some() {
            scenario.grace_period = None;
        }
        if self.thresholds.hang_timeout.is_some() {
            scenario.hang_threshold = self.scenario.hang_threshold;
        }
    }

    /// Default < file < flag, decided here and nowhere else.
    fn config(&self, server: &ServerArgs, env: &Env) -> Result<Config, CliError> {
        let (mut config, source) = match &self.config {
            None => (Config::default(), None),
            Some(file) => {
                let path = env.cwd.join(file);
                let text = std::fs::read_to_string(&path)
                    .map_err(|source| CliError::Read { path, source })?;
                let name = file.display().to_string();
                (Config::read(&text, &name)?, Some((text, name)))
            }
        };
        server.lay_over(&mut config.server)?;
        self.scenario.lay_over(&mut config.scenario);
        self.thresholds.lay_over(&mut config.thresholds, self.scenario.grace_period);
        self.clear_older_times(&mut config.scenario);
        config.output.report_dir =
            self.output.output_dir.clone().unwrap_or(config.output.report_dir);
        config.output.lay_over_formats(&self.output.formats);
        config.output.trace = self.output.trace.unwrap_or(config.output.trace);
        config.output.tags.extend(self.output.tags.iter().cloned());
        self.compare.lay_over(&mut config.compare);
        config.compare.baseline = self.output.baseline.clone().or(config.compare.baseline);
        config.check().map_err(|error| match &source {
            Some((text, name)) => error.in_text(text, name),
            None => error,
        })?;
        Ok(config)
    }
}

/// A share as a number, or in percent.
fn parse_share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().map(|number| number / unit);
    share.map_err(|_| format!("`{text}` is no share; write for example `0.01` or `1%`"))
}

/// Runs `run`.
pub(crate) fn run(args: &RunArgs, env: &mut Env) -> Result<Exit, CliError> {
    if let Some(file) = args.config.as_ref().filter(|file| test::is_suite(file, env)) {
        refuse_flags_of_a_load(env)?;
        return test::run_config(file, args.show, &args.ci, env);
    }
    if args.explain {
        return Ok(explain(env, &explanation(args.scenario_name(env)?)));
    }
    let targets = args.targets.split(&args.server)?;
    let mut loads = Vec::new();
    for target in &targets {
        let told = if loads.is_empty() { Told::Everything } else { Told::Nothing };
        loads.push(load(args, target, told, env).map_err(|error| target.blame(error))?);
    }
    match loads.as_slice() {
        [only] => {
            if only.config.compare.baseline.is_none() {
                args.compare.refuse_unused()?;
            }
            let compared = baseline::execute(only, env)?;
            args.junit.write_run(&compared, env)?;
            args.ci.tell_run(&compared, Some(&only.server), env)?;
            #[cfg(feature = "otlp")]
            if let Some(endpoint) = &args.output.otlp {
                crate::otlp::export(&compared.report, endpoint)?;
            }
            only.stay_open(&compared.report, env)?;
            Ok(compared.exit)
        }
        #[cfg(feature = "otlp")]
        _ if args.output.otlp.is_some() => Err(CliError::usage(
            "--otlp is for a run of one server",
            "run each server by itself, or leave --otlp out",
        )),
        _ if args.faults.is_given() => Err(CliError::usage(
            "--audit is for a run of one server",
            "run each server by itself, or look at each run with `report --audit`",
        )),
        _ if args.live.is_wanted() => Err(CliError::usage(
            "--tui and --web are for a run of one server",
            "run each server by itself, or leave them out",
        )),
        _ if args.junit.is_asked_for() => Err(CliError::usage(
            "--junit is for a run of one server",
            "run each server by itself, or leave it out",
        )),
        _ => args.targets.execute(&targets, loads, &args.ci, env),
    }
}

/// A suite says itself what is done: what would change a load test would change nothing.
fn refuse_flags_of_a_load(env: &Env) -> Result<(), CliError> {
    let words = env.args.iter().map(|word| word.to_string_lossy());
    let is_known = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        let known = ["-c", "--config", "--json", "-q", "--quiet", "--color"];
        known.contains(&name)
            || ["--github", "--code-quality"].contains(&name)
            || (word.starts_with("-c") && !word.starts_with("--"))
    };
    match words.filter(|word| word.starts_with('-')).find(|word| !is_known(word)) {
        Some(word) => Err(CliError::usage(
            format!("`{word}` has no effect on a suite"),
            "leave it out, or choose tests with `mcp-loadtest test`",
        )),
        None => Ok(()),
    }
}

/// Whether settings without effect are told; for several servers once is enough.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Everything,
    Nothing,
}

fn load(args: &RunArgs, target: &Target, told: Told, env: &mut Env) -> Result<Load, CliError> {
    let config = args.config(&target.server, env)?;
    args.scenario.refuse_unused(config.scenario.name)?;
    args.output.refuse_idle_threads(config.scenario.name)?;
    if told == Told::Everything {
        let unused = config.unused().into_iter().map(|unused| unused.to_string());
        unused.chain(config.cautions()).for_each(|note| env.err(&format!("note: {note}\n")));
    }
    args.refuse_two_hang_thresholds(&config)?;
    let server = target.server.resolve(&config, env)?;
    Ok(Load {
        server,
        output_dir: env.path(&config.output.report_dir),
        config,
        strict_protocol: args.server.strict_protocol,
        tee_stderr: args.server.tee_stderr,
        threads: args.output.threads,
        show: args.show,
        live: args.live,
        faults: args.faults.clone(),
        page: Cell::new(None),
    })
}

/// What a scenario does.
pub(crate) fn explanation(name: ScenarioName) -> String {
    let entry = mcp_loadtest::scenario::entry(name);
    format!(
        "{}: {}\n\nFinds: {}\n\nAlgorithm:\n{}\n\nTunable knobs: {}.\n",
        name.as_str(),
        entry.summary,
        entry.detects,
        indent(entry.algorithm),
        entry.knobs
    )
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
