//! Servers, faults and models.

use std::{collections::BTreeSet, path::Path};

use super::{Checked, list, unknown, within};
use crate::{
    config::{ConfigError, KeyPath, TransportName, check as config_check},
    fault::{Fault, FaultError, FaultPlan},
    hint::Hint as _,
    suite::{
        file::Suite,
        model::Model,
        script::{Step, unknown_names},
        server::{ServerEntry, Way},
    },
};

/// Kinds of faults that can be injected into an agent's calls: all whose effect on the agent is
/// known without a wire. The others need a real server: `mock --fault` or `proxy`.
const INJECTABLE: &[&str] = &[
    "hang",
    "wedged",
    "slow",
    "recover-after",
    "error",
    "tool-error",
    "flaky",
    "malformed",
    "truncate",
    "wrong-id",
    "disconnect",
    "reset",
    "crash",
    "http",
    "session-lost",
    "auth-expired",
];

pub(super) fn server(entry: &ServerEntry, vars: &dyn Fn(&str) -> Option<String>) -> Checked {
    if let Some(server) = entry.to_server(Path::new(""), vars)? {
        return config_check::server(&server).map_err(|error| ConfigError {
            key: KeyPath::from(if entry.url.is_some() { "url" } else { "command" }),
            ..error
        });
    }
    let Way::Mock(mock) = entry.way()? else { return Ok(()) };
    if mock.tools_from.is_some() && mock.offer().is_some() {
        let why = "stands beside what it would bring: use one of them";
        return Err(ConfigError::new("mock.tools_from", why));
    }
    for (at, written) in mock.fault.iter().enumerate() {
        let key = format!("mock.fault[{at}]");
        let fault: Fault = written.parse().map_err(|error: FaultError| {
            let hint = error.hint();
            let told = ConfigError::new(key.clone(), error.to_string());
            ConfigError { hint, ..told }
        })?;
        let impossible = fault.check(TransportName::Http, None);
        impossible.map_err(|error| ConfigError::new(key, error.to_string()))?;
    }
    Ok(())
}

pub(super) fn faults(suite: &Suite) -> Checked {
    let mut names = BTreeSet::new();
    for (at, fault) in suite.faults.iter().enumerate() {
        let key = |name: &str| list("faults", at).key(name);
        let Some(name) = fault.name() else {
            return Err(ConfigError::new(key("name"), "it is missing"));
        };
        if !names.insert(name) {
            return Err(ConfigError::new(key("name"), format!("two faults are called `{name}`")));
        }
        let target = fault.selector();
        if target.tool.is_none() && target.server.is_none() {
            let error = ConfigError::new(key("target"), "`tool` or `server` is needed, or both");
            return Err(error.with_hint("write for example `target: {tool: search}`"));
        }
        if let Some(server) = &target.server
            && !suite.servers.0.contains_key(server)
        {
            let known = suite.servers.0.keys().map(String::as_str);
            return Err(unknown(key("target").key("server"), "server", server, known));
        }
        let kind = fault.kind().name;
        let does_nothing = FaultPlan::new([fault.clone()], Default::default()).is_empty();
        if does_nothing || !INJECTABLE.contains(&kind) {
            let why = format!("`{}` cannot be injected", fault.kind().snake_name());
            let words: Vec<_> = INJECTABLE.iter().map(|word| word.replace('-', "_")).collect();
            let hint = format!("use one of {}", words.join(", "));
            return Err(ConfigError::new(key("kind"), why).with_hint(hint));
        }
    }
    Ok(())
}

pub(super) fn models(suite: &Suite) -> Checked {
    let mut names = BTreeSet::new();
    for (at, model) in suite.models.iter().enumerate() {
        let key = list("models", at);
        if !names.insert(&model.name) {
            let why = format!("two models are called `{}`", model.name);
            return Err(ConfigError::new(key.key("name"), why));
        }
        self::model(model).map_err(|error| within(&key, error))?;
    }
    Ok(())
}

fn model(model: &Model) -> Checked {
    model.source()?;
    for (at, step) in model.script.0.iter().enumerate() {
        let Step::Answer(text) = step else { continue };
        if let Some(name) = unknown_names(text).first() {
            let key = KeyPath::from("script").index(at).key("answer");
            let error = ConfigError::new(key, format!("there is no `{{{{{name}}}}}`"));
            return Err(error.with_hint("use result, results.TOOL, error or prompt"));
        }
    }
    Ok(())
}
