//! Made-up arguments that a tool may echo. A reply that carries the token of another call then shows
//! that replies get mixed up, without anybody having asked for it.

use serde_json::Value;

/// Whether a reply has to give its nonce back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// It has to: somebody wrote `{{nonce}}`.
    Must,
    /// It need not; only the nonce of another call is wrong.
    May,
}

/// Names of parameters that are plain text, for which any word is as good as another.
const PLAIN: &[&str] = &[
    "body", "content", "data", "echo", "input", "message", "msg", "payload", "string", "text",
    "value",
];

/// The same arguments with `{{nonce}}` in one that is plain text; nothing where there is none.
pub fn with_nonce(arguments: &Value, schema: &Value) -> Option<Value> {
    let members = arguments.as_object()?;
    if members.values().any(|value| value.to_string().contains("{{")) {
        return None;
    }
    let (name, _) = members.iter().find(|(name, value)| {
        value.is_string()
            && PLAIN.contains(&name.to_ascii_lowercase().as_str())
            && is_plain(&schema["properties"][name.as_str()])
    })?;
    let mut arguments = arguments.clone();
    arguments[name.as_str()] = "{{nonce}}".into();
    Some(arguments)
}

/// A string without any further rule.
fn is_plain(schema: &Value) -> bool {
    let known = ["type", "title", "description"];
    schema["type"] == "string"
        && schema.as_object().is_some_and(|all| all.keys().all(|key| known.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_plain_text_carries_a_nonce() {
        let schema = json!({"properties": {
            "text": {"type": "string", "description": "What to say."},
            "value": {"type": "string", "enum": ["a"]},
            "city": {"type": "string"},
        }});
        assert_eq!(
            with_nonce(&json!({"city": "Bern", "text": "hello"}), &schema),
            Some(json!({"city": "Bern", "text": "{{nonce}}"}))
        );
        for other in [json!({"value": "a"}), json!({"city": "Bern"}), json!({"text": 5}), json!([])]
        {
            assert_eq!(with_nonce(&other, &schema), None, "{other}");
        }
        assert_eq!(with_nonce(&json!({"city": "{{x", "text": "a"}), &schema), None);
    }
}
