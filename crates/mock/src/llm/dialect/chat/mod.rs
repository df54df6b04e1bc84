//! OpenAI: chat completions.

mod form;

use std::sync::Arc;

use mcp_loadtest_core::llm::{Problem, Provider, Request, StreamError, wording};
use serde_json::{Value, json};

use self::form::{Cost, Delta, PartOfCall, PartOfChoice, PartOfFunction, body, choice};
use super::{
    Dialect, Kind, Reply, Route, Voice, bare, conversation, is_empty_list, json_bytes,
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
    if is_empty_list(&body, "messages") {
        return Err(Problem::new(400, "`messages` is missing or empty"));
    }
    let choices = body.get("n").and_then(Value::as_u64).unwrap_or(1);
    if !(1..=MOST_CHOICES).contains(&choices) {
        return Err(Problem::new(400, format!("`n` is between 1 and {MOST_CHOICES}")));
    }
    let mut request = bare(Provider::Openai, model, Value::Null);
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

fn whole(reply: &Reply) -> Vec<u8> {
    let choices: Vec<_> = (0..reply.request.choices).map(|index| choice(reply, index)).collect();
    json_bytes(&body(reply, "chat.completion", choices, Cost::Told))
}

struct Chat {
    reply: Arc<Reply>,
}

const CHUNK: &str = "chat.completion.chunk";

impl Chat {
    /// The same delta in every choice.
    fn chunks(&self, delta: &Delta<'_>, finish_reason: Option<&str>, out: &mut Vec<Frame>) {
        for index in 0..self.reply.request.choices {
            let cost = if self.reply.request.include_usage { Cost::Later } else { Cost::Untold };
            let choice = PartOfChoice { index, delta, logprobs: (), finish_reason };
            out.push(Frame::json(&body(&self.reply, CHUNK, [choice], cost)));
        }
    }
}

impl Voice for Chat {
    fn open(&mut self, out: &mut Vec<Frame>) {
        let (role, content, refusal) = (Some("assistant"), Some(""), Some(None));
        self.chunks(&Delta { role, content, refusal, tool_calls: None }, None, out);
    }

    fn say(&mut self, piece: &Piece<'_>, out: &mut Vec<Frame>) {
        let call = |part| Delta { tool_calls: Some([part]), ..Delta::default() };
        let delta = match *piece {
            Piece::Text { text, .. } => Delta { content: Some(text), ..Delta::default() },
            Piece::Refusal { text, .. } => Delta { refusal: Some(Some(text)), ..Delta::default() },
            Piece::CallBegins { call: index, id, name, .. } => call(PartOfCall {
                index,
                id: self.reply.call_id(id, "call_", index),
                r#type: Some("function"),
                function: PartOfFunction { name: Some(name), arguments: "" },
            }),
            Piece::Arguments { call: index, text, .. } => call(PartOfCall {
                index,
                id: None,
                r#type: None,
                function: PartOfFunction { name: None, arguments: text },
            }),
            Piece::TextBegins { .. }
            | Piece::TextEnds { .. }
            | Piece::RefusalBegins { .. }
            | Piece::RefusalEnds { .. }
            | Piece::CallEnds { .. } => return,
        };
        self.chunks(&delta, None, out);
    }

    fn close(&mut self, out: &mut Vec<Frame>) {
        self.chunks(&Delta::default(), Some(finish_reason(&self.reply)), out);
        if self.reply.request.include_usage {
            let none: [(); 0] = [];
            out.push(Frame::json(&body(&self.reply, CHUNK, none, Cost::Told)));
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
