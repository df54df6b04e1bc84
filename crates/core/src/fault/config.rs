//! A fault as an entry of `faults:` in a suite.

use std::{borrow::Cow, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{
    FAULTS, Fault,
    entry::{Argument, Entry},
    error::FaultError,
    kind,
    selector::Selector,
};
use crate::{config::DurationText, hint::Hint as _, seed::Seed, units::as_text_option};

/// One thing that goes wrong, and with which calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// What `inject` calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A tool, a server, or both. Default: every tool of every server.
    #[serde(default, skip_serializing_if = "Target::is_empty")]
    pub target: Target,
    /// What goes wrong.
    #[schemars(schema_with = "kind_schema")]
    pub kind: String,
    /// `slow` and `reply_after_cancel`: how long the answer takes, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<i64>,
    /// `recover_after`: how many calls hang before the server recovers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<i64>,
    /// `error`: the code of the JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// `flaky`: the share of calls that fail, between 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// `truncate` and `oversized`: how many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// `drip`: bytes a second; `flood`: notifications a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<i64>,
    /// `crash`: the exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// `http`: the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
    /// With which of the target's calls it goes wrong. Default: with all of them.
    #[serde(default, skip_serializing_if = "When::is_empty")]
    pub when: When,
    /// What chances come from. Default: the seed of all faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

/// What a fault is aimed at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The tool. Default: every tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The server. Default: every server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl Target {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// With which calls a fault happens; all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Requests with this method instead of the fault's own; `*` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Calls of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only the call with this number, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nth: Option<u64>,
    /// Each call whose number is a multiple of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub every: Option<u64>,
    /// Only so many calls from the first on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// Each call with this chance, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: Option<f64>,
    /// Only calls so long after the start.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub after: Option<Duration>,
    /// Only calls before so long after the start.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub until: Option<Duration>,
}

impl When {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn kind_schema(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<_> = FAULTS.iter().map(|entry| entry.snake_name()).collect();
    json_schema!({ "type": "string", "enum": words, "description": "What goes wrong." })
}

impl FaultConfig {
    /// The keys of arguments, and what stands there.
    fn arguments(&mut self) -> impl IntoIterator<Item = (&'static str, Slot<'_>)> {
        [
            ("delay_ms", Slot::Whole(&mut self.delay_ms)),
            ("failures", Slot::Whole(&mut self.failures)),
            ("code", Slot::Whole(&mut self.code)),
            ("probability", Slot::Share(&mut self.probability)),
            ("bytes", Slot::Whole(&mut self.bytes)),
            ("rate", Slot::Whole(&mut self.rate)),
            ("exit_code", Slot::Whole(&mut self.exit_code)),
            ("status", Slot::Whole(&mut self.status)),
        ]
    }

    /// The argument of a kind, which must be the only one there.
    fn argument(&mut self, kind: &'static Entry) -> Result<Argument, FaultError> {
        let own = kind.argument.map(|form| form.key);
        let mut given = None;
        for (key, slot) in self.arguments() {
            let Some(value) = slot.get() else { continue };
            if Some(key) != own {
                return Err(FaultError::ForeignKey { kind: kind.name, key, own });
            }
            given = Some(value);
        }
        let Some(form) = kind.argument else { return Ok(Argument::Nothing) };
        match given {
            None => form.default.ok_or_else(|| FaultError::MissingArgument {
                kind: kind.name,
                usage: format!("{}: …", form.key),
            }),
            Some(value) => form.values.admit(value).ok_or_else(|| FaultError::Value {
                key: form.key,
                written: value.to_string(),
                wanted: form.values.wanted(),
            }),
        }
    }
}

/// A place for an argument.
enum Slot<'a> {
    Whole(&'a mut Option<i64>),
    Share(&'a mut Option<f64>),
}

impl Slot<'_> {
    fn get(&self) -> Option<Argument> {
        match self {
            Self::Whole(value) => value.map(Argument::Whole),
            Self::Share(value) => value.map(Argument::Share),
        }
    }

    fn put(self, argument: Argument) {
        match (self, argument) {
            (Self::Whole(slot), Argument::Whole(value)) => *slot = Some(value),
            (Self::Share(slot), Argument::Share(value)) => *slot = Some(value),
            _ => {}
        }
    }
}

impl TryFrom<FaultConfig> for Fault {
    type Error = String;

    fn try_from(config: FaultConfig) -> Result<Self, Self::Error> {
        read(config).map_err(|error| match error.hint() {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        })
    }
}

fn read(mut config: FaultConfig) -> Result<Fault, FaultError> {
    let kind =
        kind::find(&config.kind).ok_or_else(|| FaultError::UnknownKind(config.kind.clone()))?;
    let argument = config.argument(kind)?;
    let FaultConfig { name, target, when, seed, .. } = config;
    let selector = Selector {
        tool: target.tool,
        method: when.method,
        session: when.session,
        server: target.server,
        nth: when.nth,
        every: when.every,
        first: when.first,
        probability: when.probability,
        after: when.after,
        until: when.until,
        seed,
    };
    Ok(Fault { name, ..Fault::new(kind, argument, selector)? })
}

impl From<Fault> for FaultConfig {
    fn from(fault: Fault) -> Self {
        let Fault { name, kind, argument, when, .. } = fault;
        let mut config = Self {
            name,
            target: Target { tool: when.tool, server: when.server },
            kind: kind.snake_name(),
            when: When {
                method: when.method,
                session: when.session,
                nth: when.nth,
                every: when.every,
                first: when.first,
                probability: when.probability,
                after: when.after,
                until: when.until,
            },
            seed: when.seed,
            ..Self::default()
        };
        let key = kind.argument.map(|form| form.key);
        if let Some((_, slot)) = config.arguments().into_iter().find(|(name, _)| Some(*name) == key)
        {
            slot.put(argument);
        }
        config
    }
}

impl JsonSchema for Fault {
    fn schema_name() -> Cow<'static, str> {
        "Fault".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FaultConfig::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_hold_what_is_set_and_no_more() {
        for config in [
            json!({"kind": "hang"}),
            json!({"kind": "recover_after", "failures": 2}),
            json!({"kind": "flaky", "name": "now and then", "probability": 0.5, "seed": 7}),
            json!({"kind": "hang", "target": {"tool": "a", "server": "b"}, "when": {
                "method": "tools/call", "session": "s", "nth": 1, "every": 1, "first": 3,
                "probability": 0.5, "after": "1s", "until": "2s",
            }}),
        ] {
            let read: Fault = serde_json::from_value(config.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), config);
        }
        let schema = schemars::schema_for!(Fault).to_value();
        let kinds: Vec<_> = FAULTS.iter().map(|entry| json!(entry.snake_name())).collect();
        assert_eq!(schema["properties"]["kind"]["enum"], json!(kinds));
        assert_eq!(schema["title"], "Fault");
    }
}
