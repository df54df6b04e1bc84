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
