//! An answer of exactly the size that was asked for.

use serde_json::json;

use super::whole;
use crate::{
    catalog::tool::{Tool, listing},
    mcp::{refusal::Refusal, result::CallResult},
};

const LARGEST: i64 = 1 << 20;

pub(super) fn tool() -> Tool {
    let size = json!({ "type": "integer", "description": "In bytes, up to 1048576." });
    let description = "Gives a text of so many bytes: the alphabet, again and again.";
    let mut listing = listing("sized_response", description, json!({ "size": size }), &["size"]);
    listing.annotations = Some(json!({ "readOnlyHint": true, "idempotentHint": true }));
    Tool::now(listing, |call| {
        let size = whole(&call.arguments["size"]).unwrap_or(-1);
        if !(0..=LARGEST).contains(&size) {
            let why = format!("`size` is not between 0 and {LARGEST}");
            return Refusal::invalid_params(why).into();
        }
        let body: String = ('a'..='z').cycle().take(size as usize).collect();
        CallResult::value(&json!({ "body": body, "size": size })).into()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{
        super::tests::{call, result},
        *,
    };
    use crate::mcp::result::Outcome;

    #[test]
    fn the_size_is_exact() {
        for size in [0, 1, 27, LARGEST] {
            let result = result(call(&tool(), json!({ "size": size })));
            let told: Value = serde_json::from_str(result.structured.unwrap().get()).unwrap();
            assert_eq!(told["body"].as_str().unwrap().len() as i64, size);
        }
        for size in [-1, LARGEST + 1] {
            assert!(matches!(call(&tool(), json!({ "size": size })), Outcome::Refused(..)));
        }
    }
}
