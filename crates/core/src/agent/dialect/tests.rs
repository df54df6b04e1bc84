//! The same conversation in each API, and what each of them answers.

use serde_json::json;

use super::*;
use crate::{
    agent::{Message, ToolCall, ToolResult, ToolSpec},
    suite::recovery::Usage,
};

fn call() -> ToolCall {
    let args = json!({"query": "x"}).as_object().unwrap().clone();
    ToolCall { id: "c1".into(), name: "search".into(), args }
}

fn conversation() -> Conversation {
    let schema = json!({"type": "object", "additionalProperties": false,
        "properties": {"query": {"type": "string"}}});
    Conversation {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User("Search.".into()),
            Message::Model(Turn { text: "I look.".into(), calls: vec![call()], ..Turn::default() }),
            Message::Results(vec![ToolResult {
                id: "c1".into(),
                name: "search".into(),
                text: "MCP error -32001: Request timed out".into(),
                is_error: true,
            }]),
        ],
        tools: vec![ToolSpec {
            name: "search".into(),
            description: "Searches".into(),
            input_schema: schema,
        }],
        max_tokens: 64,
    }
}

#[test]
fn requests_have_the_form_of_each_api() {
    let asked = |provider| request(provider, "m-1", "k", &conversation());
    let anthropic = asked(Provider::Anthropic);
    assert_eq!(anthropic.path, "/v1/messages");
    assert_eq!(anthropic.headers[0], ("x-api-key", "k".to_owned()));
    assert_eq!(anthropic.body["messages"][1]["content"][1]["type"], "tool_use");
    assert_eq!(anthropic.body["messages"][2]["content"][0]["is_error"], true);
    assert_eq!(anthropic.body["system"], "Be brief.");
    let openai = asked(Provider::Openai);
    assert_eq!(openai.path, "/v1/chat/completions");
    assert_eq!(openai.body["messages"][0]["role"], "system");
    let arguments = &openai.body["messages"][2]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, "{\"query\":\"x\"}");
    assert_eq!(openai.body["messages"][3]["tool_call_id"], "c1");
    let gemini = asked(Provider::Gemini);
    assert_eq!(gemini.path, "/v1beta/models/m-1:generateContent");
    let declared = &gemini.body["tools"][0]["functionDeclarations"][0];
    assert!(declared["parameters"].get("additionalProperties").is_none());
    let response = &gemini.body["contents"][2]["parts"][0]["functionResponse"]["response"];
    assert_eq!(response["error"], "MCP error -32001: Request timed out");
}

#[test]
fn answers_are_read_alike() {
    let answers = [
        (
            Provider::Anthropic,
            json!({"content": [{"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "x"}}],
                "usage": {"input_tokens": 3, "output_tokens": 4}}),
        ),
        (
            Provider::Openai,
            json!({"choices": [{"message": {"content": "I look.", "tool_calls": [{"id": "c1",
                "function": {"name": "search", "arguments": "{\"query\":\"x\"}"}}]}}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        ),
        (
            Provider::Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "I look."},
                {"functionCall": {"name": "search", "args": {"query": "x"}}}]}}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}),
        ),
    ];
    for (provider, answer) in answers {
        let mut turn = read(provider, &answer, 1).unwrap();
        turn.calls[0].id = "c1".into();
        let usage = Usage { input: 3, output: 4 };
        let wanted = Turn { text: "I look.".into(), calls: vec![call()], usage, after_ms: 0 };
        assert_eq!(turn, wanted, "{provider:?}");
        assert!(read(provider, &json!({"error": "x"}), 1).is_err(), "{provider:?}");
    }
    let broken = json!({"choices": [{"message": {"tool_calls": [
        {"id": "c", "function": {"name": "search", "arguments": "{\"query"}}]}}]});
    assert!(read(Provider::Openai, &broken, 1).unwrap_err().contains("no JSON object"));
}

#[test]
fn base_urls_may_bring_their_version() {
    for url in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/v1beta"]
    {
        assert_eq!(bare_base_url(url), "http://h:1", "{url}");
    }
}

#[test]
fn tools_and_turns_are_whole_in_each_api_and_an_empty_list_is_left_out() {
    let silent = Turn { text: String::new(), calls: vec![call()], ..Turn::default() };
    let done = Turn { text: "Done.".into(), ..Turn::default() };
    let said = |turn: &Turn| Conversation {
        messages: vec![Message::Model(turn.clone())],
        tools: Vec::new(),
        system: None,
        ..conversation()
    };
    let body =
        |provider, conversation: &Conversation| request(provider, "m", "k", conversation).body;
    let tool = |schema: &str| {
        json!({"name": "search", "description": "Searches",
            schema: {"type": "object", "additionalProperties": false,
                "properties": {"query": {"type": "string"}}}})
    };

    let anthropic = body(Provider::Anthropic, &conversation());
    assert_eq!(anthropic["tools"], json!([tool("input_schema")]));
    assert_eq!(anthropic["max_tokens"], 64);
    let used = json!({"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "x"}});
    for (turn, content) in
        [(&silent, json!([used])), (&done, json!([{"type": "text", "text": "Done."}]))]
    {
        let asked = body(Provider::Anthropic, &said(turn));
        assert_eq!(asked["messages"], json!([{"role": "assistant", "content": content}]));
        assert_eq!(asked.get("system"), None);
    }

    for provider in [Provider::Openai, Provider::Responses] {
        let openai = body(provider, &conversation());
        let function = json!({"type": "function", "function": tool("parameters")});
        assert_eq!(openai["tools"], json!([function]));
        let called = json!([{"id": "c1", "type": "function",
            "function": {"name": "search", "arguments": "{\"query\":\"x\"}"}}]);
        let asked = body(provider, &said(&silent));
        let turn = json!({"role": "assistant", "content": "", "tool_calls": called});
        assert_eq!((asked.get("tools"), &asked["messages"]), (None, &json!([turn])));
        let turn = json!({"role": "assistant", "content": "Done."});
        assert_eq!(body(provider, &said(&done))["messages"], json!([turn]));
    }

    let gemini = body(Provider::Gemini, &conversation());
    assert_eq!(gemini["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    let called = json!({"functionCall": {"name": "search", "args": {"query": "x"}}});
    assert_eq!(gemini["contents"][1]["parts"], json!([{"text": "I look."}, called]));
    for (turn, parts) in [(&silent, json!([called])), (&done, json!([{"text": "Done."}]))] {
        let asked = body(Provider::Gemini, &said(turn));
        assert_eq!(asked["contents"], json!([{"role": "model", "parts": parts}]));
        assert_eq!(asked.get("tools"), None);
    }
}

#[test]
fn what_a_model_only_thinks_is_not_said_and_a_call_without_an_id_gets_one() {
    let thought = json!({"content": [{"type": "thinking", "thinking": "hm"}]});
    let turn = read(Provider::Anthropic, &thought, 0).unwrap();
    assert_eq!((turn.text.as_str(), turn.calls.len(), turn.usage), ("", 0, Usage::default()));
    let function = json!({"functionCall": {"name": "search"}});
    let twice = json!({"candidates": [{"content": {"parts": [function, function]}}]});
    let ids: Vec<_> =
        read(Provider::Gemini, &twice, 3).unwrap().calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call-3-0", "call-3-1"]);
}

#[test]
fn each_provider_has_its_home() {
    for (provider, name) in [
        (Provider::Anthropic, "ANTHROPIC"),
        (Provider::Openai, "OPENAI"),
        (Provider::Responses, "OPENAI"),
        (Provider::Gemini, "GEMINI"),
    ] {
        let home = home(provider);
        assert_eq!(home.key_env, format!("{name}_API_KEY"));
        assert_eq!(home.base_url_env, format!("{name}_BASE_URL"));
        assert!(home.base_url.starts_with("https://"), "{}", home.base_url);
    }
}
