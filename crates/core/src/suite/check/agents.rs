//! Agents.

use super::{Checked, expect, of_server, skipped, unknown, within};
use crate::{
    config::{ConfigError, KeyPath, TransportName},
    fault::{Fault, Impossible},
    hint::Hint as _,
    suite::{
        agent::AgentTest,
        file::Suite,
        model::{Model, ModelSource, provider_of},
        script::Persona,
        server::{ServerEntry, Way},
    },
};

/// Where expectations of an agent may look.
const AGENT_ROOTS: &[&str] = &[
    "live",
    "tool_calls",
    "tool_results",
    "final_response",
    "conversation",
    "orchestration",
    "recovery",
    "duration_ms",
];

pub(super) fn agent(suite: &Suite, agent: &AgentTest) -> Checked {
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
        if let (Some(tool), Some(known)) =
            (&fault.selector().tool, tools(suite, agent, fault.selector().server.as_deref()))
        {
            must_be_one_of(key.clone(), tool, &known)?;
        }
        if let Some(error) = impossible(suite, agent, fault) {
            let (why, hint) = (error.to_string(), error.hint().unwrap_or_default());
            return Err(ConfigError::new(key, why).with_hint(hint));
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
    match &agent.model {
        _ if agent.is_live() => live(suite, agent)?,
        Some(model) => known_model(suite, model)?,
        None if !agent.env.is_empty() => {
            return wrong("env", "only a `command` has an environment");
        }
        None => {}
    }
    expect(&agent.expect, AGENT_ROOTS).map_err(|error| within(&"expect".into(), error))?;
    if !agent.is_live() && agent.expect.looks_at("live") {
        return wrong("expect", "looks at `live`, which only an agent with a `command` has");
    }
    if agent.recovery().is_none() && agent.expect.looks_at("recovery") {
        return wrong("expect", "looks at `recovery`, which this agent does not have");
    }
    recovery(suite, agent).map_err(|error| within(&"recovery".into(), error))
}

/// The tools of an agent's servers, or of one of them, where all of them are written in the suite.
fn tools<'a>(suite: &'a Suite, agent: &AgentTest, only: Option<&str>) -> Option<Vec<&'a str>> {
    let servers = agent.servers.iter().filter(|name| only.is_none_or(|only| only == *name));
    let mut known = Vec::new();
    for name in servers {
        let mock = suite.servers.0.get(name)?.mock.as_ref()?;
        if mock.tools.is_empty() || mock.tools_from.is_some() {
            return None;
        }
        known.extend(mock.tools.iter().map(|tool| tool.name.as_str()));
    }
    Some(known)
}

fn must_be_one_of(key: KeyPath, tool: &str, known: &[&str]) -> Checked {
    match known.contains(&tool) {
        true => Ok(()),
        false => Err(unknown(key, "tool", tool, known.iter().copied())),
    }
}

/// Why a fault could never happen with the servers that it is aimed at.
fn impossible(suite: &Suite, agent: &AgentTest, fault: &Fault) -> Option<Impossible> {
    let target = fault.selector().server.as_ref();
    let aimed = agent.servers.iter().filter(|name| target.is_none_or(|target| target == *name));
    let mut why = None;
    for name in aimed {
        let transport = match suite.servers.0.get(name).map(ServerEntry::way) {
            Some(Ok(Way::Command(..))) => TransportName::Stdio,
            Some(Ok(Way::Url(url))) if url.starts_with("ws") => TransportName::Ws,
            _ => TransportName::Http,
        };
        why = Some(fault.check(transport, None).err()?);
    }
    why
}

/// An agent of its own: what we cannot see or set must not be asked for.
fn live(suite: &Suite, agent: &AgentTest) -> Checked {
    for (at, name) in agent.servers.iter().enumerate() {
        let entry = suite.servers.0.get(name);
        let is_unwatched = entry.and_then(|entry| entry.url.as_ref());
        if is_unwatched.is_some_and(|url| !url.starts_with("http")) {
            let key = KeyPath::from("servers").index(at);
            let why = "an agent with a `command` is not watched over WebSocket: use `mock`, \
                       `command` or an http `url`";
            return Err(ConfigError::new(key, why));
        }
    }
    for (key, is_set) in [
        ("system_prompt", agent.system_prompt.is_some()),
        ("max_turns", agent.max_turns.is_some()),
        ("max_tokens", agent.max_tokens.is_some()),
        ("token_budget", agent.token_budget.is_some()),
        ("max_tool_calls", agent.max_tool_calls.is_some()),
    ] {
        if is_set {
            return Err(ConfigError::new(key, "only the agent itself could keep to it"));
        }
    }
    let Some(name) = &agent.model else { return Ok(()) };
    let ours = suite.models.iter().find(|model| model.name == *name);
    match ours.map(Model::source).transpose()? {
        Some(ModelSource::Fixtures(..)) => Ok(()),
        _ => Err(ConfigError::new("model", "an agent with a `command` needs one with `fixtures`")),
    }
}

/// Whether something answers to this name.
pub(in super::super) fn known_model(suite: &Suite, name: &str) -> Checked {
    let is_ours = suite.models.iter().any(|model| model.name == name);
    if is_ours || Persona::find(name).is_some() || provider_of(name).is_some() {
        return Ok(());
    }
    let personas: Vec<_> = Persona::names().collect();
    let ours = suite.models.iter().map(|model| model.name.as_str());
    let known = ours.chain(personas.iter().map(String::as_str));
    Err(unknown("model", "model", name, known))
}

fn recovery(suite: &Suite, agent: &AgentTest) -> Checked {
    let Some(recovery) = &agent.recovery else { return Ok(()) };
    let wrong = |key: &str, why: String| Err(ConfigError::new(key, why));
    if recovery.max_detection_ms == 0 {
        return wrong("max_detection_ms", "it must be at least 1".into());
    }
    if recovery.accept.is_empty() {
        return wrong("accept", "an empty list lets nothing pass".into());
    }
    // A name that nobody has would switch off what the tools say of themselves.
    if let Some(known) = tools(suite, agent, None) {
        for (at, tool) in recovery.non_idempotent.0.iter().enumerate() {
            must_be_one_of(KeyPath::from("non_idempotent").index(at), tool, &known)?;
        }
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
