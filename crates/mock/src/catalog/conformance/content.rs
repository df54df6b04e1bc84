//! Tools that give one kind of content.

use serde_json::{Value, json};

use super::{AUDIO, IMAGE};
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::{CallResult, Content},
};

pub(super) fn tools() -> Vec<Tool> {
    let image = json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" });
    let audio = json!({ "type": "audio", "data": AUDIO, "mimeType": "audio/wav" });
    vec![
        gives("test_simple_text", text("This is a simple text response for testing.")),
        gives("test_image_content", vec![image.clone()].into()),
        gives("test_audio_content", vec![audio].into()),
        gives(
            "test_embedded_resource",
            json!([{
                "type": "resource",
                "resource": {
                    "uri": "test://embedded-resource",
                    "mimeType": "text/plain",
                    "text": "This is an embedded resource content.",
                },
            }]),
        ),
        gives(
            "test_multiple_content_types",
            json!([
                { "type": "text", "text": "Multiple content types test:" },
                image,
                {
                    "type": "resource",
                    "resource": {
                        "uri": "test://mixed-content-resource",
                        "mimeType": "application/json",
                        "text": "{\"test\":\"data\",\"value\":123}",
                    },
                },
            ]),
        ),
        fails("test_error_handling", "This tool intentionally returns an error for testing"),
        schema_2020_12(),
        custom_headers("test_custom_headers"),
        custom_headers("test_custom_headers_null"),
    ]
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn gives(name: &str, content: Value) -> Tool {
    let listing = listing(name, "A fixture of the conformance suite.", json!({}), &[]);
    Tool::now(listing, move |_| {
        let content = vec![Content::Written(content.clone())];
        CallResult { content, ..CallResult::default() }.into()
    })
}

fn fails(name: &str, why: &'static str) -> Tool {
    let listing = listing(name, "Always fails.", json!({}), &[]);
    Tool::now(listing, move |_| CallResult::error(why).into())
}

/// A schema with keywords that an older dialect lacks; they must reach the client as they are.
fn schema_2020_12() -> Tool {
    let mut listing = listing(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
        json!({}),
        &[],
    );
    listing.input_schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {
                    "street": { "type": "string" },
                    "city": { "type": "string" },
                },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [
            { "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] },
        ],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    Tool::now(listing, |call| CallResult::text(call.raw.to_owned()).into())
}

/// Arguments that modern clients repeat in headers.
fn custom_headers(name: &str) -> Tool {
    let properties = json!({
        "region": { "type": "string", "x-mcp-header": "Region" },
        "priority": { "type": "integer", "x-mcp-header": "Priority" },
        "verbose": { "type": "boolean", "x-mcp-header": "Verbose" },
    });
    let listing = listing(name, "Takes arguments that headers repeat.", properties, &[]);
    Tool::now(listing, |call| CallResult::text(call.raw.to_owned()).into())
}
