//! `mock`: a small MCP server, healthy or broken on purpose.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use mcp_loadtest_core::exit::Exit;
use mcp_loadtest_mock::{Fault, Mock};

use super::{block_on, explain};
use crate::{env::Env, error::CliError};

/// How the mock is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MockTransport {
    /// Our own stdin and stdout.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// Arguments of `mock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest mock
  mcp-loadtest mock --transport http --listen 127.0.0.1:0
  mcp-loadtest deadlock-probe -s \"mcp-loadtest mock --fault lazy-init-deadlock\"")]
pub(crate) struct MockArgs {
    /// How it is reached.
    #[arg(long, value_enum, default_value = "stdio")]
    transport: MockTransport,
    /// Where it listens over HTTP [default: 127.0.0.1:0]; the address that was really taken is
    /// printed.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// What is wrong with it: none or lazy-init-deadlock.
    #[arg(long, value_name = "FAULT", default_value = "none", value_parser = parse_fault)]
    fault: Fault,
    /// Print what it does and exit.
    #[arg(long)]
    explain: bool,
}

fn parse_fault(text: &str) -> Result<Fault, String> {
    use mcp_loadtest_core::hint::Hint as _;
    text.parse::<Fault>().map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

const EXPLANATION: &str = "\
An MCP server with one tool, `echo`, which gives its arguments back. It speaks every revision from
2024-11-05 to 2026-07-28, over stdio or Streamable HTTP.
  --fault none                 healthy
  --fault lazy-init-deadlock   `initialize` and `tools/list` work; the first `tools/call` wedges the
                               whole server, as a lazy import in an event loop does";

/// Runs `mock`.
pub(crate) fn run(args: &MockArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    let mock = Mock::new().fault(args.fault);
    match args.transport {
        MockTransport::Stdio if args.listen.is_some() => {
            return Err(CliError::usage(
                "--listen belongs to --transport http",
                "add `--transport http`, or leave --listen out",
            ));
        }
        MockTransport::Stdio => block_on(mock.serve_stdio())??,
        MockTransport::Http => block_on(async {
            let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
            let bound = mock.bind(args.listen.unwrap_or(any_port)).await?;
            env.out(&format!("{}\n", serde_json::json!({ "url": bound.url() })));
            bound.serve().await
        })??,
    }
    Ok(Exit::Pass)
}
