//! What the server asks of us, answered with plain values and never with real data.

use mcp_loadtest_core::{
    generate,
    jsonrpc::{self, Message, Template, write},
    mcp::method,
    seed::Seed,
};
use serde_json::{Map, Value, json};

use super::{Inner, Prepared, Questions};

/// The answer to a question of the server, whichever era asks it.
fn answer(method: &str, params: &Value) -> Option<Value> {
    Some(match method {
        method::PING => json!({}),
        method::ROOTS_LIST => json!({ "roots": [] }),
        method::SAMPLING => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "canned answer of a load test" },
            "model": "mcp-loadtest",
            "stopReason": "endTurn",
        }),
        method::ELICITATION => elicited(params),
        _ => return None,
    })
}

/// A form is accepted with the values that its schema prefers; a URL is never opened.
fn elicited(params: &Value) -> Value {
    let Some(schema) = params.get("requestedSchema") else {
        return json!({ "action": "decline" });
    };
    let content =
        generate::arguments(schema, &mut Seed::default().dice(0), &generate::Budget::default());
    match content {
        Ok(content) => json!({ "action": "accept", "content": with_defaults(schema, content) }),
        Err(_) => json!({ "action": "decline" }),
    }
}

/// Optional properties with a default are filled in too.
fn with_defaults(schema: &Value, mut content: Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let (Some(properties), Some(content)) = (properties, content.as_object_mut()) {
        for (name, property) in properties {
            if let Some(default) = property.get("default") {
                content.entry(name).or_insert_with(|| default.clone());
            }
        }
    }
    content
}

impl Inner {
    /// Answers a frame that asks something of us and came beside the stream of the session.
    pub(crate) fn answer_request(&self, frame: &[u8]) {
        if let Some(Message::Request { id, method, params }) = jsonrpc::read(frame).message {
            self.take_request(id, method, params);
        }
    }

    /// Legacy: a JSON-RPC request on the stream.
    pub(super) fn take_request(&self, id: &[u8], method: &[u8], params: Option<&[u8]>) {
        self.counters.server_requests.set(self.counters.server_requests.get() + 1);
        if self.questions == Questions::Ignored {
            return;
        }
        let method = String::from_utf8_lossy(method);
        let params = params.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or(Value::Null);
        let reply = match answer(&method, &params) {
            Some(result) => write::reply(id, Ok(&result)),
            None => write::reply(id, Err((-32601, "the client does not offer this method"))),
        };
        if let Some(frame) = reply {
            self.link.send_detached(self, frame);
        }
    }

    /// Modern: the request again, with the answers to what its result asked for.
    pub(super) fn with_input(&self, request: &Prepared, result: &[u8]) -> Option<Prepared> {
        let result: Value = serde_json::from_slice(result).ok()?;
        let asked = result.get("inputRequests").and_then(Value::as_object);
        let state = result.get("requestState").filter(|state| !state.is_null());
        if asked.is_none() && state.is_none() {
            return None;
        }
        let mut params: Value = serde_json::from_slice(request.template.params()).ok()?;
        let members = params.as_object_mut()?;
        members.remove("inputResponses");
        members.remove("requestState");
        if let Some(asked) = asked {
            members.insert("inputResponses".into(), Value::Object(responses(asked)));
        }
        if let Some(state) = state {
            members.insert("requestState".into(), state.clone());
        }
        Some(request.with_template(Template::new(request.method(), &params)))
    }
}

fn responses(asked: &Map<String, Value>) -> Map<String, Value> {
    let answers = asked.iter().filter_map(|(key, question)| {
        let method = question.get("method")?.as_str()?;
        let params = question.get("params").unwrap_or(&Value::Null);
        Some((key.clone(), answer(method, params)?))
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_filled_from_their_defaults() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string", "default": "Ann"}, "age": {"type": "integer", "default": 3}
        }});
        let answer = answer(method::ELICITATION, &json!({"requestedSchema": schema})).unwrap();
        assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ann", "age": 3}}));
    }

    #[test]
    fn what_we_do_not_offer_is_refused() {
        assert_eq!(answer("tasks/list", &Value::Null), None);
        assert_eq!(
            answer(method::ELICITATION, &json!({"url": "http://x"})),
            Some(json!({"action": "decline"}))
        );
    }
}
