//! Tools that say something before they answer, or ask the client first.

use std::time::Duration;

use mcp_loadtest_core::mcp::{Era, method};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    catalog::tool::{Tool, listing},
    mcp::{
        refusal::{Refusal, code},
        result::{CallResult, Outcome},
    },
    server::{Change, exchange::Exchange},
};

/// Long enough to be seen as two events, short enough to be waited for.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn tools() -> Vec<Tool> {
    let prompt = json!({ "prompt": { "type": "string" } });
    let message = json!({ "message": { "type": "string" } });
    let plain = |name: &str| listing(name, "A fixture of the conformance suite.", json!({}), &[]);
    vec![
        Tool::later(plain("test_tool_with_logging"), with_logging),
        Tool::later(plain("test_logging_tool"), with_logging),
        Tool::later(plain("test_tool_with_progress"), with_progress),
        Tool::later(listing("test_sampling", "Asks the model.", prompt, &["prompt"]), sampling),
        Tool::later(
            listing("test_elicitation", "Asks the user.", message, &["message"]),
            |exchange| async move {
                let message = exchange.arguments()["message"].clone();
                elicit(&exchange, message, contact_form(), "User response: <", ">").await
            },
        ),
        Tool::later(plain("test_elicitation_sep1034_defaults"), |exchange| async move {
            let message = "Please review and update the form fields with defaults".into();
            elicit(&exchange, message, defaults_form(), "Elicitation completed: ", "").await
        }),
        Tool::later(plain("test_elicitation_sep1330_enums"), |exchange| async move {
            let message = "Please choose".into();
            elicit(&exchange, message, enums_form(), "Elicitation completed: ", "").await
        }),
        Tool::later(plain("test_streaming_elicitation"), streaming),
        Tool::later(plain("test_missing_capability"), missing_capability),
        Tool::later(plain("test_trigger_tool_change"), |exchange| async move {
            announce(&exchange, Change::Tools)
        }),
        Tool::later(plain("test_trigger_prompt_change"), |exchange| async move {
            announce(&exchange, Change::Prompts)
        }),
        Tool::later(plain("test_trigger_resource_change"), |exchange| async move {
            announce(&exchange, Change::Resource("test://watched-resource".into()))
        }),
    ]
}

async fn with_logging(exchange: Exchange) -> Outcome {
    exchange.log("info", "Tool execution started").await;
    sleep(PAUSE).await;
    exchange.log("info", "Tool processing data").await;
    sleep(PAUSE).await;
    exchange.log("info", "Tool execution completed").await;
    CallResult::text("Tool with logging executed successfully").into()
}

async fn with_progress(exchange: Exchange) -> Outcome {
    for step in [0.0, 50.0, 100.0] {
        exchange.progress(step, 100.0, None).await;
        sleep(PAUSE).await;
    }
    CallResult::text("Tool with progress executed successfully").into()
}

async fn sampling(exchange: Exchange) -> Outcome {
    if let Err(outcome) = check(&exchange, "sampling") {
        return outcome;
    }
    let prompt = &exchange.arguments()["prompt"];
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": prompt } }]);
    let params = json!({ "messages": messages, "maxTokens": 100 });
    match exchange.ask(method::SAMPLING, &params).await {
        Ok(answer) => {
            let text = answer["content"]["text"].as_str().unwrap_or_default();
            CallResult::text(format!("LLM response: {text}")).into()
        }
        Err(refusal) => CallResult::error(refusal.message).into(),
    }
}

async fn elicit(
    exchange: &Exchange,
    message: Value,
    form: Value,
    before: &str,
    after: &str,
) -> Outcome {
    if let Err(outcome) = check(exchange, "elicitation") {
        return outcome;
    }
    let params = json!({ "message": message, "requestedSchema": form });
    match exchange.ask(method::ELICITATION, &params).await {
        Ok(answer) => {
            let action = answer["action"].as_str().unwrap_or("none");
            let content = &answer["content"];
            let told = match before.ends_with('<') {
                true => format!("{before}action: {action}, content: {content}{after}"),
                false => format!("{before}action={action}, content={content}{after}"),
            };
            CallResult::text(told).into()
        }
        Err(refusal) => CallResult::error(refusal.message).into(),
    }
}

/// Whether the client can be asked: it must be able to, and the era must know questions.
fn check(exchange: &Exchange, capability: &str) -> Result<(), Outcome> {
    if exchange.revision().era() == Era::Modern {
        let why = "this revision has no requests from the server; use the tools with \
                   `input_required` in their name";
        return Err(CallResult::error(why).into());
    }
    if !exchange.client_can(capability) {
        return Err(CallResult::error(format!("the client does not support {capability}")).into());
    }
    Ok(())
}

/// Modern: whatever is asked is asked by the result, never by a request in the stream.
async fn streaming(exchange: Exchange) -> Outcome {
    exchange.progress(0.0, 1.0, None).await;
    sleep(PAUSE).await;
    let ask = json!({
        "method": method::ELICITATION,
        "params": { "message": "Go on?", "requestedSchema": { "type": "object", "properties": {} } },
    });
    if exchange.params()["inputResponses"].is_object() || !exchange.client_can("elicitation") {
        return CallResult::text("Streaming elicitation completed").into();
    }
    Outcome::InputRequired(
        json!({ "resultType": "input_required", "inputRequests": { "go_on": ask } }),
    )
}

async fn missing_capability(exchange: Exchange) -> Outcome {
    if exchange.client_can("sampling") {
        return CallResult::text("The client can sample").into();
    }
    let data = json!({ "requiredCapabilities": { "sampling": {} } });
    let message = "the client has not declared `sampling`".into();
    Refusal { code: code::MISSING_CAPABILITY, message, data: Some(data) }.into()
}

fn announce(exchange: &Exchange, change: Change) -> Outcome {
    exchange.server().announce(change);
    CallResult::text("The change has been announced").into()
}

fn contact_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User age", "default": 30 },
            "score": { "type": "number", "description": "User score", "default": 95.5 },
            "status": {
                "type": "string",
                "description": "User status",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "description": "Verified", "default": true },
        },
        "required": [],
    })
}

fn enums_form() -> Value {
    let titled = |what: &str| {
        json!([
            { "const": "value1", "title": format!("First {what}") },
            { "const": "value2", "title": format!("Second {what}") },
            { "const": "value3", "title": format!("Third {what}") },
        ])
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "description": "Pick one", "enum": options },
            "titledSingle": { "type": "string", "description": "Pick one", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "description": "Pick one",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "description": "Pick some",
                "items": { "type": "string", "enum": options },
            },
            "titledMulti": {
                "type": "array",
                "description": "Pick some",
                "items": { "anyOf": titled("Choice") },
            },
        },
        "required": [],
    })
}
