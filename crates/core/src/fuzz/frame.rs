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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_what_their_parts_say() {
        let meta = serde_json::json!({ "k": 1 });
        assert_eq!(params("", None), "{}");
        assert_eq!(params("\"a\":1", None), r#"{"a":1}"#);
        assert_eq!(params("", Some(&meta)), r#"{"_meta":{"k":1}}"#);
        assert_eq!(params("\"a\":1", Some(&meta)), r#"{"a":1,"_meta":{"k":1}}"#);
        assert_eq!(request(7, "5", None), br#"{"jsonrpc":"2.0","id":7,"method":5}"#);
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"b","arguments":[]}}"#;
        assert_eq!(tool_call(7, "a\"b", "[]", None), call.as_bytes());
    }
}
