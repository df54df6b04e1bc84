//! The frames of replies that faults make.

use serde_json::{Value, json};

use super::treatment::{HANG_CODE, HANG_MESSAGE, Instead};
use crate::mcp::Era;

/// The code of a request in a session that is gone, with the code that SDKs use for it.
const SESSION_NOT_FOUND: i64 = -32001;

impl Instead {
    /// The message that takes the reply's place, without a line end: for a hang, the one that ends
    /// it. `id` must be JSON. Nothing where no message is sent.
    pub fn frame(&self, id: &[u8], era: Era) -> Option<Vec<u8>> {
        match self {
            Self::Hang | Self::LazyInit => Some(error(id, HANG_CODE, HANG_MESSAGE, None)),
            Self::Error { code, message, data } => Some(error(id, *code, message, data.as_ref())),
            Self::ToolError { text } => Some(tool_error(id, text, era)),
            Self::SessionLost => Some(error(id, SESSION_NOT_FOUND, "Session not found", None)),
            Self::Http { .. } | Self::Cut(_) | Self::Crash(_) => None,
        }
    }
}

fn error(id: &[u8], code: i64, message: &str, data: Option<&Value>) -> Vec<u8> {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    frame(id, "error", &error)
}

fn tool_error(id: &[u8], text: &str, era: Era) -> Vec<u8> {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if era == Era::Modern {
        result["resultType"] = "complete".into();
    }
    frame(id, "result", &result)
}

fn frame(id: &[u8], member: &str, value: &Value) -> Vec<u8> {
    let mut frame = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    frame.extend_from_slice(id);
    frame.extend_from_slice(format!(",\"{member}\":{value}}}").as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Cut;

    #[test]
    fn what_stands_for_the_reply_is_framed() {
        let error = Instead::Error { code: 5, message: "m".into(), data: Some(json!({"a": 1})) };
        for (instead, expected) in [
            (Instead::LazyInit, json!({"code": -32000, "message": HANG_MESSAGE})),
            (error, json!({"code": 5, "message": "m", "data": {"a": 1}})),
            (Instead::SessionLost, json!({"code": -32001, "message": "Session not found"})),
        ] {
            let frame = instead.frame(b"3", Era::Legacy).unwrap();
            let frame: Value = serde_json::from_slice(&frame).unwrap();
            assert_eq!(frame, json!({"jsonrpc": "2.0", "id": 3, "error": expected}));
        }
        let http = Instead::Http { status: 503, retry_after: None, www_authenticate: false };
        for instead in [Instead::Cut(Cut::Reset), http] {
            assert_eq!(instead.frame(b"3", Era::Legacy), None, "{instead:?}");
        }
    }
}
