//! Modern: tools whose first answer is a question. The client repeats the call with what it found
//! out, and with whatever state it was given to carry.

use mcp_loadtest_core::mcp::method;
use serde_json::{Map, Value, json};

use super::state;
use crate::{
    catalog::tool::{Tool, listing},
    mcp::{
        refusal::Refusal,
        result::{CallResult, Outcome},
    },
    server::exchange::Exchange,
};

pub(super) fn tools() -> Vec<Tool> {
    let plain = |name: &str| {
        let name = format!("test_input_required_result_{name}");
        listing(&name, "A fixture of the conformance suite.", json!({}), &[])
    };
    vec![
        Tool::later(plain("elicitation"), |exchange| async move {
            asks(&exchange, &[("user_name", ask_name("What is your name?"))], |answers| {
                format!("Hello, {}!", content(answers, "user_name", "name"))
            })
        }),
        Tool::later(plain("sampling"), |exchange| async move {
            let question = ask_model("What is the capital of France?", 100);
            asks(&exchange, &[("capital_question", question)], |answers| {
                text(&answers["capital_question"]["content"]["text"])
            })
        }),
        Tool::later(plain("list_roots"), |exchange| async move {
            asks(&exchange, &[("client_roots", ask_roots())], |answers| {
                format!("Client roots: {}", answers["client_roots"]["roots"])
            })
        }),
        Tool::later(plain("capabilities"), |exchange| async move { only_what_it_can(&exchange) }),
        Tool::later(plain("request_state"), |exchange| async move {
            with_state(&exchange, &[("confirm", ask_ok())], |_| "state-ok".into())
        }),
        Tool::later(plain("tampered_state"), |exchange| async move {
            with_state(&exchange, &[("confirm", ask_ok())], |_| "state-ok".into())
        }),
        Tool::later(plain("multiple_inputs"), |exchange| async move {
            let questions = [
                ("user_name", ask_name("What is your name?")),
                ("greeting", ask_model("Generate a greeting", 50)),
                ("client_roots", ask_roots()),
            ];
            with_state(&exchange, &questions, |answers| {
                let name = content(answers, "user_name", "name");
                format!("{} {name}", text(&answers["greeting"]["content"]["text"]))
            })
        }),
        Tool::later(plain("multi_round"), |exchange| async move { rounds(&exchange) }),
    ]
}

type Questions<'a> = &'a [(&'a str, Value)];

fn ask_form(message: &str, key: &str, kind: &str) -> Value {
    let form = json!({
        "type": "object",
        "properties": { key: { "type": kind } },
        "required": [key],
    });
    json!({
        "method": method::ELICITATION,
        "params": { "message": message, "requestedSchema": form },
    })
}

fn ask_name(message: &str) -> Value {
    ask_form(message, "name", "string")
}

fn ask_ok() -> Value {
    ask_form("Please confirm", "ok", "boolean")
}

fn ask_model(question: &str, most: u32) -> Value {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": question } }]);
    json!({
        "method": method::SAMPLING,
        "params": { "messages": messages, "maxTokens": most },
    })
}

fn ask_roots() -> Value {
    json!({ "method": method::ROOTS_LIST, "params": {} })
}

/// The questions to which there is no usable answer.
fn open<'a>(questions: Questions<'a>, answers: &Value) -> Vec<&'a (&'a str, Value)> {
    let is_open = |(key, question): &&(&str, Value)| {
        let answer = &answers[*key];
        !match question["method"].as_str() {
            Some(method::ELICITATION) => {
                answer["action"].is_string()
                    && (answer["action"] != "accept" || answer["content"].is_object())
            }
            Some(method::SAMPLING) => answer["content"].is_object(),
            _ => answer["roots"].is_array(),
        }
    };
    questions.iter().filter(is_open).collect()
}

fn required(questions: &[&(&str, Value)], state: Option<String>) -> Outcome {
    let requests: Map<_, _> =
        questions.iter().map(|(key, question)| ((*key).to_owned(), question.clone())).collect();
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    Outcome::InputRequired(result)
}

fn asks(exchange: &Exchange, questions: Questions<'_>, done: impl Fn(&Value) -> String) -> Outcome {
    let answers = &exchange.params()["inputResponses"];
    match open(questions, answers) {
        open if open.is_empty() => CallResult::text(done(answers)).into(),
        open => required(&open, None),
    }
}

/// The same with a state that must come back as it was.
fn with_state(
    exchange: &Exchange,
    questions: Questions<'_>,
    done: impl Fn(&Value) -> String,
) -> Outcome {
    let answers = &exchange.params()["inputResponses"];
    let carried = &exchange.params()["requestState"];
    match carried.as_str().map(state::open) {
        Some(None) => return Refusal::invalid_params("`requestState` is not what was sent").into(),
        Some(Some(_)) if open(questions, answers).is_empty() => {
            return CallResult::text(done(answers)).into();
        }
        Some(Some(_)) | None => {}
    }
    required(&open(questions, &Value::Null), Some(state::seal("asked")))
}

fn rounds(exchange: &Exchange) -> Outcome {
    let first = [("step1", ask_name("Step 1: What is your name?"))];
    let second = [("step2", ask_form("Step 2: What is your favorite color?", "color", "string"))];
    let all = |questions: Questions<'_>, state: &str| {
        required(&open(questions, &Value::Null), Some(state::seal(state)))
    };
    let answers = &exchange.params()["inputResponses"];
    let carried = exchange.params()["requestState"].as_str();
    match carried.map(state::open) {
        None => all(&first, "round-1"),
        Some(None) => Refusal::invalid_params("`requestState` is not what was sent").into(),
        Some(Some("round-1")) if open(&first, answers).is_empty() => {
            let name = content(answers, "step1", "name");
            all(&second, &format!("round-2 {name}"))
        }
        Some(Some("round-1")) => all(&first, "round-1"),
        Some(Some(state)) if open(&second, answers).is_empty() => {
            let name = state.strip_prefix("round-2 ").unwrap_or_default();
            let color = content(answers, "step2", "color");
            CallResult::text(format!("{name} likes {color}")).into()
        }
        Some(Some(state)) => all(&second, state),
    }
}

/// Asks only what the client has said that it can do.
fn only_what_it_can(exchange: &Exchange) -> Outcome {
    let all = [
        ("elicitation", "user_name", ask_name("What is your name?")),
        ("sampling", "greeting", ask_model("Generate a greeting", 50)),
        ("roots", "client_roots", ask_roots()),
    ];
    let can: Vec<_> = all
        .into_iter()
        .filter(|(capability, ..)| exchange.client_can(capability))
        .map(|(_, key, question)| (key, question))
        .collect();
    asks(exchange, &can, |_| "Nothing more to ask".into())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn content(answers: &Value, key: &str, member: &str) -> String {
    text(&answers[key]["content"][member])
}
