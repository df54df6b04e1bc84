//! OpenAI: chat completions, which many others speak, too.

use serde_json::{Value, json};

use super::{Request, text, tokens};
use crate::{
    agent::{Conversation, Message, ToolCall, Turn},
    suite::recovery::Usage,
};

pub(super) fn request(model: &str, key: &str, conversation: &Conversation) -> Request {
    let system =
        conversation.system.iter().map(|text| json!({ "role": "system", "content": text }));
    let messages: Vec<_> = system.chain(conversation.messages.iter().flat_map(message)).collect();
    let tools: Vec<_> = conversation
        .tools
        .iter()
        .map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            } })
        })
        .collect();
    let mut body = json!({
        "model": model,
        "max_completion_tokens": conversation.max_tokens,
        "messages": messages,
    });
    // An empty list is refused.
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    let headers = vec![("authorization", format!("Bearer {key}"))];
    Request { path: "/v1/chat/completions".into(), headers, body }
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Model(turn) => {
            let mut said = json!({ "role": "assistant", "content": turn.text });
            if !turn.calls.is_empty() {
                let call = |call: &ToolCall| {
                    let arguments = serde_json::to_string(&call.args).unwrap_or_default();
                    json!({ "id": call.id, "type": "function",
                        "function": { "name": call.name, "arguments": arguments } })
                };
                said["tool_calls"] = turn.calls.iter().map(call).collect();
            }
            vec![said]
        }
        Message::Results(results) => results
            .iter()
            .map(|result| {
                json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })
            })
            .collect(),
    }
}

pub(super) fn read(body: &Value) -> Result<Turn, String> {
    let message = body.pointer("/choices/0/message").ok_or("the answer has no `choices`")?;
    let said = [&message["content"], &message["refusal"]].map(text).concat();
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls: Result<Vec<_>, String> = calls
        .map(|call| {
            let name = text(&call["function"]["name"]);
            let written = text(&call["function"]["arguments"]);
            let written = if written.trim().is_empty() { "{}" } else { &written };
            let args = serde_json::from_str(written)
                .map_err(|_| format!("the arguments of `{name}` are no JSON object"))?;
            Ok(ToolCall { id: text(&call["id"]), name, args })
        })
        .collect();
    let usage = Usage {
        input: tokens(&body["usage"]["prompt_tokens"]),
        output: tokens(&body["usage"]["completion_tokens"]),
    };
    Ok(Turn { text: said, calls: calls?, usage, after_ms: 0 })
}
