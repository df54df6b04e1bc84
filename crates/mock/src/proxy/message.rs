//! What a client says, as far as faults and the audit log ask for it.

use std::borrow::Cow;

use mcp_loadtest_core::{
    fault::CURSOR_PREFIX,
    jsonrpc::{self, Body, Id, Message},
    mcp::{Era, method},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::mcp::{batch::Batch, write::NO_ID};

/// The request that opens a stream for notifications in the modern era.
pub(super) const SUBSCRIBE: &str = "subscriptions/listen";

/// The key of a call: its id as JSON.
pub(super) type Key = Vec<u8>;

/// A message of the client.
#[derive(Debug)]
pub(super) enum Said {
    /// A request.
    Request(Call),
    /// A call is withdrawn.
    Cancelled(Key),
    /// Any other notification, with its method.
    Notification(String),
    /// A reply to a request of the server.
    Reply(Key),
    /// A batch of more messages than are looked at. It is passed on all the same.
    TooMany,
    /// No message that we know. It is passed on, too.
    Other,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: Key,
    pub(super) method: String,
    pub(super) tool: Option<String>,
    /// The arguments of a tool, as JSON.
    pub(super) arguments: Option<String>,
    pub(super) era: Era,
    /// Whether it asks for a page that a fault has promised.
    pub(super) asks_made_up_page: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    cursor: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "requestId")]
    request_id: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
}

impl Said {
    /// Reads one message; whatever the bytes are.
    pub(super) fn read(bytes: &[u8]) -> Self {
        match jsonrpc::read(bytes).message {
            Some(Message::Request { id, method, params }) => {
                Self::Request(Call::new(id, &text(method), params))
            }
            Some(Message::Notification { method: name, params }) => {
                let request = read_params(params).request_id;
                match (text(name), request) {
                    (name, Some(id)) if name == method::CANCELLED => {
                        Self::Cancelled(id.get().as_bytes().to_vec())
                    }
                    (name, _) => Self::Notification(name),
                }
            }
            Some(Message::Response { id, .. }) => Self::Reply(key(id)),
            None if Batch::read(bytes) == Some(Batch::TooMany) => Self::TooMany,
            None => Self::Other,
        }
    }
}

impl Call {
    fn new(id: &[u8], name: &str, params: Option<&[u8]>) -> Self {
        let params = read_params(params);
        let is_call = name == method::TOOLS_CALL;
        let modern = params.meta.is_some_and(|meta| meta.version.is_some());
        Self {
            id: id.to_vec(),
            method: name.to_owned(),
            tool: params.name.filter(|_| is_call).map(Cow::into_owned),
            arguments: params.arguments.filter(|_| is_call).map(|json| json.get().to_owned()),
            asks_made_up_page: params
                .cursor
                .is_some_and(|cursor| cursor.starts_with(CURSOR_PREFIX)),
            era: if modern { Era::Modern } else { Era::Legacy },
        }
    }
}

/// The same request for the first page, which is the one that the server knows.
pub(super) fn first_page(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(bytes).ok()?;
    message.get_mut("params")?.as_object_mut()?.remove("cursor")?;
    Some(message.to_string().into_bytes())
}

/// The id that a reply of the server answers.
pub(super) fn answered(bytes: &[u8]) -> Option<Key> {
    match jsonrpc::read(bytes).message {
        Some(Message::Response { id, .. }) => Some(key(id)),
        _ => None,
    }
}

/// Whether a server says that it could not read a message: its error answers no id.
pub(super) fn is_unread(bytes: &[u8]) -> bool {
    let message = jsonrpc::read(bytes).message;
    matches!(message, Some(Message::Response { id, body: Body::Error { .. } }) if key(id) == NO_ID)
}

/// A word for a message of the server that answers none of our calls: its method, where it has one.
pub(super) fn word(bytes: &[u8]) -> Cow<'static, str> {
    match jsonrpc::read(bytes).message {
        Some(Message::Request { method, .. } | Message::Notification { method, .. }) => {
            text(method).into()
        }
        Some(Message::Response { .. }) => "(reply)".into(),
        None => "(no message)".into(),
    }
}

fn key(id: Id<'_>) -> Key {
    match id {
        Id::Number(number) => number.to_string().into_bytes(),
        Id::Other(raw) => raw.to_vec(),
    }
}

fn text(method: &[u8]) -> String {
    String::from_utf8_lossy(method).into_owned()
}

/// Parameters of another shape have nothing that faults ask for.
fn read_params(params: Option<&[u8]>) -> Params<'_> {
    params.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_with_their_tool_and_era() {
        let legacy = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\u0062","arguments":{"x":1}}}"#;
        let Said::Request(call) = Said::read(legacy) else { panic!() };
        assert_eq!(
            (&*call.id, call.tool.as_deref(), call.era),
            (&b"7"[..], Some("ab"), Era::Legacy)
        );
        assert_eq!(call.arguments.as_deref(), Some(r#"{"x":1}"#));
        let modern = br#"{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let Said::Request(call) = Said::read(modern) else { panic!() };
        assert_eq!((&*call.id, call.tool, call.era), (&b"\"q\""[..], None, Era::Modern));
    }

    #[test]
    fn other_messages_are_told_apart() {
        let cancel =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert!(matches!(Said::read(cancel), Said::Cancelled(id) if id == b"7"));
        let note = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(
            matches!(Said::read(note), Said::Notification(name) if name == method::INITIALIZED)
        );
        assert!(matches!(Said::read(b"hello"), Said::Other));
        assert_eq!(answered(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#), Some(b"7".to_vec()));
        assert_eq!(answered(br#"{"jsonrpc":"2.0","id":"q","error":{}}"#), Some(b"\"q\"".to_vec()));
        assert_eq!(answered(cancel), None);
    }
}
