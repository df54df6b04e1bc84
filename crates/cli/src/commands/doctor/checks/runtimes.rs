//! The interpreters that MCP servers are written for: are they there, do they run, are they new enough?

use std::path::Path;

use mcp_loadtest_core::{
    display::visible,
    doctor::{Health, Seen},
    hint::Hint as _,
};
use mcp_loadtest_wire::process::find_program;

use super::{
    super::{Check, Found, scene::Scene},
    ask::said_by,
};
use crate::error::CliError;

/// A program that servers are started with.
struct Runtime {
    /// Its names, the usual one first.
    programs: &'static [&'static str],
    /// The oldest version that the official SDK runs on.
    oldest: Option<(u32, u32)>,
    /// What it is good for; an absent one is only told where most people need it.
    wanted_for: Option<&'static str>,
}

const RUNTIMES: &[Runtime] = &[
    Runtime {
        programs: &["python3", "python"],
        oldest: Some((3, 10)),
        wanted_for: Some("servers in Python"),
    },
    Runtime {
        programs: &["node"],
        oldest: Some((18, 0)),
        wanted_for: Some("servers in JavaScript"),
    },
    Runtime { programs: &["npx"], oldest: None, wanted_for: None },
    Runtime { programs: &["uvx"], oldest: None, wanted_for: None },
    Runtime { programs: &["docker"], oldest: None, wanted_for: None },
];

pub(super) const ENTRY: Check = Check {
    id: "runtimes",
    about: "python, node, npx, uvx and docker in PATH, and their versions",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let seen = RUNTIMES.iter().map(|runtime| look(runtime, scene));
    let seen: Result<Vec<Option<Seen>>, CliError> = seen.collect();
    Ok(seen?.into_iter().flatten().map(Found::from).collect())
}

fn look(runtime: &Runtime, scene: &Scene<'_>) -> Result<Option<Seen>, CliError> {
    let environment = |name: &str| scene.os_var(name);
    let places = runtime.programs.iter().map(|name| find_program(name, &environment, &scene.cwd));
    let mut missing = None;
    for place in places {
        match place {
            Ok(path) => return Ok(Some(seen(runtime, &path, &said_by(&path, "--version")?))),
            Err(error) => missing = missing.or(error.hint()),
        }
    }
    let name = runtime.programs[0];
    Ok(runtime.wanted_for.map(|what| {
        Seen::new(Health::Warning, format!("no `{name}` in PATH: {what} cannot be started by name"))
            .fix(missing.unwrap_or_default())
    }))
}

fn seen(runtime: &Runtime, path: &Path, version: &Result<String, String>) -> Seen {
    let (name, place) = (runtime.programs[0], path.display());
    let said = match version {
        Ok(said) => visible(said.lines().next().unwrap_or_default().trim(), 80),
        Err(why) => {
            return Seen::new(Health::Failed, format!("{place} is there but does not run: {why}"))
                .fix(format!("run `{place} --version` by hand; install `{name}` anew"));
        }
    };
    match (runtime.oldest, numbers(&said)) {
        (Some(_), None) => Seen::new(Health::CouldNotTell, format!("{place} says `{said}`")),
        (Some(oldest), Some(found)) if found < oldest => {
            let (major, minor) = oldest;
            Seen::new(Health::Warning, format!("{said} ({place}) is too old for the official SDK"))
                .fix(format!("install {name} {major}.{minor} or newer"))
        }
        _ => Seen::new(Health::Ok, format!("{name}: {said} ({place})")),
    }
}

/// The first two numbers with a dot between them.
fn numbers(said: &str) -> Option<(u32, u32)> {
    let mut words = said.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.find_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::env::Lookup;

    /// What is seen where PATH has these programs.
    fn seen_with(programs: &[(&str, &str)]) -> Vec<Seen> {
        let dir = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            let path = dir.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = dir.path().display().to_string();
        let var: Lookup = Box::new(move |name| (name == "PATH").then(|| path.clone()));
        let scene = Scene::healthy(dir.path(), &var);
        run(&scene).unwrap().into_iter().map(|found| found.seen).collect()
    }

    #[test]
    fn what_is_absent_old_or_broken_is_told_with_what_to_do() {
        let seen = seen_with(&[]);
        assert_eq!(seen.len(), 2, "only what most people need is missed");
        assert!(seen.iter().all(|seen| seen.health == Health::Warning && seen.fix.is_some()));
        let seen = seen_with(&[("python3", "echo Python 3.8.10"), ("node", "exit 3")]);
        assert!(seen[0].what.contains("too old"), "{seen:?}");
        assert_eq!(seen[1].health, Health::Failed, "{seen:?}");
        let seen = seen_with(&[("python3", "echo Python 3.12.1"), ("node", "echo hello")]);
        assert_eq!(seen[1].health, Health::CouldNotTell, "{seen:?}");
    }

    #[test]
    fn what_is_there_and_runs_is_good() {
        let programs =
            [("python", "echo Python 3.12.1"), ("node", "echo v22.3.0"), ("uvx", "echo uvx 0.9")];
        let seen = seen_with(&programs);
        assert!(seen.iter().all(|seen| seen.health == Health::Ok), "{seen:?}");
        assert_eq!(seen.len(), 3);
        assert!(seen[1].what.starts_with("node: v22.3.0 ("), "{seen:?}");
    }
}
