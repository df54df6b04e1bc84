//! Which fixture answers, on the wire.

use serde_json::json;

use super::peer::{Api, Ended, ask, ask_with, start};

#[tokio::test]
async fn every_condition_is_looked_at() {
    let llm = start(
        "fixtures:
          - {match: {headers: {X-Team: {regex: '^blue$'}}}, response: {content: by header}}
          - {match: {temperature: {min: 0.5, max: 0.9}}, response: {content: by temperature}}
          - {match: {metadata: {user: ann}}, response: {content: by metadata}}
          - {match: {tool_schema: search}, response: {content: by tool}}
          - {match: {body_jsonpath: '$.seed'}, response: {content: by path}}
          - {provider: anthropic, response: {content: by provider}}
          - {catch_all: true, response: {content: by nothing}}",
    )
    .await;
    let plain = || Api::Chat.body("m", "x", false);
    let with = |key: &str, value| {
        let mut body = plain();
        body[key] = value;
        body
    };
    let tool = json!([{ "type": "function", "function": { "name": "web_search" } }]);
    for (body, headers, said) in [
        (plain(), &[("x-team", "blue")][..], "by header"),
        (plain(), &[("x-team", "light-blue")][..], "by nothing"),
        (with("temperature", json!(0.7)), &[], "by temperature"),
        (with("temperature", json!(1)), &[], "by nothing"),
        (with("metadata", json!({ "user": "joanne" })), &[], "by metadata"),
        (with("tools", tool), &[], "by tool"),
        (with("seed", json!(3)), &[], "by path"),
        (with("seed", json!(null)), &[], "by nothing"),
    ] {
        let got = ask_with(&llm, Api::Chat, &body, false, headers).await;
        assert!(got.text().contains(said), "{body}: {}", got.text());
    }
    let got = ask(&llm, Api::Messages, "m", "x", false).await;
    assert!(got.text().contains("by provider"));
}

#[tokio::test]
async fn a_story_fails_twice_and_then_answers() {
    let llm = start(
        "fixtures:
          - {scenario: {name: s, required_state: '', set_state: one}, error: {status: 503, message: a}}
          - {scenario: {name: s, required_state: one, set_state: two}, error: {status: 529, message: b}}
          - {response: {content: fine}}",
    )
    .await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(ask(&llm, Api::Messages, "m", "x", false).await.status);
    }
    assert_eq!(statuses, [503, 529, 200, 200]);
    llm.desk().reset();
    assert_eq!(ask(&llm, Api::Messages, "m", "x", false).await.status, 503);
}

#[tokio::test]
async fn buckets_empty_and_tell_the_truth() {
    let llm = start(
        "fixtures: [{response: {content: fine}}]\nlimits: {requests_per_minute: 600, tokens_per_minute: 1000000}",
    )
    .await;
    let key = [("authorization", "Bearer one")];
    let body = Api::Chat.body("m", "x", false);
    let first = ask_with(&llm, Api::Chat, &body, false, &key).await;
    assert_eq!(first.header("x-ratelimit-limit-requests"), Some("600"));
    let left = |got: &super::peer::Got| -> u32 {
        got.header("x-ratelimit-remaining-requests").unwrap().parse().unwrap()
    };
    let second = ask_with(&llm, Api::Chat, &body, false, &key).await;
    assert!(left(&second) <= left(&first), "it counts down");
    let mut got = second;
    for _ in 0..5_000 {
        got = ask_with(&llm, Api::Chat, &body, false, &key).await;
        if got.status == 429 {
            break;
        }
    }
    assert_eq!((got.status, got.ended), (429, Ended::Whole));
    let wait: u64 = got.header("retry-after-ms").unwrap().parse().unwrap();
    assert!(wait <= 1_000, "{wait}");
    let other = ask_with(&llm, Api::Chat, &body, false, &[("authorization", "Bearer two")]).await;
    assert_eq!(other.status, 200, "another key has its own");
    tokio::time::sleep(std::time::Duration::from_millis(wait + 5)).await;
    assert_eq!(ask_with(&llm, Api::Chat, &body, false, &key).await.status, 200);
}
