//! From the description of a server to what the wire can open.

use std::{path::PathBuf, rc::Rc};

use mcp_loadtest_core::{
    secrets::{Given, Secrets},
    server::{ProtocolChoice, Server, Transport},
};
use mcp_loadtest_wire::{
    Trust,
    clock::Clock,
    process::{Host, Launch, inspect},
    session::{Address, OpenError, Options, Owner, ProtocolStrictness, Target},
    sink::Nowhere,
};

use crate::error::RunError;

/// Whether the server's stderr is shown on ours.
pub(crate) use mcp_loadtest_wire::process::TeeStderr;

/// Where a server's output is kept. Over pipes each session says so itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logs {
    pub(crate) stdout: Option<PathBuf>,
    pub(crate) stderr: Option<PathBuf>,
}

/// What the wire is to open. What is wrong with it in itself is told before anything is started.
pub(crate) fn target(server: &Server, tee: TeeStderr, logs: Logs) -> Result<Target, RunError> {
    Ok(match &server.transport {
        Transport::Stdio => Target::Stdio(launch(server, tee)),
        Transport::Http { .. } => Target::Http(address(server, tee, logs)?),
        Transport::Sse { .. } => Target::Sse(address(server, tee, logs)?),
        Transport::WebSocket { .. } => Target::WebSocket(address(server, tee, logs)?),
    })
}

fn address(server: &Server, tee: TeeStderr, logs: Logs) -> Result<Address, RunError> {
    let mut address = Address::new(server.transport.url().unwrap_or_default());
    let headers = server.transport.headers().into_iter().flatten();
    address.headers = headers.map(|(name, value)| (name.clone(), value.clone())).collect();
    address.pinned.clone_from(&server.addresses);
    if let Some(file) = &server.ca_cert {
        address.trust = Trust::with_ca_cert(file).map_err(OpenError::from)?;
    }
    address.owner = match server.pid {
        _ if server.is_started() => {
            let launch = Launch { stderr_log: logs.stderr, ..launch(server, tee) };
            let host = Host::new(launch, logs.stdout);
            Owner::Ours(host.map_err(RunError::thread)?)
        }
        Some(pid) if inspect(pid).is_none() => return Err(OpenError::NoProcess(pid).into()),
        Some(pid) => Owner::Other(pid),
        None => Owner::Unknown,
    };
    Ok(address)
}

/// How a session is held that no run records.
pub(crate) fn unrecorded(server: &Server, strict_protocol: bool) -> Options {
    Options {
        startup_timeout: server.startup_timeout,
        shutdown_timeout: server.shutdown_timeout,
        message_limit: usize::try_from(server.max_message.0).unwrap_or(usize::MAX),
        strictness: strictness(server, strict_protocol),
        ..Options::new(Rc::new(Nowhere), Clock::start())
    }
}

/// What to do about another revision: whoever names one wants to know.
pub(crate) fn strictness(server: &Server, strict: bool) -> ProtocolStrictness {
    match server.protocol {
        _ if strict => ProtocolStrictness::Fail,
        ProtocolChoice::Fixed(_) => ProtocolStrictness::Warn,
        ProtocolChoice::Auto => ProtocolStrictness::Adapt,
    }
}

fn launch(server: &Server, tee: TeeStderr) -> Launch {
    let mut launch = Launch::new(&server.command);
    launch.args.clone_from(&server.args);
    launch.env.clone_from(&server.env);
    launch.working_dir.clone_from(&server.working_dir);
    launch.inherit_env = server.inherit_env;
    launch.tee_stderr = tee;
    launch.secrets = Given::to(server).secrets();
    launch.keep_secrets();
    launch
}

/// What a server is given that nobody else may know.
pub fn secrets_of(server: &Server) -> Secrets {
    launch(server, TeeStderr::Off).secrets
}
