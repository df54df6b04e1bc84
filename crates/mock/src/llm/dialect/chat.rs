//! OpenAI: chat completions.

use std::sync::Arc;

use mcp_loadtest_core::llm::{Block, Problem, Provider, Request, StreamError, Usage, wording};
use serde_json::{Value, json};

use super::{
    CREATED, Dialect, Kind, Reply, Route, Voice, bare, conversation,
    openai::{finish_reason, tool_names},
    text, truth,
};
use crate::llm::{frame::Frame, pieces::Piece};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/chat/completions",
    verb: "POST",
    route: |path, _| (path == "/v1/chat/completions").then(Route::default),
    read,
    kind: Kind::Model { whole, voice: |reply| Box::new(Chat { reply }) },
};

/// More answers at once than this are refused, as the provider refuses them.
const MOST_CHOICES: u64 = 128;

fn read(_: &Route, body: Value) -> Result<Request, Problem> {
    let model = text(&body, "model")?.to_owned();
    let stream = truth(&body, "stream")?;
    if !body.get("messages").is_some_and(|list| list.as_array().is_some_and(|all| !all.is_empty()))
    {
        return Err(Problem::new(400, "`messages` is missing or empty"));
    }
    let choices = body.get("n").and_then(Value::as_u64).unwrap_or(1);
    if !(1..=MOST_CHOICES).contains(&choices) {
        return Err(Problem::new(400, format!("`n` is between 1 and {MOST_CHOICES}")));
    }
    let mut request = bare(Provider::Openai, &model, Value::Null);
    conversation(&body["messages"], &mut request);
    request.temperature = body.get("temperature").and_then(Value::as_f64);
    request.metadata = body.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    request.tools = tool_names(&body);
    request.stream = stream;
    request.include_usage = body["stream_options"]["include_usage"] == true;
    request.choices = choices as u32;
    request.body = body;
    Ok(request)
}

fn whole(reply: &Reply) -> Value {
    let choices: Vec<_> = (0..reply.request.choices).map(|index| choice(reply, index)).collect();
    let mut body = head(reply, "chat.completion");
    body["choices"] = choices.into();
    body["usage"] = usage(reply.answer.usage);
    body
}

fn head(reply: &Reply, object: &str) -> Value {
    json!({
        "id": reply.id("chatcmpl-"),
        "object": object,
        "created": CREATED,
        "model": reply.request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_mcp_loadtest",
    })
}

fn choice(reply: &Reply, index: u32) -> Value {
    let mut content = None;
    let mut refusal = None;
    let mut calls = Vec::new();
    for block in &reply.answer.blocks {
        match block {
            Block::Text(text) => content.get_or_insert_with(String::new).push_str(text),
            Block::Refusal(text) => refusal = Some(text),
            Block::ToolCall { id, name, arguments } => {
                let mut call = json!({
                    "type": "function",
                    "function": { "name": name, "arguments": arguments },
                });
                reply.identify(&mut call, "id", id, "call_", calls.len());
                calls.push(call);
            }
            Block::Embedding(_) => {}
        }
    }
    let mut message = json!({
        "role": "assistant", "content": content, "refusal": refusal, "annotations": [],
    });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "index": index, "message": message, "logprobs": null, "finish_reason": finish_reason(reply),
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

struct Chat {
    reply: Arc<Reply>,
}

impl Chat {
    /// The same delta in every choice.
    fn chunks(&self, delta: &Value, finish: Option<&str>, out: &mut Vec<Frame>) {
        for index in 0..self.reply.request.choices {
            let mut chunk = head(&self.reply, "chat.completion.chunk");
            chunk["choices"] = json!([{
                "index": index, "delta": delta, "logprobs": null, "finish_reason": finish,
            }]);
            if self.reply.request.include_usage {
                chunk["usage"] = Value::Null;
            }
            out.push(Frame::data(chunk));
        }
    }
}

impl Voice for Chat {
    fn open(&mut self, out: &mut Vec<Frame>) {
        self.chunks(&json!({ "role": "assistant", "content": "", "refusal": null }), None, out);
    }

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        let delta = match piece {
            Piece::Text { text, .. } => json!({ "content": text }),
            Piece::Refusal { text, .. } => json!({ "refusal": text }),
            Piece::CallBegins { call, id, name, .. } => {
                let mut begun = json!({
                    "index": call,
                    "type": "function",
                    "function": { "name": name, "arguments": "" },
                });
                self.reply.identify(&mut begun, "id", id, "call_", *call);
                json!({ "tool_calls": [begun] })
            }
            Piece::Arguments { call, text, .. } => {
                json!({ "tool_calls": [{ "index": call, "function": { "arguments": text } }] })
            }
            Piece::TextBegins { .. }
            | Piece::TextEnds { .. }
            | Piece::RefusalBegins { .. }
            | Piece::RefusalEnds { .. }
            | Piece::CallEnds { .. } => return,
        };
        self.chunks(&delta, None, out);
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        self.chunks(&json!({}), Some(finish_reason(&self.reply)), out);
        if self.reply.request.include_usage {
            let mut last = head(&self.reply, "chat.completion.chunk");
            last["choices"] = json!([]);
            last["usage"] = usage(self.reply.answer.usage);
            out.push(Frame::data(last));
        }
        out.push(Frame::data("[DONE]"));
    }

    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>) {
        let words = wording(Provider::Openai, error.status);
        out.push(Frame::data(json!({ "error": {
            "message": error.message, "type": words.kind, "param": null, "code": words.code,
        }})));
    }
}
