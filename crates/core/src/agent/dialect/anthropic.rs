//! Anthropic: messages.

use serde_json::{Value, json};

use super::{Request, text, tokens};
use crate::{
    agent::{Conversation, Message, ToolCall, Turn},
    suite::recovery::Usage,
};

/// The version of the API that we speak.
const VERSION: &str = "2023-06-01";

pub(super) fn request(model: &str, key: &str, conversation: &Conversation) -> Request {
    let messages: Vec<_> = conversation.messages.iter().map(message).collect();
    let tools: Vec<_> = conversation
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.input_schema,
            })
        })
        .collect();
    let mut body = json!({
        "model": model,
        "max_tokens": conversation.max_tokens,
        "messages": messages,
        "tools": tools,
    });
    if let Some(system) = &conversation.system {
        body["system"] = system.as_str().into();
    }
    let headers = vec![("x-api-key", key.to_owned()), ("anthropic-version", VERSION.to_owned())];
    Request { path: "/v1/messages".into(), headers, body }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Model(turn) => {
            let said = (!turn.text.is_empty()).then(|| json!({"type": "text", "text": turn.text}));
            let calls = turn.calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args})
            });
            let content: Vec<_> = said.into_iter().chain(calls).collect();
            json!({ "role": "assistant", "content": content })
        }
        Message::Results(results) => {
            let content: Vec<_> = results
                .iter()
                .map(|result| {
                    json!({
                        "type": "tool_result",
                        "tool_use_id": result.id,
                        "content": result.text,
                        "is_error": result.is_error,
                    })
                })
                .collect();
            json!({ "role": "user", "content": content })
        }
    }
}

pub(super) fn read(body: &Value) -> Result<Turn, String> {
    let content = body["content"].as_array().ok_or("the answer has no `content`")?;
    let mut turn = Turn {
        usage: Usage {
            input: tokens(&body["usage"]["input_tokens"]),
            output: tokens(&body["usage"]["output_tokens"]),
        },
        ..Turn::default()
    };
    for block in content {
        match block["type"].as_str() {
            Some("text") => turn.text.push_str(&text(&block["text"])),
            Some("tool_use") => turn.calls.push(ToolCall {
                id: text(&block["id"]),
                name: text(&block["name"]),
                args: block["input"].as_object().cloned().unwrap_or_default(),
            }),
            // Thoughts and the like are not said.
            _ => {}
        }
    }
    Ok(turn)
}
