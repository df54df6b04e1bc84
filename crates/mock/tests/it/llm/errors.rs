//! Errors in each provider's own form.

use serde_json::{Value, json};

use super::peer::{APIS, Api, Got, ask, ask_with, exchange, post, start, written};

fn fixtures() -> String {
    let statuses = [400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529];
    let all: String = statuses
        .iter()
        .map(|status| {
            format!("  - {{match: {{user_message: 's{status}'}}, error: {{status: {status}, message: oops}}}}\n")
        })
        .collect();
    format!("fixtures:\n{all}")
}

/// The provider's type and code.
fn words(api: Api, got: &Got) -> (Value, Value) {
    let error = got.json()["error"].clone();
    match api {
        Api::Chat | Api::Responses => (error["type"].clone(), error["code"].clone()),
        Api::Messages => (error["type"].clone(), Value::Null),
        Api::Gemini => (error["status"].clone(), error["code"].clone()),
    }
}

#[tokio::test]
async fn every_status_has_its_providers_form() {
    let table = [
        (
            400,
            "invalid_request_error",
            "invalid_request",
            "invalid_request_error",
            "INVALID_ARGUMENT",
        ),
        (401, "authentication_error", "invalid_api_key", "authentication_error", "UNAUTHENTICATED"),
        (
            403,
            "permission_denied_error",
            "permission_denied",
            "permission_error",
            "PERMISSION_DENIED",
        ),
        (404, "not_found_error", "not_found", "not_found_error", "NOT_FOUND"),
        (429, "rate_limit_error", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"),
        (500, "server_error", "server_error", "api_error", "INTERNAL"),
        (502, "server_error", "bad_gateway", "api_error", "UNKNOWN"),
        (503, "server_error", "service_unavailable", "api_error", "UNAVAILABLE"),
        (504, "server_error", "gateway_timeout", "timeout_error", "DEADLINE_EXCEEDED"),
        (529, "server_error", "overloaded", "overloaded_error", "UNKNOWN"),
    ];
    let llm = start(&fixtures()).await;
    for (status, kind, code, anthropic, gemini) in table {
        for api in APIS {
            for stream in [false, true] {
                let got = ask(&llm, api, "m", &format!("s{status}"), stream).await;
                assert_eq!(got.status, status, "{api:?}");
                let expected = match api {
                    Api::Chat | Api::Responses => (json!(kind), json!(code)),
                    Api::Messages => (json!(anthropic), Value::Null),
                    Api::Gemini => (json!(gemini), json!(status)),
                };
                assert_eq!(words(api, &got), expected, "{api:?} {status}");
                assert!(got.text().contains("oops"));
            }
        }
    }
}

#[tokio::test]
async fn requests_have_ids_and_limits_their_words() {
    let llm = start(&fixtures()).await;
    let chat = ask(&llm, Api::Chat, "m", "s429", false).await;
    assert!(chat.header("x-request-id").unwrap().starts_with("req_"));
    assert_eq!(
        (chat.header("retry-after-ms"), chat.header("retry-after")),
        (Some("100"), Some("1"))
    );
    assert_eq!(chat.json()["error"]["param"], Value::Null);
    let messages = ask(&llm, Api::Messages, "m", "s429", false).await;
    let id = messages.header("request-id").unwrap().to_owned();
    assert_eq!(messages.json()["request_id"], id);
    assert_eq!(messages.json()["type"], "error");
    let reset = messages.header("anthropic-ratelimit-requests-reset").unwrap();
    assert!(reset.ends_with('Z') && reset.contains('T'), "{reset}");
    let gemini = ask(&llm, Api::Gemini, "m", "s429", false).await.json();
    let details = gemini["error"]["details"].to_string();
    assert!(details.contains("google.rpc.QuotaFailure"), "{details}");
    assert!(details.contains("\"retryDelay\":\"0.1s\""), "{details}");
}

#[tokio::test]
async fn a_fixture_may_choose_its_own_words() {
    let llm = start(
        "fixtures:
          - error:
              status: 429
              message: no more money
              type: insufficient_quota
              code: insufficient_quota
              headers: {retry-after: '7', x-should-retry: 'false'}",
    )
    .await;
    let got = ask(&llm, Api::Chat, "m", "hi", false).await;
    assert_eq!(words(Api::Chat, &got), (json!("insufficient_quota"), json!("insufficient_quota")));
    assert_eq!(got.header("retry-after"), Some("7"));
    let entry = &llm.journal().entries()[0];
    assert_eq!(entry.should_retry, Some(false));
}

#[tokio::test]
async fn what_is_not_served_is_told_in_the_providers_form() {
    let llm =
        start("fixtures: [{match: {user_message: hello, model: big}, response: {content: x}}]")
            .await;
    let nothing = exchange(&llm, &written("POST", "/v1/nothing", &[], b"{}")).await;
    assert_eq!(nothing.status, 404);
    assert!(nothing.json()["error"]["message"].as_str().unwrap().contains("/v1/chat/completions"));
    let verb = exchange(&llm, &written("GET", "/v1/messages", &[], b"")).await;
    assert_eq!((verb.status, verb.header("allow")), (405, Some("POST")));
    assert_eq!(verb.json()["type"], "error");
    for api in APIS {
        let got = ask(&llm, api, "small", "hello you", false).await;
        assert_eq!(got.status, 404, "{api:?}");
        let told = got.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(told.contains("the nearest is fixture 0: model: `big` is not in"), "{told}");
        if api == Api::Gemini {
            assert_eq!(got.json()["error"]["status"], "NOT_FOUND");
        }
    }
}

#[tokio::test]
async fn bad_requests_are_refused_before_any_fixture_answers() {
    let llm = start("fixtures: [{response: {content: x}}]").await;
    let user = json!([{ "role": "user", "content": "x" }]);
    for (api, body) in [
        (Api::Chat, json!({ "messages": user })),
        (Api::Chat, json!({ "model": "m" })),
        (Api::Chat, json!({ "model": "m", "messages": [] })),
        (Api::Chat, json!({ "model": "m", "messages": user, "stream": "yes" })),
        (Api::Chat, json!({ "model": "m", "messages": user, "n": 0 })),
        (Api::Responses, json!({ "model": "m" })),
        (Api::Messages, json!({ "model": "m", "messages": user })),
        (Api::Messages, json!({ "model": "m", "messages": user, "max_tokens": 0 })),
        (Api::Gemini, json!({})),
    ] {
        let got = ask_with(&llm, api, &body, false, &[]).await;
        assert_eq!(got.status, 400, "{api:?} {body}: {}", got.text());
    }
    let got = exchange(&llm, &written("POST", "/v1/messages", &[], b"{")).await;
    assert_eq!(got.json()["error"]["type"], "invalid_request_error");
    let many = json!({ "model": "e", "input": [] });
    assert_eq!(post(&llm, "/v1/embeddings", &many, &[]).await.status, 400);
}
