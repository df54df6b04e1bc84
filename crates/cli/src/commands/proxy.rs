//! `proxy`: stands between a client and a server, with faults.

use std::{net::SocketAddr, path::PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use mcp_loadtest_core::{
    config::TransportName,
    exit::Exit,
    fault::{Fault, reference},
    hint::Hint,
    secrets::Given,
    seed::Seed,
    server::InheritEnv,
};
use mcp_loadtest_mock::{
    audit::{Audit, Redaction, StoreSpec},
    proxy::{BATCH_LIMIT, Proxy, ProxyEnd, ProxyError},
};
use mcp_loadtest_wire::{
    Trust,
    process::{Launch, TeeStderr},
    session::Address,
};

use super::{block_on, explain, mock::check_faults};
use crate::{
    admin_args::AdminArgs, env::Env, error::CliError, hinted, interrupt, listen::parse_listen,
};

/// How the proxy and the server behind it are spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProxyTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// Known by name only, so that it can be refused in words.
    #[value(hide = true)]
    Ws,
}

/// Arguments of `proxy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest proxy --fault 'hang@tool=search,nth=3' -- npx some-server
  mcp-loadtest proxy --fault slow:2000 --fault 'error@probability=0.1' -- python3 server.py
  mcp-loadtest proxy --fault http:503 --upstream http://127.0.0.1:3000/mcp
  mcp-loadtest proxy --explain")]
#[command(group = ArgGroup::new("server").required(true).args(["command", "upstream", "explain"]))]
pub(crate) struct ProxyArgs {
    /// What goes wrong: `kind[:argument][@selector=value,…]`; may be given several times.
    #[arg(long = "fault", value_name = "FAULT", value_parser = hinted::<Fault>)]
    faults: Vec<Fault>,
    /// Where chance comes from, for faults that bring no seed of their own.
    #[arg(long, value_name = "NUMBER", default_value_t = Seed::default().0)]
    seed: u64,
    /// Write every message down: `FILE.db`, `FILE.jsonl`, `postgres://…`.
    #[arg(long, value_name = "STORE", value_parser = hinted::<StoreSpec>)]
    audit: Option<StoreSpec>,
    /// Print all faults and selectors, and exit.
    #[arg(long)]
    explain: bool,
    /// The server that runs: its MCP endpoint.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Where to listen for clients of `--upstream` [default: 127.0.0.1:0]; the address that was
    /// really taken is printed.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "command", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// How `--upstream` is spoken to.
    #[arg(long, value_enum, default_value = "http", conflicts_with = "command")]
    transport: ProxyTransport,
    /// A PEM file with certificates to trust besides those of the system.
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    ca_cert: Option<PathBuf>,
    #[command(flatten)]
    admin: AdminArgs,
    /// The server to start, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const EXPLANATION: &str = "\
Stands between a client and a server. Without a fault it changes nothing.
With a command after `--` it starts that server, which sees all of our environment, and speaks for it
over stdin and stdout; the server's stderr is shown line by line. When the server ends, its exit code
is ours (128 and the number of the signal where one ended it). When stdin ends, the server's does;
then it gets SIGTERM after two seconds and SIGKILL after three more. Nothing of it outlives us.
There, `disconnect` and `truncate` end the proxy.
With --upstream it listens on this machine and sends every request on to that server; the first line
on stdout is its own URL. Paths are kept, so an `endpoint` event of HTTP+SSE leads through it; an
absolute one is made relative. A client that goes away takes its request to the server with it.
A call that a fault answers does not reach the server.
Each message of a batch is treated and written down as if it had come by itself. What is left of the
batch goes on as a batch, and whole replies come back in one array; those that hang or are spoiled come
by themselves. Over HTTP what ends or spoils a response ends or spoils that of the whole batch. A batch
of more than {limit} messages is passed on unread.
Not done: WebSocket, on either side, and the selector `server=` (there is one server); both are refused.
Times of messages before a reply are in the log over HTTP only: over pipes nobody can tell whose they are.

";

/// Runs `proxy`.
pub(crate) fn run(args: &ProxyArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        let words = EXPLANATION.replace("{limit}", &BATCH_LIMIT.to_string());
        return Ok(explain(env, &format!("{words}{}", reference())));
    }
    let transport = transport(args)?;
    check_faults(&args.faults, transport)?;
    let launch = match &args.upstream {
        Some(url) => Launch { secrets: Given::default().url(url).secrets(), ..Launch::default() },
        None => launch(args, env),
    };
    env.keep(&launch.secrets);
    let audit = open_audit(args, env)?;
    let proxy = Proxy::new().faults(args.faults.clone()).seed(Seed(args.seed)).audit(audit.clone());
    let ended = match &args.upstream {
        Some(url) => listen(args, env, proxy, url, transport),
        None => stand_in(args, env, proxy, &launch),
    };
    // Whatever ended it: rows that were recorded and are not in the store are told.
    audit.close().map_err(CliError::Audit)?;
    ended
}

fn transport(args: &ProxyArgs) -> Result<TransportName, CliError> {
    let is_socket = |url: &String| ["ws://", "wss://"].iter().any(|scheme| url.starts_with(scheme));
    if args.transport == ProxyTransport::Ws || args.upstream.as_ref().is_some_and(is_socket) {
        return Err(CliError::usage(
            "the proxy does not speak WebSocket",
            "`mock --transport ws` has the same faults; see `mcp-loadtest proxy --explain`",
        ));
    }
    Ok(match (&args.upstream, args.transport) {
        (None, _) => TransportName::Stdio,
        (Some(_), ProxyTransport::Sse) => TransportName::Sse,
        (Some(_), ProxyTransport::Http | ProxyTransport::Ws) => TransportName::Http,
    })
}

/// Starts the server and speaks for it over our standard streams.
fn stand_in(
    args: &ProxyArgs,
    env: &mut Env,
    mut proxy: Proxy,
    launch: &Launch,
) -> Result<Exit, CliError> {
    block_on(async {
        let interrupted = interrupt::signal();
        // Our stdout belongs to the protocol.
        let control = || proxy.controlled(TransportName::Stdio);
        let admin = args.admin.bind(control, env, Env::err).await?;
        tokio::select! {
            ended = proxy.serve_stdio(launch) => {
                let ended = ended.map_err(|error| unable(&error))?;
                if let ProxyEnd::Server(info) = &ended && info.crowd.is_some() {
                    env.err(&format!("the server ended with {info}\n"));
                }
                Ok(exit(ended))
            }
            error = admin.serve() => Err(error),
            () = interrupted => Ok(Exit::Pass),
        }
    })?
}

/// Listens for clients of a server that runs.
fn listen(
    args: &ProxyArgs,
    env: &mut Env,
    mut proxy: Proxy,
    url: &str,
    transport: TransportName,
) -> Result<Exit, CliError> {
    let trust = match &args.ca_cert {
        None => Trust::default(),
        Some(file) => Trust::with_ca_cert(&env.path(file)).map_err(|error| {
            CliError::usage(error.to_string(), error.hint().unwrap_or_default())
        })?,
    };
    let upstream = Address { trust, ..Address::new(url) };
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    block_on(async {
        let interrupted = interrupt::signal();
        let admin = args.admin.bind(|| proxy.controlled(transport), env, Env::out).await?;
        let address = args.listen.unwrap_or(any_port);
        let bound = proxy.bind(address, &upstream, transport).await;
        let bound = bound.map_err(|error| match error {
            ProxyError::System(source) => CliError::Listen { address, source },
            error => unable(&error),
        })?;
        env.out(&format!("{}\n", serde_json::json!({ "url": bound.url() })));
        tokio::select! {
            code = bound.serve() => Ok(Exit::As(code as u8)),
            error = admin.serve() => Err(error),
            () = interrupted => Ok(Exit::Pass),
        }
    })?
}

fn launch(args: &ProxyArgs, env: &Env) -> Launch {
    let (command, rest) = args.command.split_first().map_or(("", &[][..]), |(c, r)| (c, r));
    let mut launch = Launch {
        args: rest.to_vec(),
        // What the client gave us in its configuration was meant for the server.
        inherit_env: InheritEnv::All,
        working_dir: Some(env.cwd.clone()),
        tee_stderr: TeeStderr::On,
        ..Launch::new(command)
    };
    launch.keep_secrets();
    launch
}

fn open_audit(args: &ProxyArgs, env: &Env) -> Result<Audit, CliError> {
    let Some(spec) = &args.audit else { return Ok(Audit::none()) };
    let redaction = Redaction::default().secrets(env.secrets());
    Audit::open(&spec.clone().in_dir(&env.cwd), redaction)
        .map_err(|error| CliError::usage(error.to_string(), "name another store with `--audit`"))
}

fn exit(end: ProxyEnd) -> Exit {
    match end {
        ProxyEnd::Client | ProxyEnd::Cut => Exit::Pass,
        // The code as a shell would see it: its lowest eight bits.
        ProxyEnd::Crash(code) => Exit::As(code as u8),
        ProxyEnd::Server(info) => match (info.code, info.signal) {
            (Some(code), _) => Exit::As(code as u8),
            (None, Some(signal)) => Exit::As(128_u8.saturating_add(signal as u8)),
            (None, None) => Exit::Fail,
        },
    }
}

fn unable(error: &ProxyError) -> CliError {
    let hint = error.hint().unwrap_or_else(|| "see `mcp-loadtest proxy --explain`".into());
    CliError::usage(error.to_string(), hint)
}
