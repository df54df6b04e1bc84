//! Gives its arguments back, as written.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{MockTool, Outcome};
use crate::mcp::request::members;

pub(super) const ENTRY: MockTool = MockTool {
    name: "echo",
    description: "Gives its arguments back as JSON text.",
    input_schema,
    annotations,
    call,
};

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "Anything." } },
    })
}

fn annotations() -> Value {
    json!({ "readOnlyHint": true })
}

fn call(arguments: &str) -> Outcome<'_> {
    let mut is_valid = true;
    members(arguments.as_bytes(), |key, value| {
        if key == "text" {
            is_valid = value.starts_with(b"\"");
        }
    });
    if is_valid {
        Outcome { text: Cow::Borrowed(arguments), is_error: false }
    } else {
        Outcome { text: "`text` is not a string".into(), is_error: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back_as_written() {
        for arguments in ["{}", r#"{"text": "\u00e9\n", "b": 1.50, "a": [1]}"#] {
            assert_eq!(call(arguments), Outcome { text: arguments.into(), is_error: false });
        }
    }

    #[test]
    fn a_text_that_is_none_is_a_tool_error() {
        assert!(call(r#"{"text":5}"#).is_error);
        assert!(call(r#"{"text":null}"#).is_error);
    }
}
