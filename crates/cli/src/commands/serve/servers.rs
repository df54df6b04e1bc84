//! The servers that the operator allowed by name, read once: what is in the file later does not count.

use std::{collections::BTreeMap, path::Path};

use mcp_loadtest_core::{clients, display::visible, server::Server};

use super::ServeArgs;
use crate::{
    env::Env,
    error::CliError,
    server_args::{named_servers, resolve_named},
};

/// The servers by name.
pub(super) fn allowed(
    args: &ServeArgs,
    env: &mut Env,
) -> Result<BTreeMap<String, Server>, CliError> {
    let mut servers = BTreeMap::new();
    if args.allow_server.is_empty() && args.mcp_config.is_none() {
        return Ok(servers);
    }
    let known = named_servers(args.mcp_config.as_deref(), env)?;
    for name in &args.allow_server {
        let entry = clients::find(&known, name, Some(&env.cwd))?;
        servers.insert(name.clone(), resolve_named(entry, &args.inputs, env)?);
    }
    if !args.allow_server.is_empty() {
        return Ok(servers);
    }
    // All of a file: one that cannot be used must not cost the others.
    for name in known.iter().map(|entry| &entry.name) {
        let entry = clients::find(&known, name, Some(&env.cwd))?;
        match resolve_named(entry, &args.inputs, env) {
            Ok(server) if is_ourselves(&server, &env.program) => {}
            Ok(server) => drop(servers.insert(name.clone(), server)),
            Err(error) => env.err(&format!(
                "warning: `{}` is left out: {}\n",
                visible(name, 80),
                visible(&error.to_string(), 300)
            )),
        }
    }
    Ok(servers)
}

/// Whether an entry is that by which a client starts us.
fn is_ourselves(server: &Server, program: &Path) -> bool {
    let stem = |path: &Path| path.file_stem().map(ToOwned::to_owned);
    stem(Path::new(&server.command)) == stem(program)
        && server.args.first().is_some_and(|word| word == "serve")
}
