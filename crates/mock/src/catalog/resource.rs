//! What can be read: single resources, and families of them under one template.

use serde::Serialize;
use serde_json::{Value, json};

/// One resource.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    #[serde(skip)]
    pub(crate) body: Body,
}

/// What is in a resource.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
}

/// A family of resources: a URI with one part in braces, and a text in which that part is filled in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Template {
    pub(crate) uri_template: String,
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    #[serde(skip)]
    pub(crate) text: String,
}

impl Resource {
    /// The entry of a `resources/read` result.
    pub(crate) fn contents(&self) -> Value {
        let (key, body) = match &self.body {
            Body::Text(text) => ("text", text),
            Body::Blob(blob) => ("blob", blob),
        };
        contents(&self.uri, self.mime_type.as_deref(), key, body)
    }
}

impl Template {
    /// The entry of a `resources/read` result, if the URI belongs to the family.
    pub(crate) fn contents(&self, uri: &str) -> Option<Value> {
        let (before, rest) = self.uri_template.split_once('{')?;
        let (name, after) = rest.split_once('}')?;
        let value = uri.strip_prefix(before)?.strip_suffix(after)?;
        if value.is_empty() || value.contains('/') {
            return None;
        }
        let text = self.text.replace(&format!("{{{name}}}"), value);
        Some(contents(uri, self.mime_type.as_deref(), "text", &text))
    }
}

fn contents(uri: &str, mime_type: Option<&str>, key: &str, body: &str) -> Value {
    let mut contents = json!({ "uri": uri });
    if let Some(mime_type) = mime_type {
        contents["mimeType"] = mime_type.into();
    }
    contents[key] = body.into();
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_fills_its_part_in() {
        let template = Template {
            uri_template: "test://a/{id}/b".into(),
            name: "n".into(),
            description: "d".into(),
            mime_type: None,
            text: "id={id}".into(),
        };
        assert_eq!(
            template.contents("test://a/7/b"),
            Some(json!({"uri": "test://a/7/b", "text": "id=7"}))
        );
        for other in ["test://a//b", "test://a/1/2/b", "test://a/7/c", "x"] {
            assert_eq!(template.contents(other), None, "{other}");
        }
    }
}
