//! What a file of the user declares, made into tools, resources and prompts.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use mcp_loadtest_core::{
    config::ConfigError,
    generate::{self, Budget},
    mcp,
    seed::Seed,
    tools_file::{Answer, Arm, ErrorAnswer, ToolEntry, ToolsFile},
};
use serde_json::{Map, Value, json, value::RawValue};
use tokio::time::sleep;

use super::{
    Catalog,
    fill::fill,
    prompt::{Argument, Prompt},
    resource::{Body, Resource, Template},
    tool::{Later, Run, Tool},
};
use crate::{
    mcp::{
        refusal::{Refusal, code},
        result::{CallResult, Content, Outcome},
    },
    server::session::Session,
};

impl Catalog {
    /// Offers what a file declares.
    pub(crate) fn furnish(&mut self, file: &ToolsFile) -> Result<(), ConfigError> {
        for (index, entry) in file.tools.iter().enumerate() {
            let tool = tool(entry).map_err(|why| {
                ConfigError::new(format!("tools[{index}].input_schema"), why)
                    .with_hint("write a JSON Schema of type `object`")
            })?;
            self.add(tool);
        }
        self.resources.extend(file.resources.iter().map(|entry| Resource {
            uri: entry.uri.clone(),
            name: entry.name.clone(),
            description: entry.description.clone(),
            mime_type: entry.mime_type.clone(),
            body: match (&entry.text, &entry.blob) {
                (None, Some(blob)) => Body::Blob(blob.clone()),
                (text, _) => Body::Text(text.clone().unwrap_or_default()),
            },
        }));
        self.templates.extend(file.resource_templates.iter().map(|entry| Template {
            uri_template: entry.uri_template.clone(),
            name: entry.name.clone(),
            description: entry.description.clone(),
            mime_type: entry.mime_type.clone(),
            text: entry.text.clone(),
        }));
        self.prompts.extend(file.prompts.iter().map(|entry| {
            Prompt {
                name: entry.name.clone(),
                description: entry.description.clone(),
                arguments: entry
                    .arguments
                    .iter()
                    .map(|argument| Argument {
                        name: argument.name.clone(),
                        description: argument.description.clone(),
                        required: argument.required,
                    })
                    .collect(),
                messages: match (&entry.messages, &entry.text) {
                    (Some(messages), _) => messages.clone(),
                    (None, text) => {
                        json!([{ "role": "user", "content": { "type": "text", "text": text } }])
                    }
                },
                asks: None,
            }
        }));
        Ok(())
    }
}

fn tool(entry: &ToolEntry) -> Result<Tool, String> {
    let input_schema = entry.input_schema.clone().unwrap_or_else(|| json!({ "type": "object" }));
    let listing = mcp::Tool {
        name: entry.name.clone(),
        description: entry.description.clone(),
        input_schema,
        output_schema: entry.output_schema.clone(),
        annotations: entry.annotations.clone(),
    };
    let answers = std::sync::Arc::new(Answers::of(entry));
    let run = match answers.takes_time() {
        false => Run::Now(Box::new(move |call| answers.answer(call.arguments, call.session))),
        true => {
            let later: Later = Box::new(move |exchange| {
                let answers = answers.clone();
                Box::pin(async move {
                    sleep(answers.delay(exchange.arguments())).await;
                    answers.answer(exchange.arguments(), exchange.session())
                })
            });
            Run::Later(later)
        }
    };
    let tool = Tool::new(listing, run).map_err(|error| error.to_string())?;
    Ok(tool.with_extra(entry.extra()))
}

/// What a tool answers.
struct Answers {
    tool: String,
    arms: Vec<Arm>,
    /// Turns of clients that have no connection to count by.
    turns: AtomicUsize,
}

impl Answers {
    fn of(entry: &ToolEntry) -> Self {
        let always = |result| Arm { default: true, result: Some(result), ..Arm::default() };
        let arms = match (&entry.response, &*entry.responses) {
            (Some(response), _) => vec![always(response.clone())],
            (None, []) => vec![always(sample(entry))],
            (None, arms) => arms.to_vec(),
        };
        Self { tool: entry.name.clone(), arms, turns: AtomicUsize::new(0) }
    }

    fn takes_time(&self) -> bool {
        self.arms.iter().any(|arm| arm.delay_ms.is_some())
    }

    fn delay(&self, arguments: &Value) -> Duration {
        let arm = self.arms.iter().find(|arm| arm.matches(arguments));
        Duration::from_millis(arm.and_then(|arm| arm.delay_ms).unwrap_or(0))
    }

    fn answer(&self, arguments: &Value, session: &Session) -> Outcome {
        let Some(arm) = self.arms.iter().find(|arm| arm.matches(arguments)) else {
            let why = format!("`{}` has no response for these arguments", self.tool);
            return CallResult::error(why).into();
        };
        let nothing = Map::new();
        let arguments = arguments.as_object().unwrap_or(&nothing);
        let Answer { result, error } = match arm.sequence.len() {
            0 => Answer { result: arm.result.clone(), error: arm.error.clone() },
            length => {
                let turn = match session.id.is_empty() {
                    true => self.turns.fetch_add(1, Ordering::Relaxed),
                    false => session.turn(&self.tool),
                };
                arm.sequence[turn.min(length - 1)].clone()
            }
        };
        match (result, error) {
            (_, Some(error)) => refuse(&error, arguments),
            (result, None) => tell(&fill(&result.unwrap_or_default(), arguments)),
        }
    }
}

fn refuse(error: &ErrorAnswer, arguments: &Map<String, Value>) -> Outcome {
    let message = fill(&Value::from(error.message.clone()), arguments);
    let message = message.as_str().map_or_else(|| message.to_string(), ToOwned::to_owned);
    Refusal {
        code: error.code.unwrap_or(code::INTERNAL_ERROR),
        message,
        data: error.data.as_ref().map(|data| fill(data, arguments)),
    }
    .into()
}

/// A text, a result that was written out, or any other value.
fn tell(answer: &Value) -> Outcome {
    if let Some(text) = answer.as_str() {
        return CallResult::text(text.to_owned()).into();
    }
    let is_written = ["content", "structuredContent", "isError"];
    if !is_written.iter().any(|key| answer.get(key).is_some()) {
        return CallResult::value(answer).into();
    }
    let structured = answer.get("structuredContent").filter(|value| !value.is_null());
    let content = match answer.get("content") {
        Some(content) => vec![Content::Written(content.clone())],
        None => {
            structured.map(|value| Content::Text(value.to_string().into())).into_iter().collect()
        }
    };
    let is_error = answer["isError"] == true;
    CallResult {
        content,
        structured: structured.and_then(|value| RawValue::from_string(value.to_string()).ok()),
        is_error,
        category: is_error.then_some("tool"),
    }
    .into()
}

/// Something that fits the output schema, or a text that says what was called.
fn sample(entry: &ToolEntry) -> Value {
    let made = entry.output_schema.as_ref().and_then(|schema| {
        generate::arguments(schema, &mut Seed(1).dice(0), &Budget::default()).ok()
    });
    match made {
        Some(value) => json!({ "structuredContent": value }),
        None => Value::from(format!("`{}` was called", entry.name)),
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::config::TransportName;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::catalog::tool::Call;

    fn catalog(text: &str) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.furnish(&ToolsFile::parse(text, "tools.yml").unwrap()).unwrap();
        catalog
    }

    fn session(id: &str) -> Session {
        Session::new(id, TransportName::Stdio, CancellationToken::new())
    }

    fn call(catalog: &Catalog, session: &Session, arguments: Value) -> String {
        let Run::Now(run) = &catalog.tool("t").unwrap().run else { panic!("it takes its time") };
        let raw = arguments.to_string();
        match run(&Call { arguments: &arguments, raw: &raw, session }) {
            Outcome::Result(result) => {
                let written = result.written(mcp::Revision::V2025_11_25);
                serde_json::to_string(&written).unwrap()
            }
            Outcome::Refused(refusal, _) => format!("{} {}", refusal.code, refusal.message),
            Outcome::BadArguments(wrong) => wrong.told.clone(),
            Outcome::InputRequired(_) => panic!("nothing asks"),
        }
    }

    #[test]
    fn responses_take_three_forms() {
        let session = session("s");
        let said = |response: &str| {
            let catalog = catalog(&format!("tools: [{{name: t, response: {response}}}]"));
            call(&catalog, &session, json!({"x": 7}))
        };
        assert!(said("'x is ${args.x}'").contains(r#""text":"x is 7""#));
        assert!(said("{n: '${args.x}'}").contains(r#""structuredContent":{"n":7}"#));
        let written = said("{isError: true, content: [{type: text, text: no}]}");
        assert!(written.contains(r#""isError":true"#), "{written}");
    }

    #[test]
    fn a_sequence_begins_anew_with_each_connection() {
        let catalog = catalog(
            "tools: [{name: t, responses: [{default: true, sequence: \
             [{result: a}, {error: {code: 5, message: b}}, {result: c}]}]}]",
        );
        let first = session("1");
        let turns: Vec<_> = (0..4).map(|_| call(&catalog, &first, json!({}))).collect();
        assert!(turns[0].contains("\"a\"") && turns[1] == "5 b");
        assert!(turns[2].contains("\"c\"") && turns[3].contains("\"c\""));
        assert!(call(&catalog, &session("2"), json!({})).contains("\"a\""));
    }

    #[test]
    fn a_tool_without_a_response_gives_a_sample() {
        let catalog = catalog(
            "tools: [{name: t, outputSchema: {type: object, properties: {n: {type: integer}}, \
             required: [n]}}]",
        );
        let said = call(&catalog, &session("s"), json!({}));
        assert!(said.contains(r#""structuredContent":{"n":"#), "{said}");
    }

    #[test]
    fn a_schema_that_is_none_is_told() {
        let file = ToolsFile::parse("tools: [{name: t, input_schema: {type: 7}}]", "f").unwrap();
        let error = Catalog::default().furnish(&file).unwrap_err();
        assert!(error.to_string().contains("input_schema"), "{error}");
    }
}
