//! `negative-path`: does the server refuse what it must refuse?

use std::{collections::BTreeMap, time::Duration};

use anstyle::{AnsiColor, Style};
use clap::Args;
use mcp_loadtest::{Check, PROBES, Probe, ProbeReport, Seed, Stop};
use mcp_loadtest_core::{
    check::{CONTROL_CALL, CaseResult, CaseVerdict, Depth, Family},
    config::{Arguments, Config, check},
    display::visible,
    exit::Exit,
    hint::nearest,
    report::{figures::counted, wrap::wrap},
    units::Size,
};

use super::{
    explain,
    probe::{self, Judged, OutputArgs, STOPPED, WIDTH, carry_out, findings, is_listed},
};
use crate::{
    env::Env,
    error::CliError,
    scenario_args::parse_arguments,
    server_args::{ServerArgs, parse_size, parse_some_time, parse_time},
};

/// Arguments of `negative-path`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest negative-path -s \"python -m my_mcp\"
  mcp-loadtest negative-path -s \"python -m my_mcp\" --tool search --args '{\"query\":\"mcp\"}'
  mcp-loadtest negative-path --url http://127.0.0.1:3000/mcp --checks missing_required,wrong_type
  mcp-loadtest negative-path --name my-server --strict --json")]
pub(crate) struct NegativePathArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Only this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Arguments that the tool must take, as JSON; without them, made up from its schema.
    #[arg(long, value_name = "JSON", value_parser = parse_arguments, requires = "tool")]
    args: Option<Arguments>,
    /// Only these checks.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    checks: Vec<String>,
    /// Unexpected arguments that are taken fail the gate, also where the schema leaves it open.
    #[arg(long)]
    strict: bool,
    /// How long an oversized text is.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB")]
    oversized: Size,
    /// How many cases one check may make of one tool.
    #[arg(long, value_name = "N", default_value_t = 50)]
    cases: usize,
    /// Also call tools that may change or run something, with made-up arguments.
    #[arg(long)]
    allow_destructive: bool,
    /// No reply for this long is a hang.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "5s")]
    hang_threshold: Duration,
    /// How much longer a hanging call is waited for.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    grace_period: Duration,
    /// What arguments are made up from.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    #[command(flatten)]
    outputs: OutputArgs,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

pub(super) const EXPLANATION: &str = "\
Algorithm:
  1. Begin a session and list the tools.
  2. The control call: each tool that only reads is called once with good arguments (--args, or made
     up from its schema). A tool that refuses them is left out, since its refusals mean nothing; one
     that refuses --args is a finding. When no tool takes good arguments, the gate does not pass.
  3. Call a tool that does not exist.
  4. From each tool's schema and its good arguments, make arguments that differ in one place: every
     required property left out, every type wrong, every limit passed by one, every list of values
     missed, a property that nobody asked for, a very long text. A validator holds each against
     the schema; what the schema allows after all is dropped and counted.
  5. Send at most --cases of them for each check and tool, spread evenly. After each one the server
     must still answer; one that died is started again, and the next case goes on.
Refused is a JSON-RPC error or a result with isError: the right one of the two depends on the
revision, and the wrong one is a warning. Taken, crashed and hung fail the gate (exit code 1). A very
long text may be taken or refused, unless the schema limits it; an unexpected property that is taken is
a warning where the schema is closed, nothing where it is open, and fails the gate with --strict.

Tunable knobs: --checks, --tool, --args, --cases, --oversized, --strict, --hang-threshold,
--grace-period, --allow-destructive, --seed.";

/// Runs `negative-path`.
pub(crate) fn run(args: &NegativePathArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    let chosen = chosen(&args.checks)?;
    let mut config = Config::default();
    args.server.lay_over(&mut config.server)?;
    let server = args.server.resolve(&config, env)?;
    check::server(&server)?;
    let stop = Stop::new();
    let mut probe = Probe::new(server.clone())
        .named(args.server.again(&server))
        .depth(Depth::Deep)
        .only(chosen)
        .allow_destructive(args.allow_destructive)
        .strict(args.strict)
        .oversized(usize::try_from(args.oversized.0).unwrap_or(usize::MAX))
        .cases_per_tool(args.cases)
        .strict_protocol(args.server.strict_protocol)
        .tee_stderr(args.server.tee_stderr)
        .patience(args.hang_threshold, args.grace_period)
        .seed(args.seed.map(Seed).unwrap_or_default())
        .with_stop(stop.clone());
    if let Some(tool) = &args.tool {
        probe = probe.tool(tool, args.args.clone().map(|arguments| arguments.0));
    }
    let visible = env.has_audience() && !args.server.tee_stderr && args.outputs.wants_progress();
    let report = carry_out(probe, &stop, visible)?;
    if let Some(tool) = &args.tool {
        is_listed(tool, &report)?;
    }
    let judged =
        Judged { passed: passed(&report), word: word(&report).0, why_not: why_not(&report) };
    args.outputs.tell(&report, &server, &judged, || render(&report), env)?;
    Ok(match (stop.is_stopped(), passed(&report)) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Pass,
        (false, false) => Exit::Fail,
    })
}

pub(super) fn passed(report: &ProbeReport) -> bool {
    probe::passed(report) && report.negative_path.gate_passed == 1
}

/// Why the gate does not hold, in case that it does not.
fn why_not(report: &ProbeReport) -> &'static str {
    match (report.interrupted, report.negative_path.failures) {
        (true, 0) => STOPPED,
        (false, 0) if report.passed => nothing_shown(report),
        _ => "a bug was found",
    }
}

/// Why nothing that went wrong is no good sign.
fn nothing_shown(report: &ProbeReport) -> &'static str {
    let is_control = |case: &&CaseResult| case.check == CONTROL_CALL;
    let mut controls = report.checks.iter().filter(is_control);
    match controls.any(|control| control.verdict == CaseVerdict::Held) {
        true => NOTHING_JUDGED,
        false => NOTHING_TAKEN,
    }
}

const NOTHING_JUDGED: &str = "nothing but good arguments could be judged, so that nothing is known of what \
                              the server does with bad ones: the table says why";
const NOTHING_TAKEN: &str = "no tool took good arguments, so that a refusal means nothing: give some \
                             with --tool and --args, or call more tools with --allow-destructive";

/// The checks that can be asked for.
fn known() -> impl Iterator<Item = &'static Check> {
    PROBES.iter().copied().filter(|check| check.family == Family::NegativePath)
}

pub(super) fn chosen(asked: &[String]) -> Result<Vec<String>, CliError> {
    if asked.is_empty() {
        return Ok(known().map(|check| check.id.to_owned()).collect());
    }
    for name in asked {
        if !known().any(|check| check.id == name) {
            let valid: Vec<_> = known().map(|check| check.id).collect();
            let list = valid.join(", ");
            let hint = match nearest(name, valid) {
                Some(near) => format!("did you mean `{near}`? The checks are {list}"),
                None => format!("the checks are {list}"),
            };
            return Err(CliError::usage(format!("there is no check `{name}`"), hint));
        }
    }
    let mut chosen = asked.to_vec();
    // Refusals mean something only beside a call that went well; a tool that does not exist has none.
    if asked.iter().any(|name| name != "unknown_tool") {
        chosen.push(CONTROL_CALL.to_owned());
    }
    Ok(chosen)
}

const fn style(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// The word above everything else.
fn word(report: &ProbeReport) -> (&'static str, Style) {
    let is_open = report.passed && report.negative_path.failures == 0;
    match (passed(report), is_open) {
        (true, _) => ("PASS", style(AnsiColor::Green)),
        (false, true) => ("UNDECIDED", style(AnsiColor::Yellow)),
        (false, false) => ("FAIL", style(AnsiColor::Red)),
    }
}

fn render(report: &ProbeReport) -> String {
    let gate = &report.negative_path;
    let (word, paint) = word(report);
    let name = visible(report.server_name.as_deref().unwrap_or("unnamed server"), 80);
    let mut text = format!(
        "{paint}{word}{paint:#} {name}, MCP {}: {}, {} failed, {} could not be judged\n\n",
        report.revision,
        counted(gate.checks_run, "case"),
        gate.failures,
        gate.could_not_tell,
    );
    text.push_str(&table(report));
    if report.interrupted {
        text.push_str(&format!("\nNot all of it: {STOPPED}.\n"));
    } else if gate.gate_passed == 0 && gate.failures == 0 {
        let why = format!("Undecided: {}.", nothing_shown(report));
        text.push_str(&format!("\n{}\n", wrap(&why, WIDTH).join("\n")));
    }
    text.push_str(&findings(&report.findings, false));
    text
}

/// The verdicts that have a column, in their order.
const COLUMNS: [CaseVerdict; 7] = [
    CaseVerdict::Rejected,
    CaseVerdict::Held,
    CaseVerdict::Accepted,
    CaseVerdict::Broken,
    CaseVerdict::Crashed,
    CaseVerdict::Hung,
    CaseVerdict::CouldNotTell,
];

/// A line for each check and tool: how many cases came out how. What was not tried says why.
fn table(report: &ProbeReport) -> String {
    let cases = || report.checks.iter().filter(|result| result.family == Family::NegativePath);
    let shown: Vec<_> = COLUMNS
        .into_iter()
        .filter(|verdict| cases().any(|case| case.verdict == *verdict))
        .collect();
    let mut rows: BTreeMap<(usize, &str), Vec<&CaseResult>> = BTreeMap::new();
    for case in cases() {
        let place = known().position(|check| check.id == case.check).unwrap_or(usize::MAX);
        rows.entry((place, case.tool.as_deref().unwrap_or("-"))).or_default().push(case);
    }
    let width = rows.keys().map(|(_, tool)| tool.chars().count()).max().unwrap_or(0).clamp(4, 36);
    let mut text = format!("  {:<16} {:<width$}", "check", "tool");
    for verdict in &shown {
        text.push_str(&format!("  {}", verdict.words()));
    }
    text.push('\n');
    for ((_, tool), cases) in rows {
        text.push_str(&format!("  {:<16} {:<width$}", cases[0].check, visible(tool, 36)));
        for verdict in &shown {
            let count = cases.iter().filter(|case| case.verdict == *verdict).count();
            let column = verdict.words().len();
            text.push_str(&match count {
                0 => format!("  {:>column$}", "."),
                count => format!("  {count:>column$}"),
            });
        }
        let left_out = cases.iter().find(|case| case.verdict == CaseVerdict::Skipped);
        if let Some(case) = left_out {
            text.push_str(&format!("  ({})", visible(&case.detail, 120)));
        }
        text.push('\n');
    }
    text
}
