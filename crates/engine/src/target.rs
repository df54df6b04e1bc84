//! From the description of a server to what the wire can open.

use mcp_loadtest_core::server::{ProtocolChoice, Server, Transport};
use mcp_loadtest_wire::{
    process::Launch,
    session::{OpenError, ProtocolStrictness, Target},
};

/// Whether the server's stderr is shown on ours.
pub(crate) use mcp_loadtest_wire::process::TeeStderr;

pub(crate) fn target(server: &Server, tee: TeeStderr) -> Result<Target, OpenError> {
    match &server.transport {
        Transport::Stdio => Ok(Target::Stdio(launch(server, tee))),
        Transport::Http { url, headers } => Ok(Target::Http {
            url: url.clone(),
            headers: headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        }),
        Transport::Sse { url, .. } | Transport::WebSocket { url } => Err(OpenError::Url {
            url: url.clone(),
            why: format!("transport `{}` is not built yet", server.transport.name()),
        }),
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
    launch
}
