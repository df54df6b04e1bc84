//! What is said, before any API gives it its form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A call of a tool. The arguments are text, because they may be broken on purpose.
    ToolCall {
        /// What it is called by when its result comes.
        id: CallId,
        /// The tool.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// The model will not answer.
    Refusal(String),
    /// A vector, for embeddings.
    Embedding(Vec<f64>),
}

/// What the call of a tool is called by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallId {
    /// Something that looks like the provider's own.
    MadeUp,
    /// As the fixture says.
    Given(String),
    /// Nothing, on purpose.
    Missing,
}

/// Why an answer ended. Each API has its own words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It was complete.
    Done,
    /// It was too long.
    Length,
    /// Tools are to be called.
    ToolCalls,
    /// It was filtered, or refused.
    Refusal,
    /// As the fixture says, word for word.
    Other(String),
}

/// Tokens that were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Of what was asked.
    pub input_tokens: u64,
    /// Of what was answered.
    pub output_tokens: u64,
}

/// What is said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The parts, in order.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
}

/// Roughly what a text costs: a token is four bytes. Good enough for a mock, and always the same.
pub const fn estimated_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

impl Answer {
    /// An answer whose usage is estimated from the length of both sides, in bytes.
    pub fn new(blocks: Vec<Block>, stop: StopReason, asked: usize) -> Self {
        let said = blocks.iter().map(Block::length).sum();
        let usage =
            Usage { input_tokens: estimated_tokens(asked), output_tokens: estimated_tokens(said) };
        Self { blocks, stop, usage }
    }
}

impl Block {
    fn length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Refusal(text) => text.len(),
            Self::ToolCall { name, arguments, .. } => name.len() + arguments.len(),
            Self::Embedding(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_a_quarter_of_the_bytes_and_never_less() {
        let text = Block::Text("twelve bytes".into());
        let refusal = Block::Refusal("no".into());
        let usage = Answer::new(vec![text, refusal], StopReason::Done, 9).usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), (3, 4));
        assert_eq!(estimated_tokens(0), 0);
    }

    #[test]
    fn a_call_costs_its_name_and_its_arguments_and_a_vector_nothing() {
        let call = Block::ToolCall {
            id: CallId::MadeUp,
            name: "fetch".into(),
            arguments: r#"{"id":1}"#.into(),
        };
        let vector = Block::Embedding(vec![0.5; 99]);
        let usage = Answer::new(vec![call, vector], StopReason::ToolCalls, 0).usage;
        assert_eq!(usage, Usage { input_tokens: 0, output_tokens: 4 });
    }
}
