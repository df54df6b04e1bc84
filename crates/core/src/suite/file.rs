//! The file as a whole.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, IgnoredAny, Visitor},
};
use serde_json::Value;

use super::{
    agent::AgentTest,
    check,
    load::LoadTest,
    model::Model,
    server::Servers,
    test::{PromptTest, ResourceTest, ToolTest},
    variables,
};
use crate::{config::ConfigError, fault::Fault, yaml};

/// Tests of MCP servers and of agents that use them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mcp-loadtest suite")]
pub struct Suite {
    /// The servers that tests name.
    pub servers: Servers,
    /// How the suite is carried out.
    pub run_options: RunOptions,
    /// Calls of tools.
    pub tools: Vec<ToolTest>,
    /// Resources that are read.
    pub resources: Vec<ResourceTest>,
    /// Prompts that are filled in.
    pub prompts: Vec<PromptTest>,
    /// Agents that are given a task.
    pub agents: Vec<AgentTest>,
    /// What can go wrong with calls of agents; `inject` names them.
    pub faults: Vec<Fault>,
    /// Models that agents may use besides those of the providers.
    pub models: Vec<Model>,
    /// Load tests.
    pub loads: Vec<LoadTest>,
}

/// How a suite is carried out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// How many tests go on at the same time: `auto`, `false`, or a number. Default: `auto`, which
    /// is 4.
    pub parallel: Parallel,
    /// How long a server lives. Default: `per_run`.
    pub restart_policy: Isolation,
}

/// How many tests go on at the same time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum Parallel {
    /// As many as are useful.
    #[default]
    #[schemars(with = "String")]
    Auto,
    /// So many.
    Number(u16),
}

impl Parallel {
    /// So many.
    pub const fn number(self) -> u16 {
        match self {
            Self::Auto => 4,
            Self::Number(number) => number,
        }
    }
}

impl<'de> Deserialize<'de> for Parallel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Parallel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`auto`, `false`, or a number from 1")
            }

            fn visit_bool<E: de::Error>(self, is_parallel: bool) -> Result<Parallel, E> {
                Ok(if is_parallel { Parallel::Auto } else { Parallel::Number(1) })
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Parallel, E> {
                match u16::try_from(number) {
                    Ok(number @ 1..) => Ok(Parallel::Number(number)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Parallel, E> {
                match word {
                    "auto" => Ok(Parallel::Auto),
                    word => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }
        from.deserialize_any(Word)
    }
}

impl Serialize for Parallel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Number(number) => number.serialize(to),
        }
    }
}

/// How long a server lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// It serves one test after the other; one that died, or that left a call unanswered, is started
    /// again.
    #[default]
    #[serde(alias = "per_file")]
    PerRun,
    /// Each test has a server, or at least a session, of its own.
    PerTest,
}

/// Whether a text that cannot be read looks as if this key stood at its top: at the beginning of a
/// line, or anywhere in braces.
fn seems_to_have(text: &str, key: &str) -> bool {
    let is_in_braces = text.trim_start().starts_with('{');
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].trim_end_matches(['"', '\'']);
        let begins = match is_in_braces {
            true => before.ends_with(|c: char| c.is_whitespace() || matches!(c, '{' | ',')),
            false => before.is_empty() || before.ends_with('\n'),
        };
        let after = text[at + key.len()..].trim_start_matches(['"', '\'']);
        begins && after.trim_start().starts_with(':')
    })
}

impl Suite {
    /// Reads, fills in and judges a suite. `file` is only what errors call it; `vars` knows the
    /// environment.
    ///
    /// ```
    /// # use mcp_loadtest_core::suite::Suite;
    /// let text = "servers: {api: {mock: {}}}\ntools:\n  - {name: a, server: apy, tool: echo}\n";
    /// let error = Suite::parse(text, "suite.yml", &|_| None).unwrap_err();
    /// assert_eq!(error.to_string(), "suite.yml:3: `tools[0].server`: there is no server `apy`");
    /// assert_eq!(error.hint.unwrap(), "did you mean `api`?");
    /// ```
    pub fn parse(
        text: &str,
        file: &str,
        vars: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let written: Self = yaml::read(text, file)?;
        let in_text = |error| yaml::in_text(error, text, file);
        let suite = variables::fill(written, text, vars).map_err(in_text)?;
        check::check(&suite, vars).map_err(in_text)?;
        Ok(suite)
    }

    /// The same for a suite that a program has made of what it was given: `${HOME}` in a command line
    /// is for the shell that it starts, and stays as it is.
    pub fn parse_as_it_is(text: &str, file: &str) -> Result<Self, ConfigError> {
        let suite: Self = yaml::read(text, file)?;
        check::check(&suite, &|_| None).map_err(|error| yaml::in_text(error, text, file))?;
        Ok(suite)
    }

    /// Whether the text of a file is a suite rather than the configuration of a load test: it is
    /// YAML or JSON, and one of a suite's keys stands at its top, or seems to where it cannot be read.
    pub fn is_suite(text: &str) -> bool {
        const KEYS: [&str; 8] =
            ["servers", "tools", "resources", "prompts", "agents", "faults", "models", "loads"];
        match yaml::read::<BTreeMap<String, IgnoredAny>>(text, "") {
            Ok(map) => KEYS.iter().any(|key| map.contains_key(*key)),
            // What cannot be read is taken for what it seems to be, so that somebody tells what is wrong.
            Err(_) => KEYS.iter().any(|key| seems_to_have(text, key)),
        }
    }

    /// The JSON Schema of the file.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }

    /// Whether something answers to this name: a model of the suite, one that comes with the tool,
    /// or one of a provider.
    pub fn knows_model(&self, name: &str) -> Result<(), ConfigError> {
        check::known_model(self, name)
    }

    /// The fault with this name.
    pub fn fault(&self, name: &str) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.name() == Some(name))
    }
}
