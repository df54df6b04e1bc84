//! Frames, appended to a buffer that the transport owns. Ids go back as they came.

use mcp_loadtest_core::mcp::{Era, method};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, json};

use super::{ServerInfo, refusal::Refusal};

/// The id of a reply to something whose id could not be read.
pub(crate) const NO_ID: &[u8] = b"null";

/// A result with what the modern era adds to every one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Complete<'a, T> {
    #[serde(flatten)]
    body: &'a T,
    result_type: &'static str,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

struct Meta<'a>(&'a ServerInfo);

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(method::META_SERVER_INFO, self.0)?;
        map.end()
    }
}

/// Appends a result as its era wants it. `id` must be JSON.
pub(crate) fn result(
    out: &mut Vec<u8>,
    id: &[u8],
    era: Era,
    info: &ServerInfo,
    body: &impl Serialize,
) {
    match era {
        Era::Legacy => frame(out, id, "result", body),
        Era::Modern => {
            let meta = Meta(info);
            frame(out, id, "result", &Complete { body, result_type: "complete", meta });
        }
    }
}

/// Appends a result that says itself how complete it is.
pub(crate) fn bare_result(out: &mut Vec<u8>, id: &[u8], body: &impl Serialize) {
    frame(out, id, "result", body);
}

/// A message that wants no reply.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        .to_string()
        .into_bytes()
}

/// Appends an error. `id` must be JSON.
pub(crate) fn error(out: &mut Vec<u8>, id: &[u8], refusal: &Refusal) {
    frame(out, id, "error", refusal);
}

fn frame(out: &mut Vec<u8>, id: &[u8], member: &str, value: &impl Serialize) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
    serde_json::to_writer(&mut *out, value)
        .expect("replies have text keys and a buffer that grows");
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modern_results_say_that_they_are_complete() {
        let (mut out, info) = (Vec::new(), ServerInfo::default());
        result(&mut out, b"\"a\"", Era::Legacy, &info, &json!({"x": 1}));
        assert_eq!(out, br#"{"jsonrpc":"2.0","id":"a","result":{"x":1}}"#);
        out.clear();
        result(&mut out, b"7", Era::Modern, &info, &json!({"x": 1}));
        let reply: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(reply["result"]["resultType"], "complete");
        assert_eq!(reply["result"]["x"], 1);
        assert!(reply["result"]["_meta"][method::META_SERVER_INFO]["name"].is_string());
    }

    #[test]
    fn an_error_has_data_only_where_there_is_some() {
        let mut out = Vec::new();
        error(&mut out, NO_ID, &Refusal::invalid_request("no"));
        assert_eq!(out, br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#);
    }
}
