//! The form of a chat completion. It is what most tests ask for, a frame for every few characters, so it
//! is written straight from the answer; the other APIs build a JSON value first.

use std::{borrow::Cow, sync::LazyLock};

use mcp_loadtest_core::llm::{Block, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::llm::dialect::{CREATED, Reply, openai::finish_reason};

/// What a completion and its chunks have in common.
#[derive(Serialize)]
pub(super) struct Body<'r, C> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'r str,
    choices: C,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<UsageForm>>,
    service_tier: &'static str,
    system_fingerprint: &'static str,
}

/// One of the answers that were asked for.
#[derive(Serialize)]
pub(super) struct Choice<'r> {
    index: u32,
    message: Message<'r>,
    logprobs: (),
    finish_reason: &'r str,
}

#[derive(Serialize)]
struct Message<'r> {
    role: &'static str,
    content: Option<Cow<'r, str>>,
    refusal: Option<&'r str>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'r>>,
}

#[derive(Serialize)]
struct Call<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    r#type: &'static str,
    function: Function<'r>,
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    arguments: &'r str,
}

/// One of the answers, a piece of it.
#[derive(Serialize)]
pub(super) struct PartOfChoice<'r> {
    pub(super) index: u32,
    pub(super) delta: &'r Delta<'r>,
    pub(super) logprobs: (),
    pub(super) finish_reason: Option<&'r str>,
}

/// What a chunk adds.
#[derive(Default, Serialize)]
pub(super) struct Delta<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<Option<&'r str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<[PartOfCall<'r>; 1]>,
}

#[derive(Serialize)]
pub(super) struct PartOfCall<'r> {
    pub(super) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#type: Option<&'static str>,
    pub(super) function: PartOfFunction<'r>,
}

#[derive(Serialize)]
pub(super) struct PartOfFunction<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'r str>,
    pub(super) arguments: &'r str,
}

#[derive(Serialize)]
struct UsageForm {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: &'static RawValue,
    completion_tokens_details: &'static RawValue,
}

/// What a mock never counts.
static OF_THE_PROMPT: LazyLock<Box<RawValue>> =
    LazyLock::new(|| raw(r#"{"cached_tokens":0,"audio_tokens":0}"#));
static OF_THE_COMPLETION: LazyLock<Box<RawValue>> = LazyLock::new(|| {
    raw(
        r#"{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}"#,
    )
});

#[expect(clippy::expect_used, reason = "it is a constant that every test reads")]
fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("it is JSON")
}

impl From<Usage> for UsageForm {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens + usage.output_tokens,
            prompt_tokens_details: &OF_THE_PROMPT,
            completion_tokens_details: &OF_THE_COMPLETION,
        }
    }
}

/// Whether a body says what it cost.
pub(super) enum Cost {
    Untold,
    Later,
    Told,
}

/// A body around some choices.
pub(super) fn body<'r, C>(
    reply: &'r Reply,
    object: &'static str,
    choices: C,
    cost: Cost,
) -> Body<'r, C> {
    Body {
        id: reply.id("chatcmpl-"),
        object,
        created: CREATED,
        model: &reply.request.model,
        choices,
        usage: match cost {
            Cost::Untold => None,
            Cost::Later => Some(None),
            Cost::Told => Some(Some(reply.answer.usage.into())),
        },
        service_tier: "default",
        system_fingerprint: "fp_mcp_loadtest",
    }
}

/// A whole answer.
pub(super) fn choice(reply: &Reply, index: u32) -> Choice<'_> {
    let mut message = Message {
        role: "assistant",
        content: None,
        refusal: None,
        annotations: [],
        tool_calls: Vec::new(),
    };
    for block in &reply.answer.blocks {
        match block {
            Block::Text(text) => match &mut message.content {
                Some(content) => content.to_mut().push_str(text),
                None => message.content = Some(Cow::Borrowed(text)),
            },
            Block::Refusal(text) => message.refusal = Some(text),
            Block::ToolCall { id, name, arguments } => {
                let id = reply.call_id(id, "call_", message.tool_calls.len());
                let function = Function { name, arguments };
                message.tool_calls.push(Call { id, r#type: "function", function });
            }
            Block::Embedding(_) => {}
        }
    }
    Choice { index, message, logprobs: (), finish_reason: finish_reason(reply) }
}
