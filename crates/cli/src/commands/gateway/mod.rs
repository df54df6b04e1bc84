//! `gateway`: does what sits between clients and servers keep what passes through it?

mod outputs;
mod text;

use std::{pin::pin, time::Duration};

use clap::Args;
use mcp_loadtest_core::{
    exit::Exit,
    secrets::{Given, masked_url},
    server::{InheritEnv, ProtocolChoice},
};
use mcp_loadtest_mock::gateway::{
    self, CHECKS, Check, Gateway, GatewayError, PATIENCE, Subject, UnknownCheck,
};
use mcp_loadtest_wire::{
    process::{Launch, TeeStderr},
    session::Address,
};
use tokio_util::sync::CancellationToken;

use self::outputs::OutputArgs;
use super::{block_on, explain};
use crate::{
    env::Env,
    error::CliError,
    hinted, interrupt,
    progress::ProgressLine,
    server_args::{parse_some_time, split_pair},
};

/// Arguments of `gateway`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest gateway -- mcp-proxy {upstream} --transport streamablehttp
  mcp-loadtest gateway --gateway http://127.0.0.1:8080/mcp --upstream-port 9000
  mcp-loadtest gateway --gateway http://127.0.0.1:8080/mcp --upstream-port 9000 -- my-gateway --config gw.yml
  mcp-loadtest gateway --only cancel,streaming -- my-gateway {upstream}
  mcp-loadtest gateway --json --skip latency -- my-gateway {upstream} > gateway.json
  mcp-loadtest gateway --html gateway.html --junit gateway.xml --github -- my-gateway {upstream}

Without --gateway, the command is started for each session and spoken with over its pipes; `{upstream}`
in it is the URL of our server, as is the variable MCP_LOADTEST_UPSTREAM. With --gateway, the gateway
listens there and must know that its server is http://127.0.0.1:PORT/mcp.

Exit codes: 0 all kept, 1 something is broken or could not be told, 2 the gateway could not be started
or reached, 130 interrupted.")]
pub(crate) struct GatewayArgs {
    /// Where the gateway listens.
    #[arg(long, value_name = "URL", requires = "upstream_port")]
    gateway: Option<String>,
    /// The port of 127.0.0.1 at which the gateway expects its server.
    #[arg(long, value_name = "PORT", requires = "gateway",
          value_parser = clap::value_parser!(u16).range(1..))]
    upstream_port: Option<u16>,
    /// A header for every request to --gateway, like "Authorization: Bearer ...". Repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "gateway")]
    headers: Vec<String>,
    /// The MCP revision that the client speaks: auto, or a date such as 2025-11-25 or 2026-07-28.
    #[arg(long, value_name = "REVISION", default_value = "auto",
          value_parser = hinted::<ProtocolChoice>)]
    protocol: ProtocolChoice,
    /// How long the gateway may take to start.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "30s")]
    startup_timeout: Duration,
    /// How long the client waits for an answer [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = parse_some_time)]
    patience: Option<Duration>,
    /// Make only these checks.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',', value_parser = parse_check)]
    only: Vec<&'static str>,
    /// Leave these checks out.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',', value_parser = parse_check)]
    skip: Vec<&'static str>,
    /// A variable for the gateway. Repeatable.
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "command")]
    env: Vec<String>,
    /// Pass all of our environment to the gateway, secrets included.
    #[arg(long, requires = "command")]
    inherit_env: bool,
    /// Also show the gateway's stderr as it comes.
    #[arg(long, requires = "command")]
    tee_stderr: bool,
    /// No progress while it runs.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    outputs: OutputArgs,
    /// Print what each check means, and exit.
    #[arg(long)]
    explain: bool,
    /// The command that starts the gateway, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn parse_check(text: &str) -> Result<&'static str, String> {
    use mcp_loadtest_core::hint::Hint as _;
    let told = |error: UnknownCheck| format!("{error}; {}", error.hint().unwrap_or_default());
    gateway::find(text.trim()).map(|check| check.id).map_err(told)
}

const EXPLANATION: &str = "\
Our client talks through the gateway with our own server. Both write down what they see, so what was
sent at one end is held against what arrived at the other. First comes a control call: a gateway that
does not even pass `echo` on is not checked. A tool that the gateway renames (`server_echo`,
`server__echo`) is found by the end of its name.

Verdicts: kept, measured (a figure or a policy, neither right nor wrong), not_applicable,
could_not_tell (the evidence says why; leave the check out with --skip), broken.

Checks, in this order:
";

/// Runs `gateway`.
pub(crate) fn run(args: &GatewayArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &(EXPLANATION.to_owned() + &text::reference())));
    }
    let stop = CancellationToken::new();
    let gateway = Gateway::new(subject(args, env)?)
        .protocol(args.protocol)
        .startup_timeout(args.startup_timeout)
        .patience(args.patience.unwrap_or(PATIENCE))
        .retain(|check| wanted(args, check))
        .stop(stop.clone());
    let is_watched = env.has_audience() && !args.tee_stderr && !args.quiet;
    let line = ProgressLine::new("checking", None, is_watched);
    let report = block_on(async {
        let mut checking = pin!(gateway.check());
        tokio::select! {
            report = &mut checking => return Ok(report?),
            () = line.follow(Default::default()) => unreachable!("the line follows for ever"),
            () = interrupt::signal() => stop.cancel(),
        }
        tokio::select! {
            report = checking => Ok(report?),
            () = interrupt::signal() => Err(CliError::Interrupted),
        }
    })??;
    drop(line);
    let report = env.secrets().document(report).map_err(|error| unmasked(&error))?;
    args.outputs.tell(&report, env)?;
    Ok(match (report.interrupted, report.passed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Pass,
        (false, false) => Exit::Fail,
    })
}

fn wanted(args: &GatewayArgs, check: &Check) -> bool {
    (args.only.is_empty() || args.only.contains(&check.id)) && !args.skip.contains(&check.id)
}

/// What tells a secret is not shown.
fn unmasked(error: &serde_json::Error) -> CliError {
    CliError::usage(
        format!("the report tells a secret that could not be masked: {error}"),
        "leave the checks out that quote the gateway, with --skip",
    )
}

fn subject(args: &GatewayArgs, env: &mut Env) -> Result<Subject, CliError> {
    if !CHECKS.iter().any(|check| wanted(args, check)) {
        return Err(CliError::usage("no check is left", "leave out --skip, or name others"));
    }
    let launch = launch(args, env)?;
    if let Some(launch) = &launch {
        env.keep(&launch.secrets);
    }
    let (Some(url), Some(upstream_port)) = (&args.gateway, args.upstream_port) else {
        let Some(launch) = launch else {
            return Err(CliError::usage(
                "there is no gateway",
                "name its command after `--`, or where it listens with --gateway and --upstream-port",
            ));
        };
        return Ok(Subject::Pipes(launch));
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(CliError::usage(
            format!("--gateway `{}` is no address of Streamable HTTP", masked_url(url)),
            "write it like `http://127.0.0.1:8080/mcp`",
        ));
    }
    let mut address = Address::new(url);
    let mut given = Given::default().url(url);
    for header in &args.headers {
        let pair = split_pair(header, ':', "--header", "Authorization: Bearer TOKEN")?;
        given = given.header(&pair.0, &pair.1);
        address.headers.push(pair);
    }
    env.keep(&given.secrets());
    Ok(Subject::Listening { address, upstream_port, launch })
}

fn launch(args: &GatewayArgs, env: &Env) -> Result<Option<Launch>, CliError> {
    let Some((command, arguments)) = args.command.split_first() else { return Ok(None) };
    let mut launch = Launch::new(command);
    launch.args = arguments.to_vec();
    launch.working_dir = Some(env.cwd.clone());
    if args.inherit_env {
        launch.inherit_env = InheritEnv::All;
    }
    if args.tee_stderr {
        launch.tee_stderr = TeeStderr::On;
    }
    for variable in &args.env {
        let (name, value) = split_pair(variable, '=', "--env", "LOG_LEVEL=debug")?;
        launch.env.insert(name, value);
    }
    launch.keep_secrets();
    Ok(Some(launch))
}

impl From<GatewayError> for CliError {
    fn from(error: GatewayError) -> Self {
        Self::Gateway(Box::new(error))
    }
}
