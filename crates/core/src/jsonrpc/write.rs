//! The strict writer: frames that are always right, and requests spliced from a template.

use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// A request that differs from call to call only in its id: `head` + id + `tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    method: String,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Where the parameters stand in `tail`, for the trace.
    params: std::ops::Range<usize>,
}

impl Template {
    /// Prepares a request. `params` must be an object; the frame is one line.
    pub fn new(method: &str, params: &Value) -> Self {
        let head = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
        let quoted = Value::String(method.to_owned()).to_string();
        let params = params.to_string();
        let before = format!(",\"method\":{quoted},\"params\":");
        let range = before.len()..before.len() + params.len();
        let tail = format!("{before}{params}}}").into_bytes();
        Self { method: method.to_owned(), head, tail, params: range }
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
        out.extend_from_slice(&self.head);
        out.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
        out.extend_from_slice(&self.tail);
    }

    /// The length of the request with this id.
    #[inline]
    pub fn len(&self, id: u64) -> usize {
        self.head.len() + itoa::Buffer::new().format(id).len() + self.tail.len()
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
    fn replies_give_the_id_back_as_it_came() {
        let line = reply(b"\"x-1\"", Ok(&json!({}))).unwrap();
        assert_eq!(line, br#"{"jsonrpc":"2.0","id":"x-1","result":{}}"#);
        assert!(reply(b"}", Ok(&json!({}))).is_none());
        let line = reply(b"3", Err((-32601, "no"))).unwrap();
        assert!(matches!(read(&line).message, Some(Message::Response { .. })));
    }
}
