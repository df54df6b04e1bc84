//! The same key gives the same answer, for ever: whoever rewrites it on the way is seen.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
};

pub(super) fn tool() -> Tool {
    let properties = json!({ "key": { "type": "string", "description": "What to answer to." } });
    let description = "Gives the same answer to the same key, with its SHA-256.";
    let mut listing = listing("fixed_response", description, properties, &["key"]);
    listing.annotations = Some(json!({ "readOnlyHint": true, "idempotentHint": true }));
    Tool::now(listing, |call| {
        let key = call.arguments["key"].as_str().unwrap_or_default();
        let hash: String =
            Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let body = format!("fixed[{key}]: {hash}");
        CallResult::value(&json!({ "body": body, "hash": hash, "key": key })).into()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{
        super::tests::{call, result},
        *,
    };

    #[test]
    fn the_answer_can_be_computed_by_anybody() {
        let result = result(call(&tool(), json!({"key": "abc"})));
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let told: Value = serde_json::from_str(result.structured.unwrap().get()).unwrap();
        let expected = json!({"key": "abc", "hash": hash, "body": format!("fixed[abc]: {hash}")});
        assert_eq!(told, expected);
    }
}
