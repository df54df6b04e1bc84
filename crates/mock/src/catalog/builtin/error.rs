//! Fails as it is told: as a tool, or as a protocol.

use serde_json::{Value, json};

use super::whole;
use crate::{
    catalog::tool::{Call, Tool, listing},
    mcp::{
        refusal::{Refusal, code},
        result::{CallResult, Outcome},
    },
};

/// The categories that the audit log knows.
const CATEGORIES: [&str; 4] = ["protocol", "tool", "timeout", "auth"];

pub(super) fn tool() -> Tool {
    // The list of categories is no `enum` here: another word is to give the same error in every
    // revision, and newer ones answer a broken schema with a tool error.
    let properties = json!({
        "message": { "type": "string", "description": "What it says [default: synthetic error]." },
        "category": {
            "type": "string",
            "description": "For the audit log: protocol, tool, timeout or auth.",
        },
        "as_tool": {
            "type": "boolean",
            "description": "true: a result with isError; false (default): a JSON-RPC error.",
        },
        "code": { "type": "integer", "description": "Of the JSON-RPC error [default: -32603]." },
        "data": { "description": "Of the JSON-RPC error." },
    });
    let description = "Fails, as a tool error or as a JSON-RPC error.";
    Tool::now(listing("error", description, properties, &[]), fail)
}

fn fail(call: &Call<'_>) -> Outcome {
    let text = |key: &str| call.arguments[key].as_str();
    let category = match text("category") {
        None | Some("") => None,
        Some(word) => match CATEGORIES.into_iter().find(|known| *known == word) {
            Some(category) => Some(category),
            None => {
                let known = CATEGORIES.join(", ");
                let why = format!("`{word}` is not a category; use one of {known}");
                return Refusal::invalid_params(why).into();
            }
        },
    };
    let message = text("message").unwrap_or("synthetic error").to_owned();
    if call.arguments["as_tool"] == true {
        let result = CallResult::error(message);
        return CallResult { category: category.or(Some("tool")), ..result }.into();
    }
    let refusal = Refusal {
        code: whole(&call.arguments["code"]).unwrap_or(code::INTERNAL_ERROR),
        message,
        data: call.arguments.get("data").filter(|data| **data != Value::Null).cloned(),
    };
    Outcome::Refused(refusal, category.or(Some("protocol")))
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{call, result, texts},
        *,
    };

    #[test]
    fn the_two_kinds_of_errors_are_kept_apart() {
        let failed = result(call(&tool(), json!({"as_tool": true, "category": "auth"})));
        assert!(failed.is_error);
        assert_eq!((texts(&failed), failed.category), (vec!["synthetic error"], Some("auth")));
        let arguments = json!({"message": "boom", "code": -32050, "data": {"a": 1}});
        let Outcome::Refused(refusal, category) = call(&tool(), arguments) else { panic!() };
        assert_eq!((refusal.code, &*refusal.message), (-32050, "boom"));
        assert_eq!((refusal.data, category), (Some(json!({"a": 1})), Some("protocol")));
    }

    #[test]
    fn a_category_that_is_none_is_an_invalid_parameter() {
        for as_tool in [true, false] {
            let arguments = json!({"category": "nonsense", "as_tool": as_tool});
            let Outcome::Refused(refusal, None) = call(&tool(), arguments) else { panic!() };
            assert_eq!(refusal.code, -32602);
            assert!(refusal.message.contains("protocol, tool, timeout, auth"));
        }
    }
}
