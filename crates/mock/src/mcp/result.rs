//! What a tool call comes to, and how the revisions write it.

use std::borrow::Cow;

use mcp_loadtest_core::mcp::Revision;
use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::{Value, value::RawValue};

use super::refusal::Refusal;

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A result, good or bad.
    Result(CallResult),
    /// No result: a JSON-RPC error, and the word for it in the audit log.
    Refused(Refusal, Option<&'static str>),
    /// Arguments that the tool cannot take.
    BadArguments(BadArguments),
    /// Modern: the client has to be asked first.
    InputRequired(Value),
}

/// What is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadArguments {
    /// For the client, with the values that it has sent.
    pub(crate) told: String,
    /// For the audit log, without them: any of them may be a secret.
    pub(crate) logged: String,
}

impl From<CallResult> for Outcome {
    fn from(result: CallResult) -> Self {
        Self::Result(result)
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal, None)
    }
}

/// A `CallToolResult`.
#[derive(Debug, Default)]
pub(crate) struct CallResult {
    pub(crate) content: Vec<Content>,
    pub(crate) structured: Option<Box<RawValue>>,
    pub(crate) is_error: bool,
    /// The word for it in the audit log.
    pub(crate) category: Option<&'static str>,
}

/// One block of content.
#[derive(Debug)]
pub(crate) enum Content {
    /// Text.
    Text(Cow<'static, str>),
    /// A whole list of blocks that somebody else wrote.
    Written(Value),
}

impl CallResult {
    /// One block of text.
    pub(crate) fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self { content: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// One block of text that says what went wrong.
    pub(crate) fn error(text: impl Into<Cow<'static, str>>) -> Self {
        Self { is_error: true, category: Some("tool"), ..Self::text(text) }
    }

    /// A value, as structured content and as text for clients that know no such thing.
    pub(crate) fn value(value: &impl Serialize) -> Self {
        let text = serde_json::to_string(value).expect("results have text keys");
        let structured = RawValue::from_string(text.clone()).expect("it was just written");
        Self { structured: Some(structured), ..Self::text(text) }
    }

    /// As `revision` writes it.
    pub(crate) fn written(&self, revision: Revision) -> Written<'_> {
        Written { result: self, revision }
    }
}

/// A result on its way into a frame.
pub(crate) struct Written<'a> {
    result: &'a CallResult,
    revision: Revision,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("CallToolResult", 3)?;
        match &*self.result.content {
            [Content::Written(blocks)] => object.serialize_field("content", blocks)?,
            blocks => object.serialize_field("content", blocks)?,
        }
        if let Some(structured) = &self.result.structured
            && self.revision >= Revision::V2025_06_18
        {
            object.serialize_field("structuredContent", structured)?;
        }
        object.serialize_field("isError", &self.result.is_error)?;
        object.end()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => {
                let mut object = serializer.serialize_struct("TextContent", 2)?;
                object.serialize_field("type", "text")?;
                object.serialize_field("text", text)?;
                object.end()
            }
            Self::Written(blocks) => blocks.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn structured_content_is_for_revisions_that_have_it() {
        let result = CallResult::value(&json!({"a": 1}));
        let written =
            |revision| serde_json::to_value(result.written(revision)).expect("it is JSON");
        let block = json!([{"type": "text", "text": "{\"a\":1}"}]);
        assert_eq!(written(Revision::V2025_03_26), json!({"content": block, "isError": false}));
        assert_eq!(written(Revision::V2025_06_18)["structuredContent"], json!({"a": 1}));
        assert_eq!(written(Revision::V2026_07_28)["content"], block);
    }
}
