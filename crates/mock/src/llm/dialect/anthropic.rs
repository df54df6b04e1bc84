//! Anthropic: messages, and how many tokens one would cost.

use std::{sync::Arc, time::Duration};

use mcp_loadtest_core::llm::{
    Block, Problem, Provider, Request, StopReason, StreamError, estimated_tokens, wording,
};
use serde_json::{Value, json};

use super::{
    Dialect, Kind, Reply, Route, Voice, bare, conversation, is_empty_list, json_bytes, text, texts,
    truth,
};
use crate::llm::{frame::Frame, limits::moment_in, pieces::Piece};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Anthropic,
    path: "/v1/messages",
    verb: "POST",
    route: |path, _| (path == "/v1/messages").then(Route::default),
    read,
    kind: Kind::Model {
        whole: |reply| json_bytes(&whole(reply)),
        voice: |reply| Box::new(Messages { reply, open: None }),
    },
};

pub(super) static COUNT_TOKENS: Dialect = Dialect {
    provider: Provider::Anthropic,
    path: "/v1/messages/count_tokens",
    verb: "POST",
    route: |path, _| (path == "/v1/messages/count_tokens").then(Route::default),
    read: |_, body| {
        let model = text(&body, "model")?.to_owned();
        Ok(bare(Provider::Anthropic, model, body))
    },
    kind: Kind::Plain(|request, _| json!({ "input_tokens": estimated_tokens(request.length) })),
};

fn read(_: &Route, body: Value) -> Result<Request, Problem> {
    let model = text(&body, "model")?.to_owned();
    let stream = truth(&body, "stream")?;
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|most| most == 0) {
        return Err(Problem::new(400, "max_tokens: a positive number is required"));
    }
    if is_empty_list(&body, "messages") {
        return Err(Problem::new(400, "messages: at least one message is required"));
    }
    let mut request = bare(Provider::Anthropic, model, Value::Null);
    conversation(&body["messages"], &mut request);
    request.system_prompt = texts(&body["system"]);
    request.temperature = body.get("temperature").and_then(Value::as_f64);
    request.metadata = body.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    request.tools = tools.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect();
    request.stream = stream;
    request.body = body;
    Ok(request)
}

fn whole(reply: &Reply) -> Value {
    let mut calls = 0;
    let content: Vec<_> = reply
        .answer
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Refusal(text) => {
                Some(json!({ "type": "text", "text": text }))
            }
            Block::ToolCall { id, name, arguments } => {
                calls += 1;
                // Arguments that are no JSON cannot be written here; the text shows them.
                let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                let mut block = json!({ "type": "tool_use", "name": name, "input": input });
                reply.identify(&mut block, "id", id, "toolu_", calls - 1);
                Some(block)
            }
            Block::Embedding(_) => None,
        })
        .collect();
    let mut message = message(reply, Some(stop_reason(reply)));
    message["content"] = content.into();
    message
}

fn message(reply: &Reply, stop: Option<&str>) -> Value {
    let usage = reply.answer.usage;
    json!({
        "id": reply.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": reply.request.model,
        "content": [],
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": if stop.is_some() { usage.output_tokens } else { 1 },
        },
    })
}

fn stop_reason(reply: &Reply) -> &str {
    match &reply.answer.stop {
        StopReason::ToolCalls if reply.wrong_finish => "end_turn",
        StopReason::Done => "end_turn",
        StopReason::Length => "max_tokens",
        StopReason::ToolCalls => "tool_use",
        StopReason::Refusal => "refusal",
        StopReason::Other(word) => word,
    }
}

struct Messages {
    reply: Arc<Reply>,
    /// The block that has begun.
    open: Option<usize>,
}

impl Messages {
    fn begin(&mut self, block: usize, content: Value, out: &mut Vec<Frame>) {
        self.open = Some(block);
        out.push(Frame::named(
            "content_block_start",
            json!({ "type": "content_block_start", "index": block, "content_block": content }),
        ));
    }

    fn delta(block: usize, delta: Value, out: &mut Vec<Frame>) {
        out.push(Frame::named(
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": block, "delta": delta }),
        ));
    }

    fn end(&mut self, block: usize, out: &mut Vec<Frame>) {
        self.open = None;
        out.push(Frame::named(
            "content_block_stop",
            json!({ "type": "content_block_stop", "index": block }),
        ));
    }
}

impl Voice for Messages {
    fn open(&mut self, out: &mut Vec<Frame>) {
        let start = json!({ "type": "message_start", "message": message(&self.reply, None) });
        out.push(Frame::named("message_start", start));
    }

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        match *piece {
            Piece::TextBegins { block } | Piece::RefusalBegins { block } => {
                self.begin(block, json!({ "type": "text", "text": "" }), out);
                if block == 0 {
                    // The provider sends one there.
                    out.push(Frame::named("ping", json!({ "type": "ping" })));
                }
            }
            Piece::Text { block, text } | Piece::Refusal { block, text } => {
                Self::delta(block, json!({ "type": "text_delta", "text": text }), out);
            }
            Piece::CallBegins { block, call, id, name } => {
                let mut content = json!({ "type": "tool_use", "name": name, "input": {} });
                self.reply.identify(&mut content, "id", id, "toolu_", call);
                self.begin(block, content, out);
            }
            Piece::Arguments { block, text, .. } => {
                Self::delta(
                    block,
                    json!({ "type": "input_json_delta", "partial_json": text }),
                    out,
                );
            }
            Piece::TextEnds { block, .. }
            | Piece::RefusalEnds { block, .. }
            | Piece::CallEnds { block, .. } => self.end(block, out),
        }
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        let delta = json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason(&self.reply), "stop_sequence": null },
            "usage": { "output_tokens": self.reply.answer.usage.output_tokens },
        });
        out.push(Frame::named("message_delta", delta));
        out.push(Frame::named("message_stop", json!({ "type": "message_stop" })));
    }

    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>) {
        let words = wording(Provider::Anthropic, error.status);
        out.push(Frame::named(
            "error",
            json!({ "type": "error", "error": { "type": words.kind, "message": error.message } }),
        ));
    }
}

/// An error as Anthropic writes it.
pub(super) fn problem(problem: &Problem, number: u64) -> (Vec<(String, String)>, Value) {
    let words = wording(Provider::Anthropic, problem.status);
    let id = super::identity("req_", number);
    let mut headers = vec![("request-id".to_owned(), id.clone())];
    if let Some(wait) = problem.retry_after_ms {
        headers.push(("retry-after".into(), wait.div_ceil(1000).to_string()));
    }
    if problem.status == 429 {
        headers.push(("anthropic-ratelimit-requests-limit".into(), "100".into()));
        headers.push(("anthropic-ratelimit-requests-remaining".into(), "0".into()));
        let reset = Duration::from_millis(problem.retry_after_ms.unwrap_or_default());
        headers.push(("anthropic-ratelimit-requests-reset".into(), moment_in(reset)));
    }
    let body = json!({
        "type": "error",
        "error": {
            "type": problem.kind.as_deref().unwrap_or(words.kind),
            "message": problem.message,
        },
        "request_id": id,
    });
    (headers, body)
}
