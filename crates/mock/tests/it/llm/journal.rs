//! What the journal says of each request.

use mcp_loadtest_core::{
    llm::{Ending, Patience, judge},
    report::Verdict,
};
use mcp_loadtest_mock::llm::MockLlm;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::peer::{APIS, Api, ask, ask_with, connect, start, written};

#[tokio::test]
async fn every_ending_has_its_word() {
    let llm = start(
        "fixtures:
          - {match: {user_message: refused}, error: {status: 503, message: x, retry_after_ms: 1500}}
          - {match: {user_message: short}, response: {content: half a sentence}, faults: [{at: {after_chars: 6}, cut: clean_eof}]}
          - {match: {user_message: told}, response: {content: abcdefgh}, faults: [{at: {after_chars: 6}, error: {}}]}
          - {match: {user_message: corrupt}, response: {content: x}, failure: {corrupt_body: true}}
          - {match: {user_message: broken}, response: {content: abcdefgh}, faults: [{at: {after_chars: 6}, cut: reset}]}
          - {name: well, response: {content: x}}",
    )
    .await;
    for word in ["refused", "short", "told", "corrupt", "broken", "fine"] {
        ask(&llm, Api::Chat, "m", word, true).await;
    }
    let entries = llm.journal().entries();
    let endings: Vec<_> = entries.iter().map(|entry| entry.ending).collect();
    assert_eq!(
        endings,
        [
            Ending::Refused,
            Ending::CutShort,
            Ending::ErrorEvent,
            Ending::Corrupt,
            Ending::Broken,
            Ending::Complete
        ]
    );
    assert_eq!(entries[0].retry_after_ms, Some(1_500));
    assert_eq!(entries[1].said, "half a");
    assert_eq!(entries[5].fixture.as_deref(), Some("well"));
    assert!(entries.iter().all(|entry| entry.bytes_sent > 0));
    llm.assert_matched("m");
}

#[tokio::test]
async fn a_client_that_hangs_up_is_seen() {
    let llm = start(
        "fixtures: [{response: {content: abcdef}, streaming: {latency: 10000, chunk_size: 1}}]",
    )
    .await;
    let mut stream = connect(&llm).await;
    let body = Api::Chat.body("m", "x", true).to_string();
    stream.write_all(&written("POST", "/v1/chat/completions", &[], body.as_bytes())).await.unwrap();
    let mut some = [0; 16];
    stream.read_exact(&mut some).await.unwrap();
    drop(stream);
    while llm.journal().entries().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(llm.journal().entries()[0].ending, Ending::Aborted);
}

#[tokio::test]
async fn no_key_is_ever_written_down() {
    let llm = start("fixtures: [{response: {content: x}}]").await;
    let key = format!("sk-proj-{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7");
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("x-api-key", &key),
        ("x-goog-api-key", &key),
        ("cookie", "s=1"),
    ];
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": key.clone() }] });
    ask_with(&llm, Api::Chat, &body, false, &headers).await;
    ask_with(&llm, Api::Chat, &body, false, &headers).await;
    let written = serde_json::to_string(&llm.journal().entries()).unwrap();
    assert!(!written.contains("aB3dE6"), "{written}");
    assert!(!written.contains("s=1"), "{written}");
    let notice = llm.desk().next_notice().await;
    assert!(notice.contains("looks like a real API key"), "{notice}");
    let soon = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(soon, llm.desk().next_notice()).await.is_err(), "it warns once");
}

#[tokio::test]
async fn a_whole_text_that_only_lacks_its_end_is_told_from_half_of_one() {
    let llm = start(
        "fixtures:
          - {match: {user_message: end}, response: {content: The quick brown fox}, faults: [{cut: fin}]}
          - {match: {user_message: half}, response: {content: The quick brown fox}, faults: [{at: {after_chars: 9}, cut: fin}]}
          - match: {user_message: call}
            response: {content: The quick brown fox, tool_calls: [{name: t, arguments: {a: 1}}]}
            faults: [{at: {after_chars: 19}, cut: clean_eof}]",
    )
    .await;
    for api in APIS {
        for (word, said, said_whole) in [
            ("end", "The quick brown fox", true),
            ("half", "The quick", false),
            ("call", "The quick brown fox", true),
        ] {
            ask(&llm, api, "m", word, true).await;
            let entry = llm.journal().entries().pop().unwrap();
            assert_eq!((&*entry.said, entry.said_whole), (said, said_whole), "{api:?} {word}");
        }
    }
}

#[tokio::test]
async fn a_text_that_came_again_with_its_end_was_not_used_half() {
    let llm = start(
        "fixtures: [{response: {content: The quick brown fox}, faults: [{cut: fin, when: {first: 1}}]}]",
    )
    .await;
    let tried = |times: usize| {
        let llm = &llm;
        async move {
            llm.desk().reset();
            for _ in 0..times {
                ask(llm, Api::Chat, "m", "what does it do?", true).await;
            }
            let told = json!({ "role": "assistant", "content": "The quick brown fox" });
            let body = json!({ "model": "m", "stream": true, "messages": [told] });
            ask_with(llm, Api::Chat, &body, true, &[]).await;
            llm.journal().judged()
        }
    };
    let careful = tried(2).await;
    assert_eq!((careful.findings, careful.recovered), (vec![], 1));
    let hasty = tried(1).await;
    assert_eq!(hasty.findings[0].id, "used_truncated_answer");
}

#[tokio::test]
async fn a_journal_that_had_to_forget_lets_nobody_pass() {
    let llm = start("fixtures: [{response: {content: x}}]").await;
    ask(&llm, Api::Chat, "m", "first", false).await;
    assert_eq!(llm.journal().judged().verdict, Verdict::Pass);
    let mut stream = connect(&llm).await;
    let one = written("GET", "/v1/models", &[], b"");
    let (mut reader, mut writer) = stream.split();
    let asking = async {
        for _ in 1..10_000 {
            writer.write_all(&one).await.unwrap();
        }
    };
    let reading = async {
        let mut room = vec![0; 64 << 10];
        while llm.journal().count() < 10_000 {
            // The last bytes may come before their request is in the journal.
            let wait = std::time::Duration::from_millis(5);
            let _ = tokio::time::timeout(wait, reader.read(&mut room)).await;
        }
    };
    tokio::join!(asking, reading);
    assert_eq!(llm.journal().judged().verdict, Verdict::Pass);
    ask(&llm, Api::Chat, "m", "last", false).await;
    let report = llm.journal().judged();
    assert_eq!((report.verdict, report.forgotten), (Verdict::Invalid, 1));
    assert!(report.could_not_tell[0].starts_with("1 earlier request came"), "{report:?}");
    let lines = String::from_utf8(llm.journal().lines()).unwrap();
    assert_eq!(
        lines.matches(r#""forgotten_before":1"#).count(),
        1,
        "whoever judges the lines knows"
    );
    llm.desk().reset();
    assert_eq!(llm.journal().judged().forgotten, 0, "who begins anew forgets on purpose");
}

#[tokio::test]
async fn what_a_client_did_is_judged() {
    let llm = start(
        "fixtures:
          - {when: {first: 1}, error: {status: 429, message: wait, retry_after_ms: 60000}}
          - {response: {content: x}}",
    )
    .await;
    ask(&llm, Api::Chat, "m", "x", false).await;
    ask(&llm, Api::Chat, "m", "x", false).await;
    let report = judge(&llm.journal().entries(), Patience::default());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].id, "retried_too_early");
}

#[tokio::test]
async fn a_client_that_does_not_wait_is_seen_in_whole_answers_and_in_silence() {
    let llm = start(
        "fixtures:
          - {match: {user_message: stall}, response: {content: abcdef}, faults: [{at: {after_chars: 2}, stall_ms: 60000}]}
          - {response: {content: abcdef}, faults: [{at: {after_chars: 2}, cut: silence}]}",
    )
    .await;
    // Both are given up after a moment without a byte.
    ask(&llm, Api::Chat, "m", "stall", false).await;
    ask(&llm, Api::Chat, "m", "silence", false).await;
    while llm.journal().count() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let entries = llm.journal().entries();
    assert_eq!((entries[0].ending, entries[1].ending), (Ending::Aborted, Ending::Broken));
    assert!(entries.iter().all(|entry| entry.took_ms >= 600.0), "{entries:?}");
}

#[tokio::test]
async fn a_server_that_stops_leaves_no_request_out() {
    let mock = MockLlm::new().fixtures(
        "fixtures: [{response: {content: abc}, streaming: {latency: 60000, chunk_size: 1}}]",
    );
    let bound = mock.unwrap().bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (desk, url) = (bound.desk(), bound.url());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn(bound.serve_until(async move { stopped.await.unwrap() }));
    let mut stream =
        tokio::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    let body = Api::Chat.body("m", "x", true).to_string();
    stream.write_all(&written("POST", "/v1/chat/completions", &[], body.as_bytes())).await.unwrap();
    stream.read_exact(&mut [0; 16]).await.unwrap();
    stop.send(()).unwrap();
    served.await.unwrap();
    assert_eq!(desk.journal().entries()[0].ending, Ending::Stopped);
    assert_eq!(desk.journal().judged().findings, [], "what the server did is nobody else's fault");
}
