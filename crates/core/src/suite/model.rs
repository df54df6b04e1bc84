//! `models:`: those that agents may use besides those of the providers.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::script::Script;
use crate::config::ConfigError;
pub use crate::llm::Provider;

/// A model: one that does as its script says, one that a file of fixtures speaks for, or one at an
/// address of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What agents call it.
    pub name: String,
    /// What it does, step by step.
    #[serde(default, skip_serializing_if = "Script::is_empty")]
    pub script: Script,
    /// A file of fixtures as `llm` reads it: our mock of a provider answers with them, over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<PathBuf>,
    /// Whose API is spoken. With `script` or `fixtures`: our mock of it, over HTTP; a script without
    /// it is asked directly. Agents speak `openai`, `anthropic` and `gemini`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// What the provider calls the model. Default: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the API is, in place of the provider's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key, in place of the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
}

/// Where the answers of a model come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelSource<'a> {
    /// From a script, over the API of a provider where one is named.
    Script(&'a Script, Option<Provider>),
    /// From fixtures, over the API of a provider.
    Fixtures(&'a PathBuf, Provider),
    /// From a provider.
    Api(Provider),
}

impl Model {
    /// Where its answers come from: one place, and nothing that belongs to another.
    pub fn source(&self) -> Result<ModelSource<'_>, ConfigError> {
        let source = match (self.script.is_empty(), &self.fixtures, self.provider) {
            (false, None, provider) => ModelSource::Script(&self.script, provider),
            (true, Some(file), Some(provider)) => ModelSource::Fixtures(file, provider),
            (true, Some(_), None) => {
                return Err(ConfigError::new(
                    "provider",
                    "fixtures need to know whose API they speak",
                ));
            }
            (true, None, Some(provider)) => ModelSource::Api(provider),
            (false, Some(_), _) => {
                return Err(ConfigError::new(
                    "fixtures",
                    "stands beside `script`: use one of them",
                ));
            }
            (true, None, None) => {
                let why = "`script`, `fixtures` or `provider` is needed";
                return Err(ConfigError::new("", why));
            }
        };
        if self.provider == Some(Provider::Responses) {
            let why = "agents speak openai, anthropic and gemini";
            return Err(ConfigError::new("provider", why));
        }
        let is_api = matches!(source, ModelSource::Api(_));
        for (key, is_set) in
            [("base_url", self.base_url.is_some()), ("api_key_env", self.api_key_env.is_some())]
        {
            if is_set && !is_api {
                return Err(ConfigError::new(key, "only a model of a provider has one"));
            }
        }
        if self.id.is_some() && matches!(source, ModelSource::Script(_, None)) {
            return Err(ConfigError::new("id", "a script that speaks no API has no other name"));
        }
        Ok(source)
    }
}

/// Whose model it is, by its name.
pub fn provider_of(model: &str) -> Option<Provider> {
    let is_o_series = || {
        let digit = model.strip_prefix('o').and_then(|rest| rest.chars().next());
        digit.is_some_and(|c| c.is_ascii_digit())
    };
    if model.starts_with("claude-") {
        Some(Provider::Anthropic)
    } else if model.starts_with("gpt-") || model.starts_with("chatgpt-") || is_o_series() {
        Some(Provider::Openai)
    } else if model.starts_with("gemini-") {
        Some(Provider::Gemini)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name() {
        for (names, provider) in [
            (&["claude-sonnet-4-5"][..], Some(Provider::Anthropic)),
            (&["gpt-9", "chatgpt-4o", "o3", "o4-mini"], Some(Provider::Openai)),
            (&["gemini-3"], Some(Provider::Gemini)),
            (&["o", "other", "claude", "gemini", "llama-3", "opus"], None),
        ] {
            for name in names {
                assert_eq!(provider_of(name), provider, "{name}");
            }
        }
    }

    #[test]
    fn a_model_has_one_source_and_nothing_of_another() {
        let model = |written: &str| crate::yaml::read::<Model>(written, "m.yml").unwrap();
        for (written, key) in [
            ("{name: m, script: [{answer: a}]}", None),
            ("{name: m, script: [{answer: a}], provider: openai, id: x}", None),
            ("{name: m, script: [{answer: a}], id: x}", Some("id")),
            ("{name: m, fixtures: f.yml, provider: gemini, id: x}", None),
            ("{name: m, fixtures: f.yml, provider: gemini, base_url: u}", Some("base_url")),
            ("{name: m, fixtures: f.yml, provider: gemini, api_key_env: K}", Some("api_key_env")),
            ("{name: m, provider: openai, base_url: u, api_key_env: K, id: x}", None),
            ("{name: m, provider: responses}", Some("provider")),
        ] {
            let told = model(written).source().err().map(|error| error.key.plain().to_string());
            assert_eq!(told.as_deref(), key, "{written}");
        }
        let speaks = model("{name: m, provider: anthropic}");
        assert_eq!(speaks.source().unwrap(), ModelSource::Api(Provider::Anthropic));
    }
}
