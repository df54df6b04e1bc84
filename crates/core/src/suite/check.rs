//! What is told before anything is started: names that lead nowhere, settings that contradict each
//! other, tests that would test nothing.

use std::collections::BTreeSet;

use super::{
    agent::AgentTest,
    expect::Expect,
    file::Suite,
    model::{Model, provider_of},
    script::{Persona, Step, unknown_names},
    server::{ServerEntry, Way},
};
use crate::{
    config::{ConfigError, KeyPath, check as config_check},
    fault::{Fault, FaultPlan},
    hint::nearest,
};

type Checked = Result<(), ConfigError>;

/// The checks that `negative_path` may name.
pub const NEGATIVE_CHECKS: &[&str] = &[
    "unknown_tool",
    "missing_required",
    "wrong_type",
    "extra_field",
    "oversized",
    "enum_miss",
    "out_of_bounds",
];

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

/// Where expectations of a tool, a resource or a prompt may look.
const REPLY_ROOTS: &[&str] = &["result", "error", "duration_ms", "negative_path", "fuzz"];
/// Where expectations of an agent may look.
const AGENT_ROOTS: &[&str] = &[
    "tool_calls",
    "tool_results",
    "final_response",
    "conversation",
    "orchestration",
    "recovery",
    "duration_ms",
];

/// Judges a suite as a whole.
pub(super) fn check(suite: &Suite) -> Checked {
    for (name, entry) in &suite.servers.0 {
        let key = KeyPath::from("servers").key(name);
        server(entry).map_err(|error| within(&key, error))?;
    }
    faults(suite)?;
    models(suite)?;
    requests(suite)?;
    for (at, agent) in suite.agents.iter().enumerate() {
        self::agent(suite, agent).map_err(|error| within(&list("agents", at), error))?;
    }
    for (at, load) in suite.loads.iter().enumerate() {
        let key = list("loads", at);
        of_server(suite, load.server.as_deref()).map_err(|error| within(&key, error))?;
        let scenario = load.scenario.to_scenario(&load.thresholds);
        let judged = scenario.and_then(|scenario| config_check::scenario(&scenario));
        let judged = judged.and_then(|()| config_check::thresholds(&load.thresholds));
        judged.map_err(|error| within(&key, error))?;
        if load.scenario.name.is_none() {
            return Err(ConfigError::new(key.key("scenario").key("type"), "it is missing"));
        }
    }
    names(suite)
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

fn server(entry: &ServerEntry) -> Checked {
    let Way::Mock(mock) = entry.way()? else { return Ok(()) };
    if mock.tools_from.is_some() && mock.offer().is_some() {
        let why = "stands beside what it would bring: use one of them";
        return Err(ConfigError::new("mock.tools_from", why));
    }
    for (at, written) in mock.fault.iter().enumerate() {
        let key = format!("mock.fault[{at}]");
        let fault: Fault = written.parse().map_err(|error: crate::fault::FaultError| {
            let hint = crate::hint::Hint::hint(&error);
            let told = ConfigError::new(key.clone(), error.to_string());
            ConfigError { hint, ..told }
        })?;
        let impossible = fault.check(crate::config::TransportName::Http, None);
        impossible.map_err(|error| ConfigError::new(key, error.to_string()))?;
    }
    Ok(())
}

fn faults(suite: &Suite) -> Checked {
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

fn models(suite: &Suite) -> Checked {
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

/// Tools, resources and prompts.
fn requests(suite: &Suite) -> Checked {
    for (at, test) in suite.tools.iter().enumerate() {
        let key = list("tools", at);
        let judge = || -> Checked {
            of_server(suite, test.server.as_deref())?;
            usual(&test.expect, test.timeout_ms, test.skip.as_deref(), REPLY_ROOTS)?;
            if let Some(negative) = &test.negative_path {
                for (at, name) in negative.checks.iter().enumerate() {
                    if !NEGATIVE_CHECKS.contains(&name.as_str()) {
                        let key = KeyPath::from("negative_path").key("checks").index(at);
                        return Err(unknown(key, "check", name, NEGATIVE_CHECKS.iter().copied()));
                    }
                }
                let roots = &["negative_path"];
                expect(&negative.expect, roots)
                    .map_err(|error| within(&"negative_path.expect".into(), error))?;
            }
            if let Some(fuzz) = &test.fuzz {
                expect(&fuzz.expect, &["fuzz"])
                    .map_err(|error| within(&"fuzz.expect".into(), error))?;
                if fuzz.cases == Some(0) {
                    return Err(ConfigError::new("fuzz.cases", "it must be at least 1"));
                }
            }
            let unmade =
                [("negative_path", test.negative_path.is_none()), ("fuzz", test.fuzz.is_none())];
            for (root, is_missing) in unmade {
                if is_missing && test.expect.looks_at(root) {
                    let why = format!("looks at `{root}`, which this test does not have");
                    return Err(ConfigError::new("expect", why));
                }
            }
            Ok(())
        };
        judge().map_err(|error| within(&key, error))?;
    }
    let others = suite.resources.iter().enumerate().map(|(at, test)| {
        (list("resources", at), &test.server, &test.expect, test.timeout_ms, &test.skip)
    });
    let prompts = suite.prompts.iter().enumerate().map(|(at, test)| {
        (list("prompts", at), &test.server, &test.expect, test.timeout_ms, &test.skip)
    });
    for (key, server, expect, timeout, skip) in others.chain(prompts) {
        of_server(suite, server.as_deref())
            .and_then(|()| usual(expect, timeout, skip.as_deref(), &REPLY_ROOTS[..3]))
            .map_err(|error| within(&key, error))?;
    }
    Ok(())
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

fn agent(suite: &Suite, agent: &AgentTest) -> Checked {
    let wrong = |key: &str, why: &str| Err(ConfigError::new(key, why));
    skipped(agent.skip.as_deref())?;
    if agent.servers.is_empty() {
        return wrong("servers", "an agent needs at least one server");
    }
    for (at, name) in agent.servers.iter().enumerate() {
        of_server(suite, Some(name))
            .map_err(|error| ConfigError { key: KeyPath::from("servers").index(at), ..error })?;
    }
    for (at, name) in agent.inject.iter().enumerate() {
        let key = KeyPath::from("inject").index(at);
        let Some(fault) = suite.fault(name) else {
            return Err(unknown(key, "fault", name, suite.faults.iter().filter_map(Fault::name)));
        };
        if let Some(server) = &fault.selector().server
            && !agent.servers.contains(server)
        {
            let why = format!("is aimed at `{server}`, which this agent does not have");
            return Err(ConfigError::new(key, why));
        }
    }
    if agent.prompt.trim().is_empty() {
        return wrong("prompt", "the task is empty");
    }
    for (key, value) in [
        ("max_turns", agent.max_turns),
        ("max_tokens", agent.max_tokens),
        ("max_tool_calls", agent.max_tool_calls),
        ("runs", agent.runs),
    ] {
        if value == Some(0) {
            return wrong(key, "it must be at least 1");
        }
    }
    if let Some(model) = &agent.model {
        known_model(suite, model)?;
    }
    expect(&agent.expect, AGENT_ROOTS).map_err(|error| within(&"expect".into(), error))?;
    if agent.recovery().is_none() && agent.expect.looks_at("recovery") {
        return wrong("expect", "looks at `recovery`, which this agent does not have");
    }
    recovery(agent).map_err(|error| within(&"recovery".into(), error))
}

/// Whether something answers to this name.
pub(super) fn known_model(suite: &Suite, name: &str) -> Checked {
    let is_ours = suite.models.iter().any(|model| model.name == name);
    if is_ours || Persona::find(name).is_some() || provider_of(name).is_some() {
        return Ok(());
    }
    let personas: Vec<_> = Persona::names().collect();
    let ours = suite.models.iter().map(|model| model.name.as_str());
    let known = ours.chain(personas.iter().map(String::as_str));
    Err(unknown("model", "model", name, known))
}

fn recovery(agent: &AgentTest) -> Checked {
    let Some(recovery) = &agent.recovery else { return Ok(()) };
    let wrong = |key: &str, why: String| Err(ConfigError::new(key, why));
    if recovery.max_detection_ms == 0 {
        return wrong("max_detection_ms", "it must be at least 1".into());
    }
    if recovery.accept.is_empty() {
        return wrong("accept", "an empty list lets nothing pass".into());
    }
    let prompt = agent.prompt.to_lowercase();
    for value in &recovery.evidence.0 {
        if value.trim().is_empty() || prompt.contains(&value.to_lowercase()) {
            let why = format!("`{value}` proves nothing: the task already says it");
            return wrong("evidence", why);
        }
    }
    Ok(())
}

/// Names tell tests apart, in reports, snapshots and on the command line.
fn names(suite: &Suite) -> Checked {
    let tools = suite.tools.iter().map(|test| &test.name).enumerate();
    let tools = tools.map(|(at, name)| (list("tools", at), name));
    let resources = suite.resources.iter().map(|test| &test.name).enumerate();
    let resources = resources.map(|(at, name)| (list("resources", at), name));
    let prompts = suite.prompts.iter().map(|test| &test.name).enumerate();
    let prompts = prompts.map(|(at, name)| (list("prompts", at), name));
    let agents = suite.agents.iter().map(|test| &test.name).enumerate();
    let agents = agents.map(|(at, name)| (list("agents", at), name));
    let loads = suite.loads.iter().map(|test| &test.name).enumerate();
    let loads = loads.map(|(at, name)| (list("loads", at), name));
    let mut seen = BTreeSet::new();
    for (key, name) in tools.chain(resources).chain(prompts).chain(agents).chain(loads) {
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
