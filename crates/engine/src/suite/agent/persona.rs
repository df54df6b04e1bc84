//! A model that comes with the tool, with a tool to call.

use mcp_loadtest_core::{
    generate::{self, Budget},
    seed::Seed,
    suite::{
        AgentTest,
        script::{Persona, Script},
    },
};
use serde_json::{Map, Value};

use super::{
    super::loaded::LoadedSuite,
    toolbox::{Offered, Toolbox},
};

/// The script of a model that comes with the tool: it calls what the faults are aimed at.
pub(super) fn script(
    persona: &Persona,
    loaded: &LoadedSuite,
    agent: &AgentTest,
    toolbox: &Toolbox,
) -> Result<Script, String> {
    let aimed = agent.inject.iter().filter_map(|name| {
        let target = loaded.suite.fault(name)?.selector();
        toolbox.offered.iter().find(|offered| {
            target.tool.as_ref().is_none_or(|tool| *tool == offered.tool.name)
                && target.server.as_ref().is_none_or(|server| *server == offered.server)
        })
    });
    let first = aimed.chain(toolbox.offered.first()).next();
    let first = first.ok_or("the servers of this agent have no tools")?;
    let fallback = agent.recovery.as_ref().and_then(|recovery| recovery.fallback.0.first());
    let other = toolbox.offered.iter().find(|offered| match fallback {
        Some(name) => *name == offered.tool.name,
        None => offered.name != first.name,
    });
    let call = |offered: &Offered| -> (String, Map<String, Value>) {
        (offered.name.clone(), made_up(offered, &agent.prompt))
    };
    let (name, args) = call(first);
    let other = other.map(call);
    let other = other.as_ref().map(|(name, args)| (name.as_str(), args.clone()));
    Ok(persona.script((&name, args), other))
}

/// Arguments that fit the tool: the task itself where a text is wanted.
fn made_up(offered: &Offered, prompt: &str) -> Map<String, Value> {
    let schema = &offered.tool.input_schema;
    let dice = &mut Seed::default().dice(0);
    let made = generate::arguments(schema, dice, &Budget::default()).unwrap_or_default();
    let mut args = made.as_object().cloned().unwrap_or_default();
    for (name, value) in &mut args {
        let property = schema.pointer(&format!("/properties/{name}"));
        let plain = property.is_some_and(|property| {
            property["type"] == "string"
                && ["enum", "const", "format", "pattern", "maxLength", "default"]
                    .iter()
                    .all(|key| property.get(key).is_none())
        });
        if plain {
            *value = prompt.into();
        }
    }
    args
}
