//! `serve --mcp`: our own tests as tools of an MCP server, for agents.
//!
//! | file       | what it holds                                                              |
//! |------------|----------------------------------------------------------------------------|
//! | `allow`    | what a client may ask for: pure decisions                                  |
//! | `servers`  | the servers that the operator allowed by name, read once                   |
//! | `pin`      | what the host of a URL stands for, looked up once and judged               |
//! | `desk`     | one run at a time, none too long, none that nobody waits for               |
//! | `client`   | who asked: progress, cancellation; `presence` for sessions over HTTP       |
//! | `describe` | a tool as clients see it, with what is allowed in its schema               |
//! | `handler`  | the MCP server; `stdio` and `http` are the ways to it                      |
//! | `tools`    | the tools, one file each                                                   |

mod allow;
mod client;
mod describe;
mod desk;
mod handler;
mod http;
mod pin;
mod presence;
mod servers;
mod stdio;
mod tools;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use mcp_loadtest::History;
use mcp_loadtest_core::{exit::Exit, units::format_duration};

use self::{
    allow::{AllowedHost, Caps, Policy},
    desk::Desk,
    handler::Handler,
    tools::{Office, TOOLS},
};
use super::explain;
use crate::{env::Env, error::CliError, listen::parse_listen, server_args::parse_some_time};

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest serve --mcp --allow-server my-server
  mcp-loadtest serve --mcp --mcp-config .mcp.json
  mcp-loadtest serve --mcp --allow-host 127.0.0.1:3000 --max-duration 5m
  mcp-loadtest serve --mcp --allow-command
  mcp-loadtest serve --mcp --mcp-config .mcp.json --listen 127.0.0.1:0

In .mcp.json, beside the server that is to be tested:
  \"loadtest\": {
    \"command\": \"mcp-loadtest\",
    \"args\": [\"serve\", \"--mcp\", \"--allow-server\", \"my-server\"]
  }

Ends with 0 when the client closes its stdin, or at Ctrl-C or SIGTERM.")]
pub(crate) struct ServeArgs {
    /// Speak MCP: the tests are tools of an MCP server.
    #[arg(long, required_unless_present = "explain")]
    mcp: bool,
    /// Allow tests of this server, by its name in the configuration file of an MCP client. Repeatable.
    #[arg(long, value_name = "NAME")]
    allow_server: Vec<String>,
    /// The client's configuration file; without --allow-server, all servers of it are allowed. Without
    /// this, the usual places are searched.
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// A value for an ${input:ID} of that file. Repeatable.
    #[arg(long = "input", value_name = "ID=VALUE")]
    inputs: Vec<String>,
    /// Allow URLs to this host. A name must lead to the public internet, unless its address is given
    /// too. Repeatable.
    #[arg(long, value_name = "HOST[:PORT][=ADDRESS]")]
    allow_host: Vec<AllowedHost>,
    /// Allow clients to start any command with your rights. Only on stdio.
    #[arg(long, conflicts_with = "listen")]
    allow_command: bool,
    /// Allow calls of tools that may change or run something.
    #[arg(long)]
    allow_destructive: bool,
    /// The most calls at once.
    #[arg(long, value_name = "N", default_value_t = Caps::default().concurrent, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_concurrent: u32,
    /// The longest load or probe.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_some_time)]
    max_duration: Duration,
    /// Where runs make their directories; clients read runs of no other place.
    #[arg(short, long, value_name = "DIR", default_value = "./runs")]
    output_dir: PathBuf,
    /// Listen here for Streamable HTTP instead of stdio; an address of this machine. The URL is
    /// printed before anything is served.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Print what it offers and what it refuses, and exit.
    #[arg(long)]
    explain: bool,
}

const EXPLANATION: &str = "\
An MCP server whose tools are the tests of this program, for agents that write MCP servers.

What a client may do:
  - test servers that --allow-server names, or all of --mcp-config. They are read once, at the start:
    whoever changes the file later changes nothing. A server cannot be named that is not there.
  - test a URL whose host --allow-host names. The name is looked up once; an address of this machine or
    of a network of your own is refused unless you named the address itself, and the run connects to
    what was looked up. Redirects are not followed.
  - with --allow-command, start any command. That is what the word says: whoever talks to this server
    can run programs with your rights. Without it there is no such argument.
  - call tools that only read. --allow-destructive allows all others.
  - read runs below --output-dir, links followed.
One run at a time; more are refused, not queued. A run ends when its call is cancelled, when the client
goes, and at last a minute after --max-duration; its processes end with it.
Over HTTP, only addresses of this machine are listened on, and Host and Origin must be ours; whoever
has an account on this machine can reach it there.

What a server under test says is data. It stands in the member `untrusted` of a result and in no
sentence of ours.

Tools:
";

fn explanation() -> String {
    let mut text = EXPLANATION.to_owned();
    for tool in TOOLS {
        text.push_str(&format!("  {:<17} {}\n", tool.name, tool.title));
    }
    text
}

/// Runs `serve`.
pub(crate) fn run(args: &ServeArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &explanation()));
    }
    if let Some(address) = args.listen {
        http::check(address)?;
    }
    if !args.inputs.is_empty() && args.allow_server.is_empty() && args.mcp_config.is_none() {
        return Err(CliError::usage(
            "--input is for servers of a client's file, and none is allowed",
            "name one with --allow-server, or the file with --mcp-config",
        ));
    }
    let policy = policy(args, env)?;
    tell(&policy, env);
    if args.listen.is_none() && env.has_audience() {
        env.err("speaking MCP on stdin and stdout, as a client expects it; Ctrl-C ends it\n");
    }
    let runs = History::of(env.path(&args.output_dir));
    let office =
        Arc::new(Office { policy, runs, desk: Desk::new(), secrets: env.secrets().clone() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let handler = Handler::new(office.clone());
        let served = match args.listen {
            Some(address) => http::serve(handler, address, env).await,
            None => stdio::serve(handler).await,
        };
        office.desk.close().await;
        served
    });
    // A read of a terminal would go on until somebody presses a key.
    runtime.shutdown_background();
    served.map(|()| Exit::Pass)
}

fn policy(args: &ServeArgs, env: &mut Env) -> Result<Policy, CliError> {
    let policy = Policy {
        servers: servers::allowed(args, env)?,
        hosts: args.allow_host.clone(),
        commands: args.allow_command,
        destructive: args.allow_destructive,
        caps: Caps { concurrent: args.max_concurrent, duration: args.max_duration },
    };
    if policy.servers.is_empty() && policy.hosts.is_empty() && !policy.commands {
        return Err(CliError::usage(
            "nothing may be tested",
            "name a server with --allow-server NAME, a file of them with --mcp-config FILE, or a host \
             with --allow-host HOST",
        ));
    }
    Ok(policy)
}

/// Says to the operator what was allowed; stdout may belong to the protocol.
fn tell(policy: &Policy, env: &mut Env) {
    env.err(&format!(
        "{}; one run at a time, at most {} calls at once and {}\n",
        policy.allowed(),
        policy.caps.concurrent,
        format_duration(policy.caps.duration)
    ));
    if policy.commands {
        env.err("warning: --allow-command: clients can run any program with your rights\n");
    }
}
