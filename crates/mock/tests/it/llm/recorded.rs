//! What was recorded in front of another server is told again, to the same request only.

use mcp_loadtest_core::llm::FixtureFile;
use mcp_loadtest_mock::llm::MockLlm;

use super::peer::{APIS, Api, Ended, ask, ask_with, start};

#[tokio::test]
async fn recordings_are_told_again_to_the_same_request_only() {
    let upstream = start(
        "fixtures:
          - {match: {user_message: busy}, error: {status: 429, message: wait, retry_after_ms: 250}}
          - {match: {user_message: torn}, response: {content: Hello wörld}, faults: [{at: {after_chars: 7}, cut: fin}]}
          - response: {content: 'Hello from upstream.'}
            streaming: {latency: 40, chunk_size: 6}",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.yml");
    let recorder = MockLlm::new().record(upstream.url(), &path).spawn().await.unwrap();
    let key = format!("Bearer sk-proj-{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7");
    let mut seen = Vec::new();
    for api in APIS {
        for (user, stream) in [("hi", true), ("hi", false), ("busy", false), ("torn", true)] {
            let body = api.body("m", user, stream);
            let got = ask_with(&recorder, api, &body, stream, &[("authorization", &key)]).await;
            seen.push((api, body, stream, got));
        }
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("aB3dE6"), "keys are not written");
    let file = FixtureFile::parse(&text, "recorded.yml").unwrap();
    assert_eq!(file.recordings.len(), seen.len());
    let waits: f64 = file.recordings[0].response.chunks.iter().map(|chunk| chunk.after_ms).sum();
    assert!(waits >= 120.0, "the times of the pieces are kept: {waits}");
    let replay = MockLlm::new().file(file).replay_speed(0.0).spawn().await.unwrap();
    for (api, body, stream, got) in &seen {
        let again = ask_with(&replay, *api, body, *stream, &[]).await;
        assert_eq!((again.status, &again.body), (got.status, &got.body), "{api:?} {body}");
        assert_eq!(again.ended, got.ended, "{api:?} {body}");
        assert_eq!(again.header("retry-after"), got.header("retry-after"));
        assert_eq!(again.header("content-type"), got.header("content-type"));
    }
    assert!(seen.iter().any(|(.., got)| got.ended == Ended::Early));
    let other = ask(&replay, Api::Chat, "m", "please say hi to somebody else", true).await;
    assert_eq!(other.status, 404);
    assert!(other.text().contains("`body.messages[0].content` differs"), "{}", other.text());
}

#[tokio::test]
async fn what_a_recorded_refusal_says_of_another_try_is_in_the_journal() {
    let upstream = start(
        "fixtures:
          - error: {status: 503, message: no, retry_after_ms: 250, headers: {x-should-retry: 'false'}}",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.yml");
    let recorder = MockLlm::new().record(upstream.url(), &path).spawn().await.unwrap();
    ask(&recorder, Api::Chat, "m", "hi", false).await;
    let file = FixtureFile::parse(&std::fs::read_to_string(&path).unwrap(), "r.yml").unwrap();
    let replay = MockLlm::new().file(file).spawn().await.unwrap();
    ask(&replay, Api::Chat, "m", "hi", false).await;
    for llm in [&upstream, &recorder, &replay] {
        let entry = llm.journal().entries().pop().unwrap();
        assert_eq!((entry.should_retry, entry.retry_after_ms), (Some(false), Some(250)));
        assert_eq!(llm.journal().judged().findings, [], "a client that obeys has not given up");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let gone = start("fixtures: [{response: {content: x}}]").await.url().to_owned();
    let recorder = MockLlm::new().record(gone, folder.path().join("r.yml")).spawn().await.unwrap();
    let got = ask(&recorder, Api::Messages, "m", "x", false).await;
    assert_eq!(got.status, 502);
    assert_eq!(got.json()["type"], "error");
}
