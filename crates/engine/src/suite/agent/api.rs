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
use mcp_loadtest_wire::{
    post::{PostError, post_json},
    session::Address,
};
use serde_json::Value;
use tokio::time::sleep;

/// How long a provider may take for one answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long to wait before a busy provider is asked again, each time.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(6)];

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
        let answer = insist(&address, &request.body).await;
        let answer = answer.map_err(|error| why(error.to_string()))?;
        dialect::read(self.provider, &answer, conversation.messages.len()).map_err(why)
    }
}

/// Asks, and asks again where that may help: a provider that is busy says nothing about an agent.
async fn insist(address: &Address, body: &Value) -> Result<Value, PostError> {
    for pause in PAUSES {
        match post_json(address, body, PATIENCE).await {
            Err(PostError::Refused { status: 429 | 500 | 502 | 503 | 529, .. }) => {
                sleep(pause).await;
            }
            answer => return answer,
        }
    }
    post_json(address, body, PATIENCE).await
}
