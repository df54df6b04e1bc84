//! OpenAI: responses.

use std::sync::Arc;

use mcp_loadtest_core::llm::{Block, Problem, Provider, Request, StopReason, StreamError, wording};
use serde_json::{Value, json};

use super::{
    CREATED, Dialect, Kind, Reply, Route, Voice, bare, conversation, json_bytes,
    openai::tool_names, text, texts, truth,
};
use crate::llm::{frame::Frame, pieces::Piece};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Responses,
    path: "/v1/responses",
    verb: "POST",
    route: |path, _| (path == "/v1/responses").then(Route::default),
    read,
    kind: Kind::Model {
        whole: |reply| json_bytes(&whole(reply)),
        voice: |reply| Box::new(Responses { reply, sequence: 0, output: Vec::new(), said: None }),
    },
};

fn read(_: &Route, body: Value) -> Result<Request, Problem> {
    let model = text(&body, "model")?.to_owned();
    let stream = truth(&body, "stream")?;
    let mut request = bare(Provider::Responses, model, Value::Null);
    match &body["input"] {
        Value::String(text) => request.user_message = text.clone(),
        list @ Value::Array(items) if !items.is_empty() => conversation(list, &mut request),
        _ => return Err(Problem::new(400, "`input` is missing: a text or a list")),
    }
    let instructions = texts(&body["instructions"]);
    if !instructions.is_empty() {
        request.system_prompt = instructions;
    }
    request.temperature = body.get("temperature").and_then(Value::as_f64);
    request.metadata = body.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    request.tools = tool_names(&body);
    request.stream = stream;
    request.body = body;
    Ok(request)
}

fn whole(reply: &Reply) -> Value {
    let output: Vec<_> =
        (0..reply.answer.blocks.len()).map(|block| item(reply, block, Item::Whole)).collect();
    let mut response = response(reply, final_status(reply));
    response["output"] = output.into();
    response
}

/// How the answer ended: `incomplete` where it was too long or filtered.
fn final_status(reply: &Reply) -> &'static str {
    match &reply.answer.stop {
        StopReason::Length => "incomplete",
        StopReason::Other(word) if word != "stop" && word != "completed" => "incomplete",
        _ => "completed",
    }
}

fn response(reply: &Reply, status: &str) -> Value {
    let usage = reply.answer.usage;
    let reason = match &reply.answer.stop {
        StopReason::Length => "max_output_tokens",
        StopReason::Other(word) => word,
        _ => "",
    };
    let ended = matches!(status, "completed" | "incomplete" | "failed");
    json!({
        "id": reply.id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": (status == "incomplete").then(|| json!({ "reason": reason })),
        "instructions": reply.request.body.get("instructions"),
        "metadata": reply.request.metadata,
        "model": reply.request.model,
        "output": [],
        "parallel_tool_calls": true,
        "temperature": reply.request.temperature.unwrap_or(1.0),
        "tool_choice": "auto",
        "tools": reply.request.body.get("tools").cloned().unwrap_or_else(|| json!([])),
        "top_p": 1.0,
        "usage": ended.then(|| json!({
            "input_tokens": usage.input_tokens,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input_tokens + usage.output_tokens,
        })),
    })
}

/// How much of an item there is.
#[derive(Clone, Copy)]
enum Item<'t> {
    Begun,
    /// Broken off after this.
    Half(&'t str),
    Whole,
}

/// One item of the output.
fn item(reply: &Reply, block: usize, much: Item<'_>) -> Value {
    let is_last = block + 1 == reply.answer.blocks.len();
    let status = match much {
        Item::Begun => "in_progress",
        Item::Half(_) => "incomplete",
        // The last item is what was cut off.
        Item::Whole if is_last => final_status(reply),
        Item::Whole => "completed",
    };
    let calls_before = reply.answer.blocks[..block].iter();
    let call = calls_before.filter(|block| matches!(block, Block::ToolCall { .. })).count();
    match &reply.answer.blocks[block] {
        Block::ToolCall { id, name, arguments } => {
            let arguments = match much {
                Item::Begun => "",
                Item::Half(said) => said,
                Item::Whole => arguments,
            };
            let mut item = json!({
                "type": "function_call",
                "id": format!("fc_{:014x}{block:02x}", reply.number >> 8),
                "name": name,
                "arguments": arguments,
                "status": status,
            });
            reply.identify(&mut item, "call_id", id, "call_", call);
            item
        }
        other => {
            let parts = match (much, other) {
                (Item::Begun, _) => Vec::new(),
                (Item::Half(said), Block::Refusal(_)) => vec![part(&Block::Refusal(said.into()))],
                (Item::Half(said), _) => vec![part(&Block::Text(said.into()))],
                (Item::Whole, _) => vec![part(other)],
            };
            json!({
                "type": "message", "id": message_id(reply, block), "status": status,
                "role": "assistant", "content": parts,
            })
        }
    }
}

fn message_id(reply: &Reply, block: usize) -> String {
    format!("msg_{:014x}{block:02x}", reply.number >> 8)
}

fn part(block: &Block) -> Value {
    match block {
        Block::Refusal(text) => json!({ "type": "refusal", "refusal": text }),
        Block::Text(text) => {
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        }
        Block::ToolCall { .. } | Block::Embedding(_) => Value::Null,
    }
}

struct Responses {
    reply: Arc<Reply>,
    sequence: u64,
    /// The items that are whole.
    output: Vec<Value>,
    /// The item that has begun, and what was said of it.
    said: Option<(usize, String)>,
}

impl Responses {
    fn event(&mut self, name: &'static str, mut data: Value, out: &mut Vec<Frame>) {
        data["type"] = name.into();
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        out.push(Frame::named(name, data));
    }

    fn begin_item(&mut self, block: usize, out: &mut Vec<Frame>) {
        self.said = Some((block, String::new()));
        let item = item(&self.reply, block, Item::Begun);
        let data = json!({ "output_index": block, "item": item });
        self.event("response.output_item.added", data, out);
    }

    fn end_item(&mut self, block: usize, out: &mut Vec<Frame>) {
        self.said = None;
        let item = item(&self.reply, block, Item::Whole);
        self.output.push(item.clone());
        let data = json!({ "output_index": block, "item": item });
        self.event("response.output_item.done", data, out);
    }

    fn hear(&mut self, text: &str) {
        if let Some((_, said)) = &mut self.said {
            said.push_str(text);
        }
    }

    /// All that there is, the item that was broken off included.
    fn so_far(&self) -> Value {
        let half =
            self.said.iter().map(|(block, said)| item(&self.reply, *block, Item::Half(said)));
        self.output.iter().cloned().chain(half).collect()
    }

    /// An event about the only part of a message.
    fn part_event(&mut self, name: &'static str, block: usize, extra: Value, out: &mut Vec<Frame>) {
        let mut data = json!({
            "item_id": message_id(&self.reply, block), "output_index": block, "content_index": 0,
        });
        for (key, value) in extra.as_object().into_iter().flatten() {
            data[key] = value.clone();
        }
        self.event(name, data, out);
    }

    fn call_event(&mut self, name: &'static str, block: usize, extra: Value, out: &mut Vec<Frame>) {
        let mut data = json!({
            "item_id": format!("fc_{:014x}{block:02x}", self.reply.number >> 8),
            "output_index": block,
        });
        for (key, value) in extra.as_object().into_iter().flatten() {
            data[key] = value.clone();
        }
        self.event(name, data, out);
    }

    fn begin_message(&mut self, block: usize, empty: &Block, out: &mut Vec<Frame>) {
        self.begin_item(block, out);
        self.part_event("response.content_part.added", block, json!({ "part": part(empty) }), out);
    }

    fn end_message(&mut self, block: usize, out: &mut Vec<Frame>) {
        let whole = part(&self.reply.answer.blocks[block]);
        self.part_event("response.content_part.done", block, json!({ "part": whole }), out);
        self.end_item(block, out);
    }
}

impl Voice for Responses {
    fn open(&mut self, out: &mut Vec<Frame>) {
        let begun = json!({ "response": response(&self.reply, "in_progress") });
        self.event("response.created", begun.clone(), out);
        self.event("response.in_progress", begun, out);
    }

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        match *piece {
            Piece::TextBegins { block } => {
                self.begin_message(block, &Block::Text(String::new()), out);
            }
            Piece::RefusalBegins { block } => {
                self.begin_message(block, &Block::Refusal(String::new()), out);
            }
            Piece::Text { block, text } => {
                self.hear(text);
                let delta = json!({ "delta": text, "logprobs": [] });
                self.part_event("response.output_text.delta", block, delta, out);
            }
            Piece::Refusal { block, text } => {
                self.hear(text);
                self.part_event("response.refusal.delta", block, json!({ "delta": text }), out);
            }
            Piece::TextEnds { block, whole } => {
                let done = json!({ "text": whole, "logprobs": [] });
                self.part_event("response.output_text.done", block, done, out);
                self.end_message(block, out);
            }
            Piece::RefusalEnds { block, whole } => {
                self.part_event("response.refusal.done", block, json!({ "refusal": whole }), out);
                self.end_message(block, out);
            }
            Piece::CallBegins { block, .. } => {
                self.begin_item(block, out);
            }
            Piece::Arguments { block, text, .. } => {
                self.hear(text);
                let delta = json!({ "delta": text });
                self.call_event("response.function_call_arguments.delta", block, delta, out);
            }
            Piece::CallEnds { block, whole, name, .. } => {
                let done = json!({ "arguments": whole, "name": name });
                self.call_event("response.function_call_arguments.done", block, done, out);
                self.end_item(block, out);
            }
        }
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        let name = match final_status(&self.reply) {
            "incomplete" => "response.incomplete",
            _ => "response.completed",
        };
        let whole = whole(&self.reply);
        self.event(name, json!({ "response": whole }), out);
    }

    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>) {
        let words = wording(Provider::Responses, error.status);
        match error.event.as_deref() {
            Some("response.failed") => {
                let mut response = response(&self.reply, "failed");
                response["output"] = self.so_far();
                response["error"] = json!({ "code": words.code, "message": error.message });
                self.event("response.failed", json!({ "response": response }), out);
            }
            Some("response.incomplete") => {
                let mut response = response(&self.reply, "incomplete");
                response["output"] = self.so_far();
                response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
                self.event("response.incomplete", json!({ "response": response }), out);
            }
            _ => {
                let data = json!({ "code": words.code, "message": error.message, "param": null });
                self.event("error", data, out);
            }
        }
    }
}
