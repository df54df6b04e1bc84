//! Resources and prompts.

use mcp_loadtest_core::mcp::method;
use serde_json::{Value, json};

use super::IMAGE;
use crate::catalog::{
    Catalog,
    prompt::{Argument, Prompt},
    resource::{Body, Resource, Template},
};

pub(super) fn furnish(catalog: &mut Catalog) {
    catalog.resources.extend([
        resource(
            "static-text",
            "text/plain",
            Body::Text("This is the content of the static text resource.".into()),
        ),
        resource("static-binary", "image/png", Body::Blob(IMAGE.into())),
        resource("watched-resource", "text/plain", Body::Text("It may change.".into())),
    ]);
    catalog.templates.push(Template {
        uri_template: "test://template/{id}/data".into(),
        name: "template".into(),
        description: "Data for any id.".into(),
        mime_type: Some("application/json".into()),
        text: r#"{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}"#.into(),
    });
    catalog.prompts.extend(prompts());
}

fn resource(name: &str, mime_type: &str, body: Body) -> Resource {
    Resource {
        uri: format!("test://{name}"),
        name: name.into(),
        description: "A fixture of the conformance suite.".into(),
        mime_type: Some(mime_type.into()),
        body,
    }
}

fn prompts() -> Vec<Prompt> {
    let says = |text: &str| json!({ "role": "user", "content": { "type": "text", "text": text } });
    let image = json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" });
    let embedded = json!({
        "type": "resource",
        "resource": {
            "uri": "${args.resourceUri}",
            "mimeType": "text/plain",
            "text": "Embedded resource content for testing.",
        },
    });
    let asks = json!({
        "user_context": {
            "method": method::ELICITATION,
            "params": {
                "message": "What context should the prompt use?",
                "requestedSchema": {
                    "type": "object",
                    "properties": { "context": { "type": "string" } },
                    "required": ["context"],
                },
            },
        },
    });
    vec![
        prompt("test_simple_prompt", &[], json!([says("This is a simple prompt for testing.")])),
        prompt(
            "test_prompt_with_arguments",
            &["arg1", "arg2"],
            json!([says("Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'")]),
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            &["resourceUri"],
            json!([
                { "role": "user", "content": embedded },
                says("Please process the embedded resource above."),
            ]),
        ),
        prompt(
            "test_prompt_with_image",
            &[],
            json!([
                { "role": "user", "content": image },
                says("Please analyze the image above."),
            ]),
        ),
        Prompt {
            asks: Some(asks),
            ..prompt(
                "test_input_required_result_prompt",
                &[],
                json!([says(
                    "Use this context: ${args.inputResponses.user_context.content.context}"
                )]),
            )
        },
    ]
}

fn prompt(name: &str, arguments: &[&str], messages: Value) -> Prompt {
    let argument = |name: &&str| Argument {
        name: (*name).into(),
        description: "Anything.".into(),
        required: true,
    };
    Prompt {
        name: name.into(),
        description: "A fixture of the conformance suite.".into(),
        arguments: arguments.iter().map(argument).collect(),
        messages,
        asks: None,
    }
}
