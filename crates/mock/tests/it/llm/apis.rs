//! Healthy answers on all four APIs.

use serde_json::json;

use super::peer::{APIS, Api, ask, ask_with, exchange, post, start, written};

const FIXTURES: &str = "
fixtures:
  - match: {user_message: weather}
    response:
      content: Let me look.
      tool_calls:
        - {name: get_weather, arguments: {city: Zürich}}
        - {name: get_time, arguments: {zone: Europe/Zurich}, id: call_given}
  - match: {user_message: no}
    refusal: {reason: I will not do that.}
  - match: {user_message: long}
    response: {content: a long story, stop_reason: length}
  - match: {system_prompt: pirate}
    response: {content: Arr.}
  - match: {user_message: template}
    response: {content_template: '{{ provider }} {{ model }} {{ user_message }}'}
  - response: {content: Hello wörld.}
    streaming: {chunk_size: 3}
";

#[tokio::test]
async fn texts_come_whole_and_in_pieces() {
    let llm = start(FIXTURES).await;
    for api in APIS {
        let whole = ask(&llm, api, "m", "hi", false).await;
        assert_eq!(whole.status, 200, "{api:?}");
        assert!(whole.text().contains("Hello wörld."), "{api:?}: {}", whole.text());
        let stream = ask(&llm, api, "m", "hi", true).await;
        assert_eq!(api.said(&stream), "Hello wörld.", "{api:?}: {}", stream.text());
        assert!(api.is_terminated(&stream), "{api:?}");
        let pieces = stream.events().iter().filter(|data| data.contains("Hel")).count();
        assert!(pieces >= 1 && stream.chunks.len() >= 4, "{api:?}: {:?}", stream.chunks.len());
        assert_eq!(stream.header("content-type"), Some("text/event-stream; charset=utf-8"));
    }
}

#[tokio::test]
async fn several_tool_calls_come_with_a_text_before_them() {
    let llm = start(FIXTURES).await;
    for api in APIS {
        let whole = ask(&llm, api, "m", "weather", false).await.text();
        for word in ["Let me look.", "get_weather", "get_time", "Zürich"] {
            assert!(whole.contains(word), "{api:?} {word}: {whole}");
        }
        let stream = ask(&llm, api, "m", "weather", true).await;
        let said = "Let me look.{\"city\":\"Zürich\"}{\"zone\":\"Europe/Zurich\"}";
        assert_eq!(api.said(&stream), said, "{api:?}: {}", stream.text());
        assert!(stream.text().contains("call_given"), "{api:?}");
    }
    let chat = ask(&llm, Api::Chat, "m", "weather", false).await.json();
    assert_eq!(chat["choices"][0]["finish_reason"], "tool_calls");
    let messages = ask(&llm, Api::Messages, "m", "weather", false).await.json();
    assert_eq!(messages["stop_reason"], "tool_use");
    assert_eq!(messages["content"][1]["input"]["city"], "Zürich");
}

#[tokio::test]
async fn results_of_tools_leave_the_question_standing() {
    let llm = start(FIXTURES).await;
    let chat = json!({ "model": "m", "messages": [
        { "role": "user", "content": "template" },
        { "role": "assistant", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "x", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c", "content": "42" },
    ]});
    let responses = json!({ "model": "m", "input": [
        { "role": "user", "content": "template" },
        { "type": "function_call", "call_id": "c", "name": "x", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c", "output": "42" },
    ]});
    let messages = json!({ "model": "m", "max_tokens": 9, "messages": [
        { "role": "user", "content": "template" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "x", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "42" }] },
    ]});
    let gemini = json!({ "contents": [
        { "role": "user", "parts": [{ "text": "template" }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "x", "args": {} } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "x", "response": { "a": 42 } } }] },
    ]});
    for (api, body, model) in [
        (Api::Chat, chat, "m"),
        (Api::Responses, responses, "m"),
        (Api::Messages, messages, "m"),
        (Api::Gemini, gemini, "g"),
    ] {
        let got = ask_with(&llm, api, &body, false, &[]).await;
        assert!(got.text().contains(&format!("{model} template")), "{api:?}: {}", got.text());
    }
}

#[tokio::test]
async fn refusals_and_ends_have_their_own_words() {
    let llm = start(FIXTURES).await;
    for api in APIS {
        for stream in [false, true] {
            let got = ask(&llm, api, "m", "no", stream).await;
            assert_eq!(got.status, 200, "{api:?}");
            let word = match api {
                Api::Chat | Api::Responses => "refusal",
                Api::Messages => "\"stop_reason\":\"refusal\"",
                Api::Gemini => "\"blockReason\":\"SAFETY\"",
            };
            assert!(got.text().contains(word), "{api:?} {stream}: {}", got.text());
            let long = ask(&llm, api, "m", "long", stream).await;
            let word = match api {
                Api::Chat => "\"finish_reason\":\"length\"",
                Api::Responses => "\"status\":\"incomplete\"",
                Api::Messages => "\"stop_reason\":\"max_tokens\"",
                Api::Gemini => "\"finishReason\":\"MAX_TOKENS\"",
            };
            assert!(long.text().contains(word), "{api:?} {stream}: {}", long.text());
            if api == Api::Responses && stream {
                assert!(long.text().contains("event: response.incomplete"), "{}", long.text());
            }
        }
    }
}

#[tokio::test]
async fn system_and_developer_are_heard_on_every_api() {
    let llm = start(FIXTURES).await;
    let user = json!({ "role": "user", "content": "hi" });
    for role in ["system", "developer"] {
        let said = json!({ "role": role, "content": "talk like a pirate" });
        let chat = json!({ "model": "m", "messages": [said, user] });
        assert!(
            ask_with(&llm, Api::Chat, &chat, false, &[]).await.text().contains("Arr."),
            "{role}"
        );
        let input = json!({ "model": "m", "input": [said, user] });
        assert!(ask_with(&llm, Api::Responses, &input, false, &[]).await.text().contains("Arr."));
    }
    let instructions = json!({ "model": "m", "input": "hi", "instructions": "talk like a pirate" });
    let system = json!({ "model": "m", "max_tokens": 1, "messages": [user], "system": "a pirate" });
    let gemini = json!({
        "contents": [{ "parts": [{ "text": "hi" }] }],
        "systemInstruction": { "parts": [{ "text": "a pirate" }] },
    });
    for (api, body) in
        [(Api::Responses, instructions), (Api::Messages, system), (Api::Gemini, gemini)]
    {
        let got = ask_with(&llm, api, &body, false, &[]).await;
        assert!(got.text().contains("Arr."), "{api:?}: {}", got.text());
    }
}

#[tokio::test]
async fn usage_choices_and_vectors_are_as_asked() {
    let llm = start(FIXTURES).await;
    let mut body = Api::Chat.body("m", "hi", true);
    let plain = ask_with(&llm, Api::Chat, &body, true, &[]).await;
    assert!(!plain.text().contains("usage"), "{}", plain.text());
    body["stream_options"] = json!({ "include_usage": true });
    let events = ask_with(&llm, Api::Chat, &body, true, &[]).await.events();
    let last = &events[events.len() - 2];
    assert!(last.contains("\"choices\":[]") && last.contains("total_tokens"), "{last}");
    let two = json!({ "model": "m", "n": 2, "messages": body["messages"] });
    let two = ask_with(&llm, Api::Chat, &two, false, &[]).await.json();
    assert_eq!(two["choices"].as_array().unwrap().len(), 2);
    let input = json!({ "model": "e", "input": ["one", "two"], "dimensions": 8 });
    let vectors = post(&llm, "/v1/embeddings", &input, &[]).await.json();
    let vector = |at: usize| vectors["data"][at]["embedding"].as_array().unwrap().clone();
    assert_eq!((vector(0).len(), vector(1).len()), (8, 8));
    assert_ne!(vector(0), vector(1));
}

#[tokio::test]
async fn tokens_are_counted_and_models_listed() {
    let llm = start("fixtures: [{match: {model: gpt-mine}, response: {content: x}}]").await;
    let body = Api::Messages.body("m", "hello", false);
    let count = post(&llm, "/v1/messages/count_tokens", &body, &[]).await.json();
    assert!(count["input_tokens"].as_u64().unwrap() > 0);
    for version in ["v1", "v1beta"] {
        let target = format!("/{version}/models/g:countTokens");
        let count = post(&llm, &target, &Api::Gemini.body("", "hello", false), &[]).await.json();
        assert!(count["totalTokens"].as_u64().unwrap() > 0);
    }
    let models = exchange(&llm, &written("GET", "/v1/models", &[], b"")).await.json();
    assert_eq!(models["data"][0]["id"], "gpt-mine");
    let one = exchange(&llm, &written("GET", "/v1/models/any", &[], b"")).await.json();
    assert_eq!(one["id"], "any");
}

#[tokio::test]
async fn gemini_streams_an_array_unless_events_are_asked_for() {
    let llm = start(FIXTURES).await;
    let body = Api::Gemini.body("", "hi", true);
    for version in ["v1", "v1beta"] {
        let target = format!("/{version}/models/g:streamGenerateContent");
        let got = post(&llm, &target, &body, &[]).await;
        let parts = got.json();
        let text: String = (parts.as_array().unwrap().iter())
            .filter_map(|part| part["candidates"][0]["content"]["parts"][0]["text"].as_str())
            .collect();
        assert_eq!(text, "Hello wörld.");
        assert!(got.chunks.len() > 2, "it comes piece by piece");
    }
}

#[tokio::test]
async fn old_completions_and_moderations_are_there() {
    let llm = start(FIXTURES).await;
    let mut body = json!({ "model": "m", "prompt": "template" });
    let whole = post(&llm, "/v1/completions", &body, &[]).await.json();
    assert_eq!(whole["choices"][0]["text"], "openai m template");
    body["stream"] = true.into();
    let stream = post(&llm, "/v1/completions", &body, &[]).await;
    let said: String = (stream.events().iter())
        .filter_map(|data| serde_json::from_str::<serde_json::Value>(data).ok())
        .filter_map(|event| event["choices"][0]["text"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(said, "openai m template");
    assert!(stream.text().contains("[DONE]"));
    let verdict = post(&llm, "/v1/moderations", &json!({ "input": ["a", "b"] }), &[]).await.json();
    assert_eq!(verdict["results"][1]["flagged"], false);
}
