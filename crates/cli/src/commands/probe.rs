//! `probe`: is the server alive and well?

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use mcp_loadtest::{Finding, Probe, ProbeReport, Seed, Severity, Stop, ToolProbe, ToolVerdict};
use mcp_loadtest_core::{
    check::Depth,
    config::{Config, check},
    display::visible,
    exit::Exit,
    units::format_latency,
};

use super::{block_on, explain};
use crate::{
    env::Env,
    error::CliError,
    interrupt,
    progress::ProgressLine,
    server_args::{ServerArgs, parse_some_time, parse_time},
};

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest probe -s \"python -m my_mcp\"
  mcp-loadtest probe --url http://127.0.0.1:3000/mcp --header \"Authorization: Bearer $TOKEN\"
  mcp-loadtest probe --name my-server --json")]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Also call tools that may change or run something, with made-up arguments.
    #[arg(long)]
    allow_destructive: bool,
    /// Only the checks that take a few seconds.
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// All checks, however long they take.
    #[arg(long)]
    deep: bool,
    /// Only these checks.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    only: Vec<String>,
    /// Only this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// No reply for this long is a hang.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "5s")]
    hang_threshold: Duration,
    /// How much longer a hanging call is waited for.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    grace_period: Duration,
    /// What arguments are made up from.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Print one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

const EXPLANATION: &str = "\
Algorithm:
  1. Find the era: `server/discover` in a process that is thrown away (over HTTP: one request).
  2. Start the server (or connect) and begin the session: `initialize`, or `server/discover`.
  3. Send `tools/list`, page by page, with a guard against lists that never end.
  4. For each tool that only reads (by its annotations, or else by its name and schema), make up
     arguments from its schema and call it once. Others are listed as skipped.
  5. Each call is watched: a reply within the hang threshold is fine, silence is diagnosed.
  6. A server that dies is started again for the next tool.
  7. Stop the server: end of input, then SIGTERM, then SIGKILL; tell what was needed.
A tool that answers with isError or a JSON-RPC error did answer: with made-up arguments that is no
fault. Findings are crashes, hangs, malformed replies, noise on stdout, processes left behind.

Tunable knobs: --allow-destructive, --hang-threshold, --grace-period, --protocol, --seed.";

/// Runs `probe`.
pub(crate) fn run(args: &ProbeArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    let mut config = Config::default();
    args.server.lay_over(&mut config.server)?;
    let server = args.server.resolve(&config, env)?;
    check::server(&server)?;
    let stop = Stop::new();
    let depth = match (args.quick, args.deep) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Deep,
        _ => Depth::Usual,
    };
    let mut probe = Probe::new(server)
        .depth(depth)
        .allow_destructive(args.allow_destructive)
        .strict_protocol(args.server.strict_protocol)
        .tee_stderr(args.server.tee_stderr)
        .patience(args.hang_threshold, args.grace_period)
        .seed(args.seed.map(Seed).unwrap_or_default())
        .with_stop(stop.clone());
    if !args.only.is_empty() {
        probe = probe.only(args.only.iter().cloned());
    }
    if let Some(tool) = &args.tool {
        probe = probe.tool(tool, None);
    }
    let visible = env.has_audience() && !args.server.tee_stderr;
    let line = ProgressLine::new("probing", None, visible);
    let report = block_on(async {
        tokio::select! {
            report = probe.execute() => Ok(report?),
            () = line.wait() => unreachable!("the line is shown for ever"),
            () = interrupt::listen(stop.clone()) => Err(CliError::Interrupted),
        }
    })??;
    drop(line);
    if args.json {
        env.out(&(serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"));
    } else {
        env.out(&render(&report));
    }
    Ok(match (stop.is_stopped(), report.passed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Pass,
        (false, false) => Exit::Fail,
    })
}

const fn style(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(color)))
}

fn render(report: &ProbeReport) -> String {
    let (word, color) = if !report.passed {
        ("CRITICAL", AnsiColor::Red)
    } else if report.findings.iter().any(|finding| finding.severity == Severity::Warning) {
        ("WARNING", AnsiColor::Yellow)
    } else {
        ("PASS", AnsiColor::Green)
    };
    let paint = style(color);
    let called = report.tools.iter().filter(|tool| tool.verdict != ToolVerdict::Skipped).count();
    let name = report.server_name.as_deref().unwrap_or("unnamed server");
    let version = report.server_version.as_deref().unwrap_or("");
    let mut text = format!(
        "{paint}{word}{paint:#} {name} {version}: {} listed, {called} called, {} skipped\n",
        if report.tools.len() == 1 {
            "1 tool".to_owned()
        } else {
            format!("{} tools", report.tools.len())
        },
        report.tools.len() - called,
    );
    let handshake = format_latency(Duration::from_secs_f64(report.handshake_ms / 1e3));
    text.push_str(&format!(
        "  MCP {} ({} era), handshake {handshake}\n\n",
        report.revision, report.era
    ));
    let width =
        report.tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).min(36);
    for tool in &report.tools {
        text.push_str(&tool_line(tool, width));
    }
    for finding in &report.findings {
        text.push_str(&finding_lines(finding));
    }
    if called < report.tools.len() {
        text.push_str(
            "\nSkipped tools are called with --allow-destructive, with made-up arguments.\n",
        );
    }
    text
}

fn tool_line(tool: &ToolProbe, width: usize) -> String {
    let (word, color) = match tool.verdict {
        ToolVerdict::Ok => ("ok", AnsiColor::Green),
        ToolVerdict::ToolError => ("isError", AnsiColor::Cyan),
        ToolVerdict::Slow => ("slow", AnsiColor::Cyan),
        ToolVerdict::Refused => ("refused", AnsiColor::Cyan),
        ToolVerdict::Skipped => ("skipped", AnsiColor::BrightBlack),
        ToolVerdict::Hung => ("HUNG", AnsiColor::Red),
        ToolVerdict::Crashed => ("CRASHED", AnsiColor::Red),
        ToolVerdict::Malformed => ("MALFORMED", AnsiColor::Red),
    };
    let paint = style(color);
    let name = visible(&tool.name, 36);
    let took = tool
        .took_ms
        .map(|ms| format_latency(Duration::from_secs_f64(ms / 1e3)))
        .unwrap_or_default();
    let detail = match (&tool.arguments, tool.reason.as_str()) {
        (Some(arguments), "") => visible(&arguments.to_string(), 60),
        (Some(arguments), reason) => {
            format!("{} -> {}", visible(&arguments.to_string(), 40), visible(reason, 60))
        }
        (None, reason) => visible(reason, 90),
    };
    format!("  {paint}{word:<9}{paint:#} {name:<width$} {took:>8}  {detail}\n")
}

fn finding_lines(finding: &Finding) -> String {
    let color = match finding.severity {
        Severity::Critical => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Cyan,
    };
    let paint = style(color);
    let mut text =
        format!("\n{paint}{}{paint:#}: {}\n", finding.id, visible(&finding.message, 400));
    for evidence in &finding.evidence {
        text.push_str(&format!("    {}\n", visible(evidence, 300)));
    }
    if let Some(hint) = &finding.hint {
        text.push_str(&format!("    hint: {hint}\n"));
    }
    text
}
