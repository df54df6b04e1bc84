//! `mock`: an MCP server that is healthy, or broken on purpose.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use mcp_loadtest_core::{
    config::TransportName,
    display::visible,
    exit::Exit,
    fault::{Fault, reference},
    hint::nearest,
    seed::Seed,
    tools_file::ToolsFile,
};
use mcp_loadtest_mock::{
    Group, Mock, Served,
    audit::{Audit, Redaction, StoreSpec},
};

use super::{block_on, explain};
use crate::{
    admin_args::AdminArgs, env::Env, error::CliError, hinted, interrupt, listen::parse_listen,
};

/// How the mock is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MockTransport {
    /// Our own stdin and stdout.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// WebSocket.
    Ws,
}

impl From<MockTransport> for TransportName {
    fn from(transport: MockTransport) -> Self {
        match transport {
            MockTransport::Stdio => Self::Stdio,
            MockTransport::Http => Self::Http,
            MockTransport::Sse => Self::Sse,
            MockTransport::Ws => Self::Ws,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  mcp-loadtest mock                                         a healthy server on stdin and stdout
  mcp-loadtest mock --transport http                        the same over HTTP; prints its URL
  mcp-loadtest mock --tools-from tools.yml                  your own tools with canned answers
  mcp-loadtest mock --fault hang                            every tool call hangs
  mcp-loadtest mock --fault 'hang@tool=echo,nth=3'          only the third call of `echo` does
  mcp-loadtest mock --fault flaky:0.2 --fault slow:300      20 % fail, all are slow
  mcp-loadtest mock --transport http --fault http:429 --audit calls.db
  mcp-loadtest audit calls.db stats                         what really arrived
  mcp-loadtest deadlock-probe -s \"mcp-loadtest mock --fault lazy-init-deadlock\"

`mock --help` lists every fault and selector, `mock --explain` also the built-in tools and what a file has.
Ctrl-C, SIGTERM or, on stdio, the end of stdin end it, with 0 if the audit log is complete.";

/// Arguments of `mock`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub(crate) struct MockArgs {
    /// How it is reached.
    #[arg(long, value_enum, default_value = "stdio")]
    transport: MockTransport,
    /// Where it listens, unless on stdio [default: 127.0.0.1:0]; the URL is printed before anything
    /// is served.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// What is wrong with it: KIND[:ARGUMENT][@SELECTOR=VALUE,...]; may be given more than once.
    #[arg(long, value_name = "FAULT", value_parser = hinted::<Fault>)]
    fault: Vec<Fault>,
    /// What the choices of faults are derived from that bring no seed of their own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write every message down: FILE.db, sqlite:FILE, jsonl:FILE, postgres://..., memory or none
    /// [without a value: sqlite:mcp-loadtest-audit.db].
    #[arg(long, value_name = "STORE", num_args = 0..=1, default_missing_value = StoreSpec::DEFAULT,
          value_parser = hinted::<StoreSpec>)]
    audit: Option<StoreSpec>,
    /// Mask what goes by this name in arguments and headers, too; may be given more than once.
    #[arg(long, value_name = "NAME", requires = "audit")]
    audit_mask: Vec<String>,
    /// Offer what a YAML or JSON file declares in place of the built-in tools: tools with canned
    /// answers, resources, prompts, or a saved `tools/list`.
    #[arg(long, value_name = "FILE")]
    tools_from: Option<PathBuf>,
    /// Leave out a group of built-in tools: identity, data, failure or streaming.
    #[arg(long, value_name = "GROUP", value_parser = hinted::<Group>, conflicts_with = "tools_from")]
    without: Vec<Group>,
    /// Also offer what the official conformance suite expects of a server.
    #[arg(long)]
    conformance: bool,
    /// Over HTTP, send even a lone reply as a stream of events.
    #[arg(long)]
    always_stream: bool,
    #[command(flatten)]
    admin: AdminArgs,
    /// Print what it offers and which faults there are, and exit.
    #[arg(long)]
    explain: bool,
}

const ABOUT: &str = "\
An MCP server that speaks every revision from 2024-11-05 to 2026-07-28, over stdio, Streamable HTTP,
HTTP+SSE or WebSocket. It is strict: arguments are held against the tool's schema, and what is not MCP
is refused as the revision says.

Tools:
";

const FILES_AND_FAULTS: &str = "
A file for --tools-from; `mcp-loadtest schema tools` lists every key:
  tools:
    - name: get_weather
      description: Weather of a city
      input_schema: {type: object, properties: {city: {type: string}}, required: [city]}
      response: Sunny in ${args.city}

A fault touches `tools/call` unless a selector says otherwise: the handshake and the lists stay well.
A hang ends after ten minutes with an error that says so. The same seed gives the same faults.

";

/// A line for each group of tools.
fn tools() -> String {
    let names = Group::ALL.map(|group| group.tools().collect::<Vec<_>>().join(", "));
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let lines = Group::ALL.iter().zip(&names).map(|(group, names)| {
        format!("  {:<10} {names:<width$}  {}\n", group.as_str(), group.about())
    });
    lines.collect()
}

fn long_help() -> String {
    format!("{}\n{EXAMPLES}", reference())
}

/// Runs `mock`.
pub(crate) fn run(args: &MockArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &format!("{ABOUT}{}{FILES_AND_FAULTS}{}", tools(), reference())));
    }
    check(args)?;
    let audit = open_audit(args, env)?;
    let mut mock = Mock::new().seed(Seed(args.seed)).audit(audit.clone());
    for fault in &args.fault {
        mock = mock.fault(fault.clone());
    }
    for group in &args.without {
        mock = mock.without(*group);
    }
    if let Some(path) = &args.tools_from {
        mock = mock.tools_from(read_tools(path, env)?)?;
    }
    if args.conformance {
        mock = mock.conformance();
    }
    if args.always_stream {
        mock = mock.always_stream();
    }
    warn_of_strangers(&args.fault, &mock.tool_names(), env);
    let served = block_on(serve(args, mock, env))??;
    // Whatever ended it: rows that were recorded and are not in the store are told.
    audit.close().map_err(CliError::Audit)?;
    Ok(match served {
        Served::Gone => Exit::Pass,
        Served::Crashed(code) => Exit::As(code as u8),
    })
}

async fn serve(args: &MockArgs, mock: Mock, env: &mut Env) -> Result<Served, CliError> {
    let interrupted = interrupt::signal();
    if args.transport == MockTransport::Stdio {
        let mock = mock.on_stdio();
        // Our stdout belongs to the protocol.
        let admin = args.admin.bind(|| mock.controlled(), env, Env::err).await?;
        return tokio::select! {
            served = mock.serve_until(interrupted) => Ok(served?),
            error = admin.serve() => Err(error),
        };
    }
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let address = args.listen.unwrap_or(any_port);
    let bound = mock.bind_as(args.transport.into(), address).await;
    let bound = bound.map_err(|source| CliError::Listen { address, source })?;
    let admin = args.admin.bind(|| bound.controlled(), env, Env::out).await?;
    env.out(&format!("{}\n", serde_json::json!({ "url": bound.url() })));
    tokio::select! {
        served = bound.serve_until(interrupted) => Ok(served?),
        error = admin.serve() => Err(error),
    }
}

/// Refuses faults that can never happen here.
pub(super) fn check_faults(faults: &[Fault], transport: TransportName) -> Result<(), CliError> {
    for fault in faults {
        fault.check(transport, None)?;
        if fault.selector().server.is_some() {
            return Err(CliError::usage(
                format!("`{fault}` selects a server by its name, and there is only one here"),
                "leave `server=` out; it is for suites, where servers have names",
            ));
        }
    }
    Ok(())
}

/// Tells of faults whose tool is not offered: they may be meant for what a later list brings, but most
/// are misspelt.
fn warn_of_strangers(faults: &[Fault], tools: &[String], env: &mut Env) {
    for fault in faults {
        let Some(tool) = fault.selector().tool.as_ref().filter(|tool| !tools.contains(tool)) else {
            continue;
        };
        let near = nearest(tool, tools.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", tools.join(", ")),
        };
        env.err(&format!(
            "warning: `{fault}`: no tool is called `{}`; {hint}\n",
            visible(tool, 80)
        ));
    }
}

/// What can be known to be wrong before anything is started.
fn check(args: &MockArgs) -> Result<(), CliError> {
    if args.transport == MockTransport::Stdio && args.listen.is_some() {
        return Err(CliError::usage(
            "--listen belongs to a transport that listens",
            "add `--transport http`, or leave --listen out",
        ));
    }
    if args.always_stream && args.transport != MockTransport::Http {
        return Err(CliError::usage(
            "--always-stream is for Streamable HTTP",
            "add `--transport http`, or leave --always-stream out",
        ));
    }
    check_faults(&args.fault, args.transport.into())
}

fn read_tools(path: &Path, env: &Env) -> Result<ToolsFile, CliError> {
    let path = env.path(path);
    let text = std::fs::read_to_string(&path)
        .map_err(|source| CliError::Read { path: path.clone(), source })?;
    Ok(ToolsFile::parse(&text, &path.display().to_string())?)
}

fn open_audit(args: &MockArgs, env: &Env) -> Result<Audit, CliError> {
    let Some(store) = &args.audit else { return Ok(Audit::none()) };
    let mask = |redaction: Redaction, name: &String| redaction.key(name);
    let redaction = args.audit_mask.iter().fold(Redaction::default(), mask);
    Ok(Audit::open(&store.clone().in_dir(&env.cwd), redaction)?)
}
