//! The API of each provider: the form of a request, and what an answer says. To add one: a file here
//! and its arms below.

mod anthropic;
mod gemini;
mod openai;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Conversation, Turn};
use crate::llm::Provider;

/// One request to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The path behind the base URL.
    pub path: String,
    /// The headers, the key among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// Where a provider is, and where its key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// The address, without the path.
    pub base_url: &'static str,
    /// The environment variable with another address.
    pub base_url_env: &'static str,
    /// The environment variable with the key.
    pub key_env: &'static str,
}

/// Where the provider is.
pub const fn home(provider: Provider) -> Home {
    match provider {
        Provider::Anthropic => Home {
            base_url: "https://api.anthropic.com",
            base_url_env: "ANTHROPIC_BASE_URL",
            key_env: "ANTHROPIC_API_KEY",
        },
        Provider::Openai | Provider::Responses => Home {
            base_url: "https://api.openai.com",
            base_url_env: "OPENAI_BASE_URL",
            key_env: "OPENAI_API_KEY",
        },
        Provider::Gemini => Home {
            base_url: "https://generativelanguage.googleapis.com",
            base_url_env: "GEMINI_BASE_URL",
            key_env: "GEMINI_API_KEY",
        },
    }
}

/// The request that asks for the next turn.
pub fn request(provider: Provider, model: &str, key: &str, conversation: &Conversation) -> Request {
    match provider {
        Provider::Anthropic => anthropic::request(model, key, conversation),
        Provider::Openai | Provider::Responses => openai::request(model, key, conversation),
        Provider::Gemini => gemini::request(model, key, conversation),
    }
}

/// What an answer says. `turn` tells calls apart whose provider gives them no id.
pub fn read(provider: Provider, body: &Value, turn: usize) -> Result<Turn, String> {
    match provider {
        Provider::Anthropic => anthropic::read(body),
        Provider::Openai | Provider::Responses => openai::read(body),
        Provider::Gemini => gemini::read(body, turn),
    }
}

/// A base URL as SDKs take it: with or without the `/v1` that the paths bring along.
pub fn bare_base_url(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    ["/v1beta", "/v1"].iter().find_map(|end| url.strip_suffix(end)).unwrap_or(url)
}

fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
