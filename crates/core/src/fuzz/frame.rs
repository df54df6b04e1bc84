//! Frames written by hand, so that every byte of them is known.

use serde_json::Value;

/// A request as its parts are written; the method may be any JSON.
pub(super) fn request(id: u64, method: &str, params: Option<&str>) -> Vec<u8> {
    let params = params.map(|params| format!(",\"params\":{params}")).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}{params}}}").into_bytes()
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The object of parameters with what each request of the era carries besides.
pub(super) fn params(members: &str, meta: Option<&Value>) -> String {
    match meta {
        None => format!("{{{members}}}"),
        Some(meta) if members.is_empty() => format!("{{\"_meta\":{meta}}}"),
        Some(meta) => format!("{{{members},\"_meta\":{meta}}}"),
    }
}

/// A tool call with these arguments.
pub(super) fn tool_call(id: u64, tool: &str, arguments: &str, meta: Option<&Value>) -> Vec<u8> {
    let members = format!("\"name\":{},\"arguments\":{arguments}", quoted(tool));
    request(id, "\"tools/call\"", Some(&params(&members, meta)))
}
