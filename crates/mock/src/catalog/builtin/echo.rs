//! Gives its arguments back, as written, and whatever somebody put beside them on the way.

use serde_json::{json, value::RawValue};

use super::read_only;
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
};

pub(super) fn tool() -> Tool {
    let mut listing = listing(
        "echo",
        "Gives its arguments back: as text exactly as they arrived, and as structured content.",
        json!({
            "message": { "type": "string", "description": "Anything." },
            "extras": { "type": "object", "description": "Anything else." },
        }),
        &[],
    );
    // A gateway that adds arguments is to be seen, not to be refused.
    listing.input_schema["additionalProperties"] = true.into();
    listing.annotations = read_only();
    Tool::now(listing, |call| {
        let structured = RawValue::from_string(call.raw.to_owned()).ok();
        CallResult { structured, ..CallResult::text(call.raw.to_owned()) }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{call, result, texts},
        *,
    };

    #[test]
    fn arguments_come_back_with_whatever_was_added() {
        let given = json!({"message": "é\n", "injected": [1.50], "extras": {"a": null}});
        let result = result(call(&tool(), given.clone()));
        assert_eq!(texts(&result), [given.to_string()]);
        assert_eq!(result.structured.unwrap().get(), given.to_string());
        assert!(tool().check(&json!({"message": 5})).is_err());
    }
}
