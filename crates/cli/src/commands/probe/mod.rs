//! `probe`: is the server alive and well?

mod outputs;
mod text;

use std::{sync::Arc, time::Duration};

use clap::Args;
use mcp_loadtest::{PROBES, Probe, ProbeReport, Seed, Stop};
use mcp_loadtest_core::{
    check::Depth,
    config::{Arguments, Config, check},
    display::visible,
    exit::Exit,
    hint::nearest,
    server::Server,
    units::Size,
};

pub(super) use self::{
    outputs::{Judged, OutputArgs},
    text::{WIDTH, findings},
};
use super::{block_on, explain};
use crate::{
    env::Env,
    error::CliError,
    interrupt,
    progress::ProgressLine,
    scenario_args::parse_arguments,
    server_args::{ServerArgs, parse_size, parse_some_time, parse_time},
};

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest probe -s \"python -m my_mcp\"
  mcp-loadtest probe --url http://127.0.0.1:3000/mcp --header \"Authorization: Bearer $TOKEN\"
  mcp-loadtest probe --name my-server --quick --json
  mcp-loadtest probe -s \"node server.js\" --deep --junit probe.xml --sarif probe.sarif
  mcp-loadtest probe -s \"node server.js\" --only wrong_type,cancel_in_flight --verbose")]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Also call tools that may change or run something, with made-up arguments.
    #[arg(long)]
    allow_destructive: bool,
    /// A tool that writes and one that shows what was written, for write_read_back; needs
    /// --allow-destructive.
    #[arg(long, value_name = "WRITER=READER", requires = "allow_destructive", value_parser = parse_pair)]
    pair: Option<(String, String)>,
    /// Only the checks that take a few seconds.
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// All checks, however long they take.
    #[arg(long)]
    deep: bool,
    /// Only these checks; `--explain` lists them.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = parse_check)]
    only: Vec<String>,
    /// Only this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Arguments that this tool is known to take, in place of made-up ones.
    #[arg(long, value_name = "JSON", requires = "tool", value_parser = parse_arguments)]
    args: Option<Arguments>,
    /// Also report what a tool's schema leaves open.
    #[arg(long)]
    strict: bool,
    /// How large an oversized argument is.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB")]
    oversized: Size,
    /// How many cases one check may make of one tool.
    #[arg(long, value_name = "NUMBER", default_value_t = 12)]
    cases: usize,
    /// No check is begun after this long. [default: 20s with --quick, 60s, 15m with --deep]
    #[arg(long, value_name = "TIME", value_parser = parse_some_time)]
    time_limit: Option<Duration>,
    /// No reply for this long is a hang.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "5s")]
    hang_threshold: Duration,
    /// How much longer a hanging call is waited for.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    grace_period: Duration,
    /// What arguments are made up from.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Show every case that was tried; --json always does.
    #[arg(long, conflicts_with = "json")]
    verbose: bool,
    #[command(flatten)]
    outputs: OutputArgs,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

/// Reads a pair of tools.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((writer, reader)) if !writer.is_empty() && !reader.is_empty() => {
            Ok((writer.to_owned(), reader.to_owned()))
        }
        _ => Err("two names of tools are meant, such as `add_note=list_notes`".into()),
    }
}

/// Reads the id of a check.
pub(super) fn parse_check(text: &str) -> Result<String, String> {
    let ids = || PROBES.iter().map(|check| check.id);
    if ids().any(|id| id == text) {
        return Ok(text.to_owned());
    }
    let hint = match nearest(text, ids()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", ids().collect::<Vec<_>>().join(", ")),
    };
    Err(format!("no such check; {hint}"))
}

const EXPLANATION: &str = "\
Algorithm:
  1. Find the era: `server/discover` in a process that is thrown away (over HTTP: one request).
  2. Start the server (or connect) and begin the session: `initialize`, or `server/discover`.
  3. Send `tools/list`, page by page, with a guard against lists that never end.
  4. For each tool that only reads (by its annotations, or else by its name and schema), make up
     arguments from its schema and call it once. Others are listed as skipped.
  5. Each call is watched: a reply within the hang threshold is fine, silence is diagnosed.
  6. Stop the server: end of input, then SIGTERM, then SIGKILL; tell what was needed.
  7. Carry out the checks below, one after the other, on sessions of their own. After each case the
     server is asked whether it still answers; one that died is started anew for the next case.
A tool that answers with isError or a JSON-RPC error did answer: with made-up arguments that is no
fault. Tools whose call was refused are not tried with bad arguments: it would prove nothing.
A bug fails the probe (exit 1); a warning does not.

Tunable knobs: --quick, --deep, --only, --tool, --args, --pair, --strict, --oversized, --cases,
  --time-limit, --allow-destructive, --hang-threshold, --grace-period, --protocol, --seed.
";

/// The algorithm, and what each check does.
pub(super) fn explanation() -> String {
    let mut text = EXPLANATION.to_owned();
    for depth in [Depth::Quick, Depth::Usual, Depth::Deep] {
        text.push_str(match depth {
            Depth::Quick => "\nChecks of --quick:\n",
            Depth::Usual => "\nAdded by default:\n",
            Depth::Deep => "\nAdded by --deep:\n",
        });
        for check in PROBES.iter().filter(|check| check.depth == depth) {
            text.push_str(&format!("  {:<21} {}\n", check.id, check.about));
        }
    }
    text
}

/// Runs `probe`.
pub(crate) fn run(args: &ProbeArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &explanation()));
    }
    let mut config = Config::default();
    args.server.lay_over(&mut config.server)?;
    let server = args.server.resolve(&config, env)?;
    check::server(&server)?;
    let stop = Stop::new();
    let probe = probe(args, server.clone()).with_stop(stop.clone());
    let is_watched = env.has_audience() && !args.server.tee_stderr && args.outputs.wants_progress();
    let report = carry_out(probe, &stop, is_watched)?;
    let pair = args.pair.iter().flat_map(|(writer, reader)| [writer, reader]);
    for tool in args.tool.iter().chain(pair) {
        is_listed(tool, &report)?;
    }
    let judged = Judged {
        passed: passed(&report),
        word: text::word(&report).0,
        why_not: if report.passed { STOPPED } else { "a bug was found" },
    };
    args.outputs.tell(&report, &server, &judged, || text::render(&report, args.verbose), env)?;
    Ok(match (stop.is_stopped(), report.passed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Pass,
        (false, false) => Exit::Fail,
    })
}

/// Why a probe that was cut short does not pass, whatever it found until then.
pub(super) const STOPPED: &str = "it was stopped before everything was tried";

/// Whether no bug was found, by everything that was to be tried.
pub(super) fn passed(report: &ProbeReport) -> bool {
    report.passed && !report.interrupted
}

fn probe(args: &ProbeArgs, server: Server) -> Probe {
    let depth = match (args.quick, args.deep) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Deep,
        _ => Depth::Usual,
    };
    let named = args.server.again(&server);
    let mut probe = Probe::new(server)
        .named(named)
        .depth(depth)
        .strict(args.strict)
        .oversized(usize::try_from(args.oversized.0).unwrap_or(usize::MAX))
        .cases_per_tool(args.cases)
        .allow_destructive(args.allow_destructive)
        .strict_protocol(args.server.strict_protocol)
        .tee_stderr(args.server.tee_stderr)
        .patience(args.hang_threshold, args.grace_period)
        .seed(args.seed.map(Seed).unwrap_or_default());
    if let Some((writer, reader)) = &args.pair {
        probe = probe.pair(writer, reader);
    }
    if let Some(limit) = args.time_limit {
        probe = probe.time_limit(limit);
    }
    if !args.only.is_empty() {
        probe = probe.only(args.only.iter().cloned());
    }
    if let Some(tool) = &args.tool {
        probe = probe.tool(tool, args.args.clone().map(|arguments| arguments.0));
    }
    probe
}

/// A tool that is asked for must be there: otherwise nothing was tried, and nothing could be found.
pub(super) fn is_listed(tool: &str, report: &ProbeReport) -> Result<(), CliError> {
    let names = || report.tools.iter().map(|tool| tool.name.as_str());
    if names().any(|name| name == tool) {
        return Ok(());
    }
    let hint = match nearest(tool, names()) {
        Some(near) => format!("did you mean `{}`?", visible(near, 80)),
        None => {
            format!("the server lists {}", visible(&names().collect::<Vec<_>>().join(", "), 400))
        }
    };
    Err(CliError::usage(format!("the server has no tool `{tool}`"), hint))
}

/// Carries a probe out and shows meanwhile how far it is.
pub(super) fn carry_out(probe: Probe, stop: &Stop, visible: bool) -> Result<ProbeReport, CliError> {
    let line = ProgressLine::new("probing", None, visible);
    let shown = line.label();
    let probe = probe.watched_by(Arc::new(move |check: &str| shown(check)));
    block_on(async {
        tokio::select! {
            report = probe.execute() => Ok(report?),
            () = line.wait() => unreachable!("the line is shown for ever"),
            () = interrupt::listen(stop.clone()) => Err(CliError::Interrupted),
        }
    })?
}
