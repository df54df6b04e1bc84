//! The files in which MCP clients keep their servers: can they be read, and could each server start?

use std::{collections::BTreeMap, ffi::OsString, fs, io, path::Path};

use mcp_loadtest_core::{
    clients::{self, ClientConfigError, NamedServer, Surroundings, Warning},
    doctor::{Health, Seen},
    hint::Hint as _,
    server::Server,
};
use mcp_loadtest_wire::process::find_program;
use serde_json::Value;

use super::super::{Check, Found, scene::Scene};
use crate::error::CliError;

pub(super) const ENTRY: Check = Check {
    id: "clients",
    about: "the files of MCP clients: read, variables filled in, commands looked up in PATH",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let mut seen: Vec<_> = scene.client_files.iter().flat_map(|path| file(path, scene)).collect();
    if scene.server.is_some() {
        // Whoever names a server asks about that one; the check `server` tells of it.
        seen.iter_mut().for_each(|seen| seen.health = seen.health.min(Health::Warning));
    }
    if seen.is_empty() {
        let what = "no MCP client has a file in the usual places, so `--name` finds nothing";
        return Ok(vec![Seen::new(Health::Ok, what).into()]);
    }
    Ok(seen.into_iter().map(Found::from).collect())
}

/// Nothing for a file that is not there.
fn file(path: &Path, scene: &Scene<'_>) -> Vec<Seen> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if absent(&error) => return Vec::new(),
        Err(error) => {
            let seen = Seen::new(Health::Failed, format!("{shown} cannot be read: {error}"));
            return vec![seen.fix("check the rights of the file, and that it is text")];
        }
    };
    let servers = match clients::parse(path, &text) {
        Ok(servers) => servers,
        Err(error) => {
            let seen = Seen::new(Health::Failed, error.to_string());
            return vec![
                seen.fix(error.hint().unwrap_or_else(|| "correct the file at that place".into())),
            ];
        }
    };
    // What a file keeps for other projects cannot be started from here.
    let here = |server: &&NamedServer| {
        server.project.as_ref().is_none_or(|project| Path::new(project) == scene.cwd)
    };
    let servers: Vec<_> = servers.iter().filter(here).collect();
    let mut seen = vec![Seen::new(Health::Ok, format!("{shown}: {}", counted(servers.len())))];
    seen.extend(servers.into_iter().flat_map(|server| obstacles(server, scene)));
    seen
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn counted(servers: usize) -> String {
    if servers == 1 { "1 server".into() } else { format!("{servers} servers") }
}

/// What would keep a server from being started by its name.
fn obstacles(named: &NamedServer, scene: &Scene<'_>) -> Vec<Seen> {
    let surroundings = Surroundings {
        vars: &**scene.var,
        inputs: &BTreeMap::new(),
        workspace: Some(&scene.cwd),
        home: scene.home.as_deref(),
        read: &|path| fs::read_to_string(path).map_err(|error| error.to_string()),
    };
    let resolved = match clients::resolve(named, &surroundings) {
        Ok(resolved) => resolved,
        // Whatever it is about, the command that stands there can be looked up all the same.
        Err(error) => {
            let command = named.entry.get("command").and_then(Value::as_str);
            let command = command.filter(|command| !command.contains('$'));
            let server = command.map(|command| Server::stdio(command).build());
            let missing = server.and_then(|server| not_startable(named, &server, scene));
            return [told(&error)].into_iter().chain(missing).collect();
        }
    };
    let is_disabled = |warning: &Warning| matches!(warning, Warning::Disabled { .. });
    match resolved.warnings.iter().any(is_disabled) {
        true => Vec::new(),
        false => not_startable(named, &resolved.server, scene).into_iter().collect(),
    }
}

fn told(error: &ClientConfigError) -> Seen {
    let health = match error {
        // The client may know what we do not: its own variables, and what it asks its user.
        ClientConfigError::Variable { .. } | ClientConfigError::Input { .. } => Health::Warning,
        ClientConfigError::NotBuilt { .. } => Health::CouldNotTell,
        _ => Health::Failed,
    };
    let seen = Seen::new(health, error.to_string());
    match error.hint() {
        Some(hint) => seen.fix(hint),
        None => seen,
    }
}

fn not_startable(named: &NamedServer, server: &Server, scene: &Scene<'_>) -> Option<Seen> {
    if !server.is_started() {
        return None;
    }
    let environment = |name: &str| match server.env.get(name) {
        Some(value) => Some(OsString::from(value)),
        None => scene.os_var(name),
    };
    let base = server.working_dir.as_deref().unwrap_or(&scene.cwd);
    let error = find_program(&server.command, &environment, base).err()?;
    let seen = Seen::new(Health::Failed, format!("{}: {error}", named.origin()));
    Some(seen.fix(error.hint().unwrap_or_default()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::env::Lookup;

    fn seen_with(text: &str) -> Vec<Seen> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".mcp.json");
        fs::write(&path, text).unwrap();
        let var: Lookup = Box::new(|name| (name == "PATH").then(|| "/bin:/usr/bin".into()));
        let mut scene = Scene::healthy(dir.path(), &var);
        scene.client_files = vec![dir.path().join(".cursor/mcp.json"), path];
        run(&scene).unwrap().into_iter().map(|found| found.seen).collect()
    }

    fn healths(seen: &[Seen]) -> Vec<Health> {
        seen.iter().map(|seen| seen.health).collect()
    }

    #[test]
    fn a_file_that_is_broken_or_starts_nothing_is_told() {
        assert_eq!(healths(&seen_with("{ no")), [Health::Failed]);
        let servers = r#"{"mcpServers": {
            "a": {"command": "no-such-program-anywhere"},
            "b": {"command": "sh", "env": {"KEY": "${NO_SUCH_VARIABLE}"}},
            "c": {"args": ["x"]},
            "d": {"command": "./missing.sh", "env": {"KEY": "${NO_SUCH_VARIABLE}"}}}}"#;
        let seen = seen_with(servers);
        let (ok, failed, warning) = (Health::Ok, Health::Failed, Health::Warning);
        assert_eq!(healths(&seen), [ok, failed, warning, failed, warning, failed], "{seen:#?}");
        assert!(seen[1].what.contains("no-such-program-anywhere"), "{seen:#?}");
        assert!(seen[2].fix.as_ref().unwrap().contains("NO_SUCH_VARIABLE"), "{seen:#?}");
    }

    #[test]
    fn where_a_server_is_named_others_are_only_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".mcp.json");
        fs::write(&path, r#"{"mcpServers": {"a": {"command": "no-such-program-anywhere"}}}"#)
            .unwrap();
        let var: Lookup = Box::new(|name| (name == "PATH").then(|| "/bin:/usr/bin".into()));
        let mut scene = Scene::healthy(dir.path(), &var);
        scene.client_files = vec![path];
        let worst = |scene: &Scene<'_>| {
            run(scene).unwrap().into_iter().map(|found| found.seen.health).max().unwrap()
        };
        assert_eq!(worst(&scene), Health::Failed);
        scene.server = Some(Server::stdio("sh").build());
        assert_eq!(worst(&scene), Health::Warning);
    }

    #[test]
    fn files_that_are_good_and_files_that_are_not_there_are_silent() {
        let servers = r#"{"mcpServers": {"a": {"command": "sh", "args": ["-c", "x"]},
            "b": {"type": "http", "url": "http://127.0.0.1:1/mcp"}}}"#;
        let seen = seen_with(servers);
        assert_eq!(healths(&seen), [Health::Ok], "{seen:#?}");
        assert!(seen[0].what.ends_with("2 servers"), "{seen:#?}");
        let var: Lookup = Box::new(|_| None);
        let found = run(&Scene::healthy("/".as_ref(), &var)).unwrap();
        assert_eq!(found[0].seen.health, Health::Ok);
    }
}
