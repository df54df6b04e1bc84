//! Where a model is asked.

use std::time::Duration;

use mcp_loadtest_core::{
    agent::{
        Conversation, Turn,
        dialect::{self, bare_base_url},
    },
    config::ConfigError,
    llm::Provider,
};
use mcp_loadtest_wire::{post::post_json, session::Address};

/// How long a provider may take for one answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where a model is asked.
pub(super) struct Api {
    pub(super) provider: Provider,
    /// What the provider calls the model.
    pub(super) id: String,
    pub(super) key: String,
    /// The variable that the key is taken from.
    pub(super) key_env: String,
    pub(super) base_url: String,
}

impl Api {
    /// Whether there is a key.
    pub(super) fn checked(&self, name: &str) -> Result<(), ConfigError> {
        if !self.key.is_empty() {
            return Ok(());
        }
        let key = &self.key_env;
        Err(ConfigError::new("model", format!("there is no key for `{name}`: `{key}` is not set"))
            .with_hint(format!("set `{key}`, or run it with --model scripted:careful")))
    }

    /// The next turn of a conversation.
    pub(super) async fn ask(&self, conversation: &Conversation) -> Result<Turn, String> {
        let request = dialect::request(self.provider, &self.id, &self.key, conversation);
        let mut address =
            Address::new(format!("{}{}", bare_base_url(&self.base_url), request.path));
        address.headers =
            request.headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let why = |why: String| format!("the model `{}` did not answer: {why}", self.id);
        let answer = post_json(&address, &request.body, PATIENCE).await;
        let answer = answer.map_err(|error| why(error.to_string()))?;
        dialect::read(self.provider, &answer, conversation.messages.len()).map_err(why)
    }
}
