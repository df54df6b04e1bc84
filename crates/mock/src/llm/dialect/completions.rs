//! OpenAI: the old text completions, which some gateways and libraries still ask for.

use std::sync::Arc;

use mcp_loadtest_core::llm::{Block, Problem, Provider, Request, StreamError, wording};
use serde_json::{Value, json};

use super::{
    CREATED, Dialect, Kind, Reply, Route, Voice, bare, json_bytes, openai::finish_reason, text,
    truth,
};
use crate::llm::{frame::Frame, pieces::Piece};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/completions",
    verb: "POST",
    route: |path, _| (path == "/v1/completions").then(Route::default),
    read,
    kind: Kind::Model {
        whole: |reply| json_bytes(&whole(reply)),
        voice: |reply| Box::new(Completions { reply }),
    },
};

fn read(_: &Route, body: Value) -> Result<Request, Problem> {
    let model = text(&body, "model")?.to_owned();
    let stream = truth(&body, "stream")?;
    let prompt = match &body["prompt"] {
        Value::String(prompt) => prompt.clone(),
        Value::Array(prompts) if prompts.iter().any(Value::is_string) => {
            prompts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        _ => return Err(Problem::new(400, "`prompt` is missing or no text")),
    };
    let mut request = bare(Provider::Openai, model, body);
    request.user_message = prompt;
    request.stream = stream;
    Ok(request)
}

/// Calls of tools cannot be told here.
fn said(reply: &Reply) -> String {
    let texts = reply.answer.blocks.iter().filter_map(|block| match block {
        Block::Text(text) | Block::Refusal(text) => Some(text.as_str()),
        Block::ToolCall { .. } | Block::Embedding(_) => None,
    });
    texts.collect()
}

fn body(reply: &Reply, text: &str, finish: Option<&str>) -> Value {
    json!({
        "id": reply.id("cmpl-"),
        "object": "text_completion",
        "created": CREATED,
        "model": reply.request.model,
        "choices": [{ "index": 0, "text": text, "logprobs": null, "finish_reason": finish }],
    })
}

fn whole(reply: &Reply) -> Value {
    let usage = reply.answer.usage;
    let mut body = body(reply, &said(reply), Some(finish_reason(reply)));
    body["usage"] = json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    });
    body
}

struct Completions {
    reply: Arc<Reply>,
}

impl Voice for Completions {
    fn open(&mut self, _: &mut Vec<Frame>) {}

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        if let Piece::Text { text, .. } | Piece::Refusal { text, .. } = piece {
            out.push(Frame::data(body(&self.reply, text, None)));
        }
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        out.push(Frame::data(body(&self.reply, "", Some(finish_reason(&self.reply)))));
        out.push(Frame::data("[DONE]"));
    }

    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>) {
        let words = wording(Provider::Openai, error.status);
        out.push(Frame::data(json!({ "error": {
            "message": error.message, "type": words.kind, "param": null, "code": words.code,
        }})));
    }
}
