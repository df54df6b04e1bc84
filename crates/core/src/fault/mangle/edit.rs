//! Changes to what a reply says. A reply that is no JSON object stays as it is.

use serde_json::{Map, Value, json};

/// What separates an id from the one that was asked for: far from any that is in use.
const ID_OFFSET: i64 = 1 << 30;

type Object = Map<String, Value>;

fn edit(message: &mut Vec<u8>, change: impl FnOnce(&mut Object)) {
    let Ok(mut object) = serde_json::from_slice::<Object>(message) else { return };
    change(&mut object);
    *message = Value::Object(object).to_string().into_bytes();
}

/// Another id of the same type.
pub(super) fn wrong_id(message: &mut Vec<u8>) {
    edit(message, |object| {
        let id = match object.get("id") {
            Some(Value::String(id)) => json!(format!("{id}-other")),
            Some(Value::Number(id)) => json!(id.as_i64().unwrap_or(0).wrapping_add(ID_OFFSET)),
            _ => json!(ID_OFFSET),
        };
        object.insert("id".into(), id);
    });
}

/// Pads the first text of the content, the message of an error, or else `_meta`.
pub(super) fn oversized(message: &mut Vec<u8>, bytes: usize) {
    edit(message, |object| {
        if let Some(Value::String(text)) =
            object.get_mut("error").and_then(|e| e.get_mut("message"))
        {
            return pad(text, bytes);
        }
        let Some(Value::Object(result)) = object.get_mut("result") else { return };
        if let Some(Value::Array(blocks)) = result.get_mut("content") {
            let texts = blocks.iter_mut().filter_map(|block| match block.get_mut("text") {
                Some(Value::String(text)) => Some(text),
                _ => None,
            });
            if let Some(text) = texts.into_iter().next() {
                return pad(text, bytes);
            }
            blocks.push(json!({ "type": "text", "text": padding(bytes) }));
        } else {
            let meta = result.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(meta) = meta {
                meta.insert("padding".into(), padding(bytes).into());
            }
        }
    });
}

fn pad(text: &mut String, bytes: usize) {
    let missing = bytes.saturating_sub(text.len());
    text.push_str(&padding(missing));
}

fn padding(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Lists become texts and `isError` a word, which no revision's schema allows.
pub(super) fn schema_violation(message: &mut Vec<u8>) {
    edit(message, |object| {
        // An error reply has no result to spoil, and gets one.
        object.remove("error");
        let result = object.entry("result").or_insert_with(|| json!({}));
        let Value::Object(result) = result else { return };
        if !result.values().any(Value::is_array) {
            result.insert("content".into(), json!([]));
        }
        for (key, value) in result.iter_mut() {
            if value.is_array() {
                *value = json!("not a list");
            } else if key == "isError" {
                *value = json!("perhaps");
            }
        }
    });
}

/// How every cursor begins that a fault makes up, so that a server can tell them from nonsense.
pub const CURSOR_PREFIX: &str = "page-";

/// One more page, with a cursor that no page had.
pub(super) fn next_cursor(message: &mut Vec<u8>, page: u64) {
    edit(message, |object| {
        if let Some(Value::Object(result)) = object.get_mut("result") {
            result.insert(
                "nextCursor".into(),
                json!(format!("{CURSOR_PREFIX}{}", page.saturating_add(1))),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(reply: Value, change: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut message = reply.to_string().into_bytes();
        change(&mut message);
        serde_json::from_slice(&message).unwrap()
    }

    #[test]
    fn an_id_becomes_another_of_its_type() {
        for (id, other) in [
            (json!("a"), json!("a-other")),
            (json!(7), json!(7 + ID_OFFSET)),
            (json!(null), json!(ID_OFFSET)),
        ] {
            assert_eq!(changed(json!({"id": id}), wrong_id), json!({"id": other}));
        }
        let mut log = b"no json".to_vec();
        wrong_id(&mut log);
        assert_eq!(log, b"no json");
    }

    #[test]
    fn the_first_text_of_a_reply_is_padded() {
        let padded = |reply| changed(reply, |message| oversized(message, 6));
        let text = |text: &str| json!({"type": "text", "text": text});
        let image = json!({"type": "image", "data": "x"});
        for (reply, expected) in [
            (json!({"error": {"message": "no"}}), json!({"error": {"message": "noxxxx"}})),
            (
                json!({"result": {"content": [image, text("abc"), text("d")]}}),
                json!({"result": {"content": [image, text("abcxxx"), text("d")]}}),
            ),
            (
                json!({"result": {"content": [image]}}),
                json!({"result": {"content": [image, text("xxxxxx")]}}),
            ),
            (json!({"result": {}}), json!({"result": {"_meta": {"padding": "xxxxxx"}}})),
            (
                json!({"result": {"content": [text("longer")]}}),
                json!({"result": {"content": [text("longer")]}}),
            ),
            (json!({"method": "x"}), json!({"method": "x"})),
        ] {
            assert_eq!(padded(reply), expected);
        }
    }

    #[test]
    fn a_result_that_breaks_the_schema_keeps_what_no_rule_is_about() {
        for (reply, expected) in [
            (
                json!({"id": 1, "result": {"content": [1], "isError": false, "n": 5}}),
                json!({"id": 1, "result": {"content": "not a list", "isError": "perhaps", "n": 5}}),
            ),
            (
                json!({"result": {"tools": [], "nextCursor": "a"}}),
                json!({"result": {"tools": "not a list", "nextCursor": "a"}}),
            ),
            (
                json!({"result": {"protocolVersion": "x"}}),
                json!({"result": {"protocolVersion": "x", "content": "not a list"}}),
            ),
            (json!({"error": {"code": 1}}), json!({"result": {"content": "not a list"}})),
            (json!({"result": 5}), json!({"result": 5})),
        ] {
            assert_eq!(changed(reply, schema_violation), expected);
        }
    }

    #[test]
    fn only_a_result_has_a_next_page() {
        let paged = |reply, page| changed(reply, |message| next_cursor(message, page));
        let with = |cursor: &str| json!({"result": {"nextCursor": cursor}});
        assert_eq!(paged(json!({"result": {}}), 1), with("page-2"));
        assert_eq!(paged(with("page-2"), 2), with("page-3"));
        assert_eq!(paged(json!({"error": {}}), 1), json!({"error": {}}));
    }
}
