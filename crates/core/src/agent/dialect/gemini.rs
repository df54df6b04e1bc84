//! Google: Gemini. Calls have no ids, so results are told by name and order.

use serde_json::{Value, json};

use super::{Request, text, tokens};
use crate::{
    agent::{Conversation, Message, ToolCall, Turn},
    suite::recovery::Usage,
};

/// Keywords of JSON Schema that the API refuses.
const REFUSED: &[&str] = &["$schema", "$id", "additionalProperties", "$defs", "definitions"];

pub(super) fn request(model: &str, key: &str, conversation: &Conversation) -> Request {
    let contents: Vec<_> = conversation.messages.iter().map(message).collect();
    let mut body = json!({
        "contents": contents,
        "generationConfig": { "maxOutputTokens": conversation.max_tokens },
    });
    if !conversation.tools.is_empty() {
        let tools: Vec<_> = conversation
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": plain(&tool.input_schema),
                })
            })
            .collect();
        body["tools"] = json!([{ "functionDeclarations": tools }]);
    }
    if let Some(system) = &conversation.system {
        body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    let headers = vec![("x-goog-api-key", key.to_owned())];
    Request { path: format!("/v1beta/models/{model}:generateContent"), headers, body }
}

/// The schema without what the API refuses.
fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !REFUSED.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), plain(value))).collect()
        }
        Value::Array(list) => list.iter().map(plain).collect(),
        value => value.clone(),
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "parts": [{ "text": text }] }),
        Message::Model(turn) => {
            let said = (!turn.text.is_empty()).then(|| json!({ "text": turn.text }));
            let calls = turn
                .calls
                .iter()
                .map(|call| json!({ "functionCall": { "name": call.name, "args": call.args } }));
            let parts: Vec<_> = said.into_iter().chain(calls).collect();
            json!({ "role": "model", "parts": parts })
        }
        Message::Results(results) => {
            let parts: Vec<_> = results
                .iter()
                .map(|result| {
                    let key = if result.is_error { "error" } else { "result" };
                    let response = json!({ key: result.text });
                    json!({ "functionResponse": { "name": result.name, "response": response } })
                })
                .collect();
            json!({ "role": "user", "parts": parts })
        }
    }
}

pub(super) fn read(body: &Value, turn: usize) -> Result<Turn, String> {
    let candidate = body.pointer("/candidates/0").ok_or("the answer has no `candidates`")?;
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let mut said = Turn {
        usage: Usage {
            input: tokens(&body["usageMetadata"]["promptTokenCount"]),
            output: tokens(&body["usageMetadata"]["candidatesTokenCount"]),
        },
        ..Turn::default()
    };
    for part in parts.into_iter().flatten() {
        said.text.push_str(&text(&part["text"]));
        if let Some(call) = part.get("functionCall") {
            said.calls.push(ToolCall {
                id: format!("call-{turn}-{}", said.calls.len()),
                name: text(&call["name"]),
                args: call["args"].as_object().cloned().unwrap_or_default(),
            });
        }
    }
    Ok(said)
}
