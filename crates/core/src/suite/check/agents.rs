//! Agents.

use super::{Checked, expect, of_server, skipped, unknown, within};
use crate::{
    config::{ConfigError, KeyPath},
    fault::Fault,
    suite::{agent::AgentTest, file::Suite, model::provider_of, script::Persona},
};

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
