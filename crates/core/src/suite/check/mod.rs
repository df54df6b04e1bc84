//! What is told before anything is started: names that lead nowhere, settings that contradict each
//! other, tests that would test nothing.

mod agents;
mod parts;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{expect::Expect, file::Suite, load::LoadTest};
use crate::{
    config::{ConfigError, KeyPath, check as config_check},
    hint::nearest,
};

pub(super) use self::agents::known_model;
pub use self::requests::NEGATIVE_CHECKS;

type Checked = Result<(), ConfigError>;

/// Judges a suite as a whole.
pub(super) fn check(suite: &Suite, vars: &dyn Fn(&str) -> Option<String>) -> Checked {
    for (name, entry) in &suite.servers.0 {
        let key = KeyPath::from("servers").key(name);
        parts::server(entry, vars).map_err(|error| within(&key, error))?;
    }
    parts::faults(suite)?;
    parts::models(suite)?;
    requests::requests(suite)?;
    for (at, agent) in suite.agents.iter().enumerate() {
        agents::agent(suite, agent).map_err(|error| within(&list("agents", at), error))?;
    }
    for (at, test) in suite.loads.iter().enumerate() {
        load(suite, test).map_err(|error| within(&list("loads", at), error))?;
    }
    names(suite)
}

fn load(suite: &Suite, load: &LoadTest) -> Checked {
    of_server(suite, load.server.as_deref())?;
    skipped(load.skip.as_deref())?;
    if load.scenario.name.is_none() {
        return Err(ConfigError::new("scenario.type", "it is missing"));
    }
    let scenario = load.scenario.to_scenario(&load.thresholds)?;
    config_check::scenario(&scenario)?;
    config_check::thresholds(&load.thresholds)?;
    match load.scenario.unused().into_iter().next() {
        Some(unused) => Err(unused),
        None => Ok(()),
    }
}

fn list(name: &str, at: usize) -> KeyPath {
    KeyPath::from(name).index(at)
}

/// The same problem, seen from the top of the file.
fn within(key: &KeyPath, error: ConfigError) -> ConfigError {
    use crate::config::Step as At;
    let longer = |path: KeyPath, step: &At| match step {
        At::Key(name) => path.key(name),
        At::Index(index) => path.index(*index),
    };
    let key = error.key.steps().iter().fold(key.clone(), longer);
    ConfigError { key, ..error }
}

/// That a name leads nowhere, and which one would.
fn unknown<'a>(
    key: impl Into<KeyPath>,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> ConfigError {
    let known: Vec<_> = known.into_iter().collect();
    let error = ConfigError::new(key, format!("there is no {what} `{name}`"));
    match (nearest(name, known.iter().copied()), known.is_empty()) {
        (Some(near), _) => error.with_hint(format!("did you mean `{near}`?")),
        (None, false) => error.with_hint(format!("there are {}", known.join(", "))),
        (None, true) => error,
    }
}

fn usual(
    expected: &Expect,
    timeout_ms: Option<u64>,
    skip: Option<&str>,
    roots: &[&str],
) -> Checked {
    if timeout_ms == Some(0) {
        return Err(ConfigError::new("timeout_ms", "it must be at least 1"));
    }
    skipped(skip)?;
    expect(expected, roots).map_err(|error| within(&"expect".into(), error))
}

fn skipped(reason: Option<&str>) -> Checked {
    match reason {
        Some(reason) if reason.trim().is_empty() => {
            Err(ConfigError::new("skip", "says why: write the reason"))
        }
        _ => Ok(()),
    }
}

fn expect(expected: &Expect, roots: &[&str]) -> Checked {
    for (at, assertion) in expected.assertions.iter().enumerate() {
        let key = |name: &str| KeyPath::default().index(at).key(name);
        let root = assertion.target.root();
        if !roots.contains(&root) {
            return Err(unknown(key("target"), "target", root, roots.iter().copied()));
        }
        if let Some(why) = assertion.matcher.problem() {
            return Err(ConfigError::new(key("matcher"), why));
        }
    }
    Ok(())
}

/// The server that a test names, or the only one.
fn of_server(suite: &Suite, name: Option<&str>) -> Checked {
    let servers = &suite.servers.0;
    match name {
        Some(name) if servers.contains_key(name) => Ok(()),
        Some(name) => Err(unknown("server", "server", name, servers.keys().map(String::as_str))),
        None if servers.len() == 1 => Ok(()),
        None => Err(ConfigError::new("server", "it is missing").with_hint(match servers.len() {
            0 => "declare one under `servers`".to_owned(),
            _ => format!("name one of {}", servers.keys().cloned().collect::<Vec<_>>().join(", ")),
        })),
    }
}

/// Names tell tests apart, in reports, snapshots and on the command line.
fn names(suite: &Suite) -> Checked {
    fn listed<'a>(
        section: &'a str,
        names: impl Iterator<Item = &'a String> + 'a,
    ) -> impl Iterator<Item = (KeyPath, &'a String)> {
        names.enumerate().map(move |(at, name)| (list(section, at), name))
    }
    let all = listed("tools", suite.tools.iter().map(|test| &test.name))
        .chain(listed("resources", suite.resources.iter().map(|test| &test.name)))
        .chain(listed("prompts", suite.prompts.iter().map(|test| &test.name)))
        .chain(listed("agents", suite.agents.iter().map(|test| &test.name)))
        .chain(listed("loads", suite.loads.iter().map(|test| &test.name)));
    let mut seen = BTreeSet::new();
    for (key, name) in all {
        if name.trim().is_empty() {
            return Err(ConfigError::new(key.key("name"), "it is empty"));
        }
        if !seen.insert(name) {
            let why = format!("two tests are called `{name}`");
            return Err(ConfigError::new(key.key("name"), why));
        }
    }
    if seen.is_empty() {
        return Err(ConfigError::new(KeyPath::default(), "there is no test")
            .with_hint("write some under tools, resources, prompts, agents or loads"));
    }
    Ok(())
}
