//! The strict writer: frames that are always right, and requests spliced from a template.

use std::{ops::Range, sync::Arc};

use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// What every request begins with; its id follows.
const HEAD: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";

/// A request that differs from call to call only in its id, and perhaps in one member of its
/// parameters: head + id + `tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    method: Arc<str>,
    tail: Vec<u8>,
    /// Where the parameters stand in `tail`, for the trace.
    params: Range<usize>,
    /// Where the member of the parameters stands that may be exchanged.
    open: Option<Range<usize>>,
}

impl Template {
    /// Prepares a request. `params` must be an object; the frame is one line.
    pub fn new(method: &str, params: &Value) -> Self {
        Self::with_open(method, params, "")
    }

    /// Prepares a request in which the member `open` of the parameters may be exchanged.
    pub fn with_open(method: &str, params: &Value, open: &str) -> Self {
        let mut tail = format!(",\"method\":{},\"params\":", Value::from(method));
        let start = tail.len();
        let mut place = None;
        match params {
            Value::Object(members) => {
                tail.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    tail.push_str(&format!("{comma}{}:", Value::from(name.as_str())));
                    let begin = tail.len();
                    tail.push_str(&value.to_string());
                    if name == open {
                        place = Some(begin..tail.len());
                    }
                }
                tail.push('}');
            }
            other => tail.push_str(&other.to_string()),
        }
        let params = start..tail.len();
        tail.push('}');
        Self { method: method.into(), tail: tail.into_bytes(), params, open: place }
    }

    /// The same request with another value for the open member: JSON in one line, which is not
    /// checked. Without an open member it stays as it is.
    #[must_use]
    pub fn exchanged(&self, value: &[u8]) -> Self {
        let Some(open) = self.open.clone() else { return self.clone() };
        let (before, after) = (&self.tail[..open.start], &self.tail[open.end..]);
        let mut tail = Vec::with_capacity(before.len() + value.len() + after.len());
        for part in [before, value, after] {
            tail.extend_from_slice(part);
        }
        let params = self.params.start..tail.len() - 1;
        let open = Some(open.start..open.start + value.len());
        Self { method: self.method.clone(), tail, params, open }
    }

    /// The method that the request calls.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters as they are sent.
    pub fn params(&self) -> &[u8] {
        &self.tail[self.params.clone()]
    }

    /// Appends the request with this id.
    #[inline]
    pub fn write(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(HEAD);
        out.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
        out.extend_from_slice(&self.tail);
    }

    /// The length of the request with this id.
    #[inline]
    pub fn len(&self, id: u64) -> usize {
        HEAD.len() + itoa::Buffer::new().format(id).len() + self.tail.len()
    }
}

/// A notification as one line, without its end.
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Value::is_null")]
        params: &'a Value,
    }
    to_line(&Frame { jsonrpc: "2.0", method, params })
}

/// A reply to a request of the server; `id` is given back as it came.
pub fn reply(id: &[u8], result: Result<&Value, (i64, &str)>) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct ErrorObject<'a> {
        code: i64,
        message: &'a str,
    }
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorObject<'a>>,
    }
    let id: &RawValue = serde_json::from_slice(id).ok()?;
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err((code, message)) => (None, Some(ErrorObject { code, message })),
    };
    Some(to_line(&Frame { jsonrpc: "2.0", id, result, error }))
}

fn to_line(frame: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(frame).expect("frames hold only text keys and finite numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Message, read};
    use serde_json::json;

    #[test]
    fn a_notification_has_no_id_and_no_params_that_are_none() {
        let line = notification("a/b", &json!({"x": "\n"}));
        assert!(!line.contains(&b'\n'));
        let value: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value, json!({"jsonrpc": "2.0", "method": "a/b", "params": {"x": "\n"}}));
        let bare: Value = serde_json::from_slice(&notification("a", &Value::Null)).unwrap();
        assert_eq!(bare, json!({"jsonrpc": "2.0", "method": "a"}));
        assert_eq!(Template::new("a", &Value::Null).method(), "a");
    }

    #[test]
    fn templates_splice_valid_requests() {
        let template =
            Template::new("tools/call", &json!({"name": "e\"\n", "arguments": {"a": 1}}));
        for id in [0, 7, u64::MAX >> 1] {
            let mut out = Vec::new();
            template.write(id, &mut out);
            assert_eq!(out.len(), template.len(id));
            assert!(!out.contains(&b'\n'));
            let value: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value["id"], json!(id));
            assert_eq!(value["params"]["arguments"]["a"], 1);
            assert_eq!(
                serde_json::from_slice::<Value>(template.params()).unwrap(),
                value["params"]
            );
        }
    }

    #[test]
    fn one_member_can_be_exchanged_again_and_again() {
        let params = json!({"_meta": {"arguments": 1}, "arguments": {"a": 1}, "name": "t"});
        let template = Template::with_open("tools/call", &params, "arguments");
        let longer = template.exchanged(br#"{"text":"a longer one"}"#);
        for (template, expected) in [
            (longer.clone(), json!({"text": "a longer one"})),
            (longer.exchanged(b"{}"), json!({})),
            (longer.exchanged(b"{}").exchanged(br#"{"a":1}"#), json!({"a": 1})),
        ] {
            let mut out = Vec::new();
            template.write(7, &mut out);
            let frame: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(out.len(), template.len(7));
            assert_eq!(frame["params"]["arguments"], expected);
            assert_eq!(frame["params"]["_meta"], params["_meta"]);
            let sent: Value = serde_json::from_slice(template.params()).unwrap();
            assert_eq!(sent, frame["params"]);
        }
        let closed = Template::new("tools/call", &params);
        assert_eq!(closed.exchanged(b"{}"), closed);
    }

    #[test]
    fn replies_give_the_id_back_as_it_came() {
        let line = reply(b"\"x-1\"", Ok(&json!({}))).unwrap();
        assert_eq!(line, br#"{"jsonrpc":"2.0","id":"x-1","result":{}}"#);
        assert!(reply(b"}", Ok(&json!({}))).is_none());
        let line = reply(b"3", Err((-32601, "no"))).unwrap();
        assert!(matches!(read(&line).message, Some(Message::Response { .. })));
    }
}
