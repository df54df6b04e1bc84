//! The configuration file: what a person writes, read strictly and answered helpfully.
//!
//! A text goes through three gates: `shape.rs` compares its keys and words with the schema, serde
//! reads the values, and `check.rs` judges them. Nothing that is written is ever ignored.
//!
//! To add a setting: a documented field in `server.rs`, `scenario.rs`, `output.rs` or
//! [`crate::thresholds`], its rule in `check.rs` (of a scenario: in its own file), and a line in
//! `example.toml`. The schema, the list of known keys and the reference follow by themselves; a flag
//! for it is laid over the file in cli.

mod arguments;
mod call_arguments;
pub mod check;
mod compare;
mod elsewhere;
mod error;
mod example;
mod locate;
mod output;
mod path;
mod scenario;
mod schema;
mod server;
mod shape;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use crate::{
    scenario::{Scenario, ScenarioKind},
    server::Server,
    thresholds::Thresholds,
};

pub use arguments::Arguments;
pub use call_arguments::CallArguments;
pub use compare::{Allowance, Baseline, CompareConfig};
pub use elsewhere::flag_instead_of_form;
pub use error::ConfigError;
pub use example::EXAMPLE;
pub use output::{Format, OutputConfig, Trace};
pub use path::{KeyPath, Step};
pub use scenario::ScenarioConfig;
pub use schema::schema;
pub use server::{ServerConfig, ServerSource, TransportName};
pub use tool_call::ToolCallConfig;

pub(crate) use schema::DurationText;

/// The configuration of a load test with mcp-loadtest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mcp-loadtest configuration", extend("required" = ["server", "scenario"]))]
pub struct Config {
    /// The server under test.
    pub server: ServerConfig,
    /// What to do to it.
    pub scenario: ScenarioConfig,
    /// What the run must keep to.
    pub thresholds: Thresholds,
    /// What the run leaves behind.
    pub output: OutputConfig,
    /// How much worse than an earlier run it may be.
    #[serde(skip_serializing_if = "CompareConfig::is_empty")]
    pub compare: CompareConfig,
}

impl Config {
    /// Reads and judges a complete configuration. `file` is only what errors call it.
    ///
    /// ```
    /// # use mcp_loadtest_core::config::Config;
    /// let error = Config::parse("[thresholds]\np99_latencyy = '1s'", "bench.toml").unwrap_err();
    /// assert_eq!(error.to_string(), "bench.toml:2: `[thresholds] p99_latencyy`: unknown key");
    /// assert_eq!(error.hint.unwrap(), "did you mean `p99_latency`?");
    /// ```
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let config = Self::read(text, file)?;
        config.check().map_err(|error| error.in_text(text, file))?;
        Ok(config)
    }

    /// Reads a configuration that something else may still complete. Whoever does so calls
    /// [`Config::check`] afterwards, and [`ConfigError::in_text`] on what that finds.
    pub fn read(text: &str, file: &str) -> Result<Self, ConfigError> {
        let document = DeTable::parse(text)
            .map_err(|error| ConfigError::from_toml(&error, KeyPath::default(), text, file))?;
        let schema = schema();
        if let Some((offset, error)) = shape::inspect(document.get_ref(), &schema) {
            return Err(error.at(text, file, Some(offset)));
        }
        let values = toml::Deserializer::from(document);
        serde_path_to_error::deserialize(values).map_err(|error| {
            let key = KeyPath::from(error.path());
            let example = example_value(&schema, &key);
            let error = ConfigError::from_toml(error.inner(), key, text, file);
            match example {
                Some(example) => error.with_hint(format!("write for example `{example}`")),
                None => error,
            }
        })
    }

    /// Judges the configuration as a whole.
    pub fn check(&self) -> Result<(), ConfigError> {
        let scenario = self.to_scenario()?;
        let judged = match self.server.source()? {
            ServerSource::Here(server) => check::all(&server, &scenario, &self.thresholds),
            ServerSource::Client { .. } => {
                check::scenario(&scenario).and_then(|()| check::thresholds(&self.thresholds))
            }
        };
        judged.and_then(|()| self.output.check()).map_err(|error| self.as_written(error))
    }

    /// What is set but has no effect on this run.
    pub fn unused(&self) -> Vec<ConfigError> {
        self.scenario.unused()
    }

    /// What is known before the run to stay open at its end.
    pub fn cautions(&self) -> Vec<String> {
        match self.to_scenario().map(|scenario| scenario.kind) {
            Ok(ScenarioKind::Soak(soak)) => soak.caution().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The scenario that the configuration describes.
    pub fn to_scenario(&self) -> Result<Scenario, ConfigError> {
        self.scenario.to_scenario(&self.thresholds)
    }

    /// The configuration of a run that was described in code.
    pub fn of_run(server: &Server, scenario: &Scenario, thresholds: &Thresholds) -> Self {
        Self {
            server: server.into(),
            scenario: scenario.into(),
            thresholds: thresholds.clone(),
            output: OutputConfig::default(),
            compare: CompareConfig::default(),
        }
    }

    /// The text of a configuration file. [`Config::parse`] reads the same configuration back. It
    /// holds the values of `env` and `headers`, secrets included.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self).map_err(|error| {
            ConfigError::new(KeyPath::default(), format!("cannot be written as TOML: {error}"))
        })
    }

    /// What was written with `tool` and `args` is not blamed on `tool_call[0]`.
    fn as_written(&self, error: ConfigError) -> ConfigError {
        if self.scenario.tool.is_none() {
            return error;
        }
        error
            .renamed("scenario.tool_call[0].name", "scenario.tool")
            .renamed("scenario.tool_call[0].args", "scenario.args")
    }
}

/// A value that would have been right, as it is written in TOML.
fn example_value(schema: &serde_json::Value, key: &KeyPath) -> Option<String> {
    let part = schema::part(schema, key)?;
    let example = part.get("examples")?.get(0)?;
    let value = toml::Value::try_from(example).ok()?;
    Some(format!("{} = {value}", key.last_key()?))
}

#[cfg(test)]
mod tests;
mod tool_call;
