//! Whose API it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose API a request was made by. OpenAI has two, which differ in everything but their errors.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI: chat completions, embeddings, models.
    Openai,
    /// OpenAI: responses.
    Responses,
    /// Anthropic: messages.
    Anthropic,
    /// Google: Gemini.
    Gemini,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 4] = [Self::Openai, Self::Responses, Self::Anthropic, Self::Gemini];

    /// As fixtures write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_called_as_fixtures_write_it() {
        for provider in Provider::ALL {
            assert_eq!(serde_json::to_value(provider).unwrap(), provider.name());
        }
    }
}
