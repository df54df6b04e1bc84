//! Google: Gemini, under both of its versions.

use std::sync::Arc;

use mcp_loadtest_core::llm::{
    Block, CallId, Problem, Provider, Request, StopReason, StreamError, estimated_tokens, wording,
};
use serde_json::{Value, json};

use super::{Dialect, Framing, Kind, Reply, Route, Voice, bare, json_bytes, texts};
use crate::llm::{frame::Frame, pieces::Piece};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Gemini,
    path: "/v1beta/models/MODEL:generateContent and :streamGenerateContent, also under /v1",
    verb: "POST",
    route: |path, query| {
        let (model, action) = model_and_action(path)?;
        let model = Some(model.to_owned());
        let is_events = query.split('&').any(|part| part == "alt=sse");
        let framing = if is_events { Framing::Events } else { Framing::Array };
        match action {
            "generateContent" => Some(Route { model, ..Route::default() }),
            "streamGenerateContent" => Some(Route { model, stream: true, framing }),
            _ => None,
        }
    },
    read,
    kind: Kind::Model {
        whole: |reply| json_bytes(&whole(reply)),
        voice: |reply| Box::new(Gemini { reply, pending: Vec::new(), begun: String::new() }),
    },
};

pub(super) static COUNT_TOKENS: Dialect = Dialect {
    provider: Provider::Gemini,
    path: "/v1beta/models/MODEL:countTokens, also under /v1",
    verb: "POST",
    route: |path, _| {
        let (model, action) = model_and_action(path)?;
        let model = Some(model.to_owned());
        (action == "countTokens").then_some(Route { model, ..Route::default() })
    },
    read: |route, body| Ok(bare(Provider::Gemini, route.model.as_deref().unwrap_or(""), body)),
    kind: Kind::Plain(|request, _| json!({ "totalTokens": estimated_tokens(request.length) })),
};

fn model_and_action(path: &str) -> Option<(&str, &str)> {
    let rest = ["/v1beta/models/", "/v1/models/", "/v1alpha/models/"]
        .iter()
        .find_map(|prefix| path.strip_prefix(prefix))?;
    rest.split_once(':')
}

fn read(route: &Route, body: Value) -> Result<Request, Problem> {
    let model = route.model.as_deref().unwrap_or_default();
    let Some(contents) =
        body.get("contents").and_then(Value::as_array).filter(|all| !all.is_empty())
    else {
        return Err(Problem::new(400, "contents is not specified"));
    };
    let mut request = bare(Provider::Gemini, model, Value::Null);
    for content in contents {
        let said = texts(&content["parts"]);
        let role = content.get("role").and_then(Value::as_str).unwrap_or("user");
        // A turn that only brings results of functions has no text, and leaves the last one standing.
        if role == "user" && !said.trim().is_empty() {
            request.user_message = said;
        }
    }
    let system = body.get("systemInstruction").or_else(|| body.get("system_instruction"));
    request.system_prompt = system.map(|system| texts(&system["parts"])).unwrap_or_default();
    let config = body.get("generationConfig").cloned().unwrap_or_default();
    request.temperature = config["temperature"].as_f64();
    request.choices = config["candidateCount"].as_u64().unwrap_or(1).clamp(1, 8) as u32;
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let declared = tools.filter_map(|tool| {
        tool.get("functionDeclarations").or_else(|| tool.get("function_declarations"))?.as_array()
    });
    request.tools = declared
        .flatten()
        .filter_map(|function| Some(function.get("name")?.as_str()?.to_owned()))
        .collect();
    request.stream = route.stream;
    request.body = body;
    Ok(request)
}

fn whole(reply: &Reply) -> Value {
    if let [Block::Refusal(reason)] = reply.answer.blocks.as_slice() {
        return refused(reply, reason);
    }
    let is_said =
        |block: &&Block| !(reply.malformed_call && matches!(block, Block::ToolCall { .. }));
    let parts: Vec<_> = reply.answer.blocks.iter().filter(is_said).filter_map(part).collect();
    chunk(reply, parts, Some(finish_reason(reply)))
}

fn refused(reply: &Reply, reason: &str) -> Value {
    let mut body = chunk(reply, Vec::new(), None);
    body["candidates"] = json!([]);
    body["promptFeedback"] = json!({ "blockReason": "SAFETY", "blockReasonMessage": reason });
    body
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) | Block::Refusal(text) => Some(json!({ "text": text })),
        Block::ToolCall { id, name, arguments } => Some(call(id, name, arguments)),
        Block::Embedding(_) => None,
    }
}

fn call(id: &CallId, name: &str, arguments: &str) -> Value {
    // Arguments that are no JSON cannot be written here; the text shows them.
    let args = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
    let mut call = json!({ "name": name, "args": args });
    if let CallId::Given(id) = id {
        call["id"] = id.as_str().into();
    }
    json!({ "functionCall": call })
}

fn finish_reason(reply: &Reply) -> &str {
    match &reply.answer.stop {
        _ if reply.malformed_call => "MALFORMED_FUNCTION_CALL",
        StopReason::Done | StopReason::ToolCalls => "STOP",
        StopReason::Length => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
        StopReason::Other(word) => word,
    }
}

/// A reply, or a part of one.
fn chunk(reply: &Reply, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let usage = reply.answer.usage;
    let candidates: Vec<_> = (0..reply.request.choices)
        .map(|index| {
            let mut candidate =
                json!({ "content": { "parts": parts, "role": "model" }, "index": index });
            if let Some(finish) = finish {
                candidate["finishReason"] = finish.into();
            }
            candidate
        })
        .collect();
    json!({
        "candidates": candidates,
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
        },
        "modelVersion": reply.request.model,
        "responseId": reply.id(""),
    })
}

struct Gemini {
    reply: Arc<Reply>,
    /// The parts of the last piece: only the very last one says why the answer ended.
    pending: Vec<Value>,
    /// The arguments of a call so far: it is sent when it is whole.
    begun: String,
}

impl Gemini {
    fn part(&mut self, part: Value, out: &mut Vec<Frame>) {
        self.flush(out);
        self.pending = vec![part];
    }

    fn flush(&mut self, out: &mut Vec<Frame>) {
        if !self.pending.is_empty() {
            let parts = std::mem::take(&mut self.pending);
            out.push(Frame::data(chunk(&self.reply, parts, None)));
        }
    }
}

/// Stands where a call would, to find the place again.
const HERE: &str = "the-call-goes-here";

impl Gemini {
    /// An event that breaks off in the arguments of a call: the provider writes a call in one event, so
    /// there is no other way to be cut off inside.
    fn half_call(&self) -> String {
        let name = self.reply.answer.blocks.iter().find_map(|block| match block {
            Block::ToolCall { name, arguments, .. } if arguments.starts_with(&self.begun) => {
                Some(name)
            }
            _ => None,
        });
        let Some(name) = name else { return String::new() };
        let part = json!({ "functionCall": HERE });
        let whole = chunk(&self.reply, vec![part], None).to_string();
        let before = whole.split(&format!("\"{HERE}\"")).next().unwrap_or_default();
        let name = Value::from(name.as_str());
        format!("{before}{{\"name\":{name},\"args\":{}", self.begun)
    }
}

impl Voice for Gemini {
    fn open(&mut self, _: &mut Vec<Frame>) {}

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        match *piece {
            Piece::Text { text, .. } => self.part(json!({ "text": text }), out),
            // A call comes whole, whatever its length: the provider does not cut it.
            Piece::Arguments { text, .. } => self.begun.push_str(text),
            Piece::CallEnds { id, name, whole, .. } => {
                self.begun.clear();
                if !self.reply.malformed_call {
                    self.part(call(id, name, whole), out);
                }
            }
            Piece::RefusalEnds { whole, .. } => {
                out.push(Frame::data(refused(&self.reply, whole)));
            }
            Piece::TextBegins { .. }
            | Piece::TextEnds { .. }
            | Piece::RefusalBegins { .. }
            | Piece::Refusal { .. }
            | Piece::CallBegins { .. } => {}
        }
    }

    fn settle(&mut self, is_cut: bool, out: &mut Vec<Frame>) {
        self.flush(out);
        if is_cut && !self.begun.is_empty() {
            out.push(Frame::broken_off(self.half_call()));
        }
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        if matches!(self.reply.answer.blocks.as_slice(), [Block::Refusal(_)]) {
            return;
        }
        let parts = std::mem::take(&mut self.pending);
        out.push(Frame::data(chunk(&self.reply, parts, Some(finish_reason(&self.reply)))));
    }

    fn fail(&mut self, error: &StreamError, out: &mut Vec<Frame>) {
        self.flush(out);
        let (_, body) = problem(&Problem::new(error.status, error.message.clone()));
        out.push(Frame::data(body));
    }
}

/// An error as Google writes it.
pub(super) fn problem(problem: &Problem) -> (Vec<(String, String)>, Value) {
    let words = wording(Provider::Gemini, problem.status);
    let mut error = json!({
        "code": problem.status,
        "message": problem.message,
        "status": problem.kind.as_deref().unwrap_or(words.kind),
    });
    let details = details(problem);
    if !details.is_empty() {
        error["details"] = details.into();
    }
    (Vec::new(), json!({ "error": error }))
}

/// What Google adds to an error for programs: which limit it was, how long to wait, and why.
fn details(problem: &Problem) -> Vec<Value> {
    let mut details = Vec::new();
    let mut add = |kind: &str, mut detail: Value| {
        detail["@type"] = format!("type.googleapis.com/google.rpc.{kind}").into();
        details.push(detail);
    };
    if problem.status == 429 {
        let violation = json!({
            "quotaMetric": "generativelanguage.googleapis.com/generate_requests",
            "quotaId": "GenerateRequestsPerMinutePerProject",
        });
        add("QuotaFailure", json!({ "violations": [violation] }));
    }
    if let Some(wait) = problem.retry_after_ms {
        add("RetryInfo", json!({ "retryDelay": format!("{}s", wait as f64 / 1e3) }));
    }
    if let Some(code) = &problem.code {
        add("ErrorInfo", json!({ "reason": code }));
    }
    details
}
