//! The servers that the operator allowed by name, read once: what is in the file later does not count.

use std::{collections::BTreeMap, path::Path};

use mcp_loadtest_core::{
    clients::{self, NamedServer},
    display::visible,
    server::Server,
};
use serde_json::Value;

use super::ServeArgs;
use crate::{
    env::Env,
    error::CliError,
    server_args::{known_servers, resolve_named},
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
    let mut known = known_servers(args.mcp_config.as_deref(), env)?;
    for name in &args.allow_server {
        let entry = known.find(name, &env.cwd)?;
        servers.insert(name.clone(), resolve_named(entry, &args.inputs, env)?);
    }
    if !args.allow_server.is_empty() {
        return Ok(servers);
    }
    // All of a file: one that cannot be used must not cost the others.
    for name in known.servers.iter().map(|entry| &entry.name) {
        let entry = clients::find(&known.servers, name, Some(&env.cwd))?;
        if is_ourselves(entry, &env.program) {
            continue;
        }
        match resolve_named(entry, &args.inputs, env) {
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
fn is_ourselves(entry: &NamedServer, program: &Path) -> bool {
    let stem = |path: &Path| path.file_stem().map(ToOwned::to_owned);
    let command = entry.entry.get("command").and_then(Value::as_str).unwrap_or_default();
    let first = entry.entry.get("args").and_then(|args| args.get(0));
    stem(Path::new(command)) == stem(program) && first.is_some_and(|word| word == "serve")
}
