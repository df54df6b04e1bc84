//! `faults:`, counted in what is said, so that they mean the same on every API.

use std::time::Duration;

use tokio::time::Instant;

use super::peer::{APIS, Api, Ended, Got, ask, post, start};

const TEXT: &str = "The quick brown fox jumps.";

async fn text_with(fault: &str, api: Api, stream: bool) -> Got {
    let llm = start(&format!(
        "fixtures:\n  - response: {{content: '{TEXT}'}}\n    faults: [{{{fault}}}]\n"
    ))
    .await;
    ask(&llm, api, "m", "x", stream).await
}

async fn call_with(fault: &str, api: Api, stream: bool) -> Got {
    let llm = start(&format!(
        "fixtures:\n  - response: {{tool_calls: [{{name: look_up, arguments: {{city: Bern, day: monday}}}}]}}\n    \
         faults: [{{{fault}}}]\n"
    ))
    .await;
    ask(&llm, api, "m", "x", stream).await
}

#[tokio::test]
async fn a_place_means_the_same_on_every_api() {
    for (at, said) in [
        ("{after_chars: 9}", "The quick"),
        ("{after_chars: 0}", ""),
        ("{after_tokens: 3}", "The quick br"),
        ("before_terminal", TEXT),
        // An answer that is shorter breaks at its end.
        ("{after_chars: 999}", TEXT),
    ] {
        for api in APIS {
            let got = text_with(&format!("at: {at}, cut: fin"), api, true).await;
            assert_eq!(api.said(&got), said, "{api:?} {at}: {}", got.text());
            assert_eq!(got.ended, Ended::Early, "{api:?} {at}");
            assert!(!api.is_terminated(&got), "{api:?} {at}");
        }
    }
}

#[tokio::test]
async fn every_cut_is_what_it_says_on_streams() {
    for (cut, ended) in [
        ("reset", Ended::Reset),
        ("fin", Ended::Early),
        ("clean_eof", Ended::Whole),
        ("short_content_length", Ended::Early),
        ("silence", Ended::Silent),
    ] {
        for api in APIS {
            let got = text_with(&format!("at: {{after_chars: 9}}, cut: {cut}"), api, true).await;
            assert_eq!((got.status, got.ended), (200, ended), "{api:?} {cut}");
            assert_eq!(api.said(&got), "The quick", "{api:?} {cut}");
            let is_short = cut == "short_content_length";
            assert_eq!(got.header("content-length").is_some(), is_short, "{cut}");
        }
    }
}

#[tokio::test]
async fn every_cut_is_what_it_says_on_whole_answers() {
    for (cut, ended) in [
        ("reset", Ended::Reset),
        ("fin", Ended::Early),
        ("clean_eof", Ended::Whole),
        ("short_content_length", Ended::Early),
        ("silence", Ended::Silent),
    ] {
        for api in APIS {
            let got = text_with(&format!("at: {{after_chars: 9}}, cut: {cut}"), api, false).await;
            assert_eq!((got.status, got.ended), (200, ended), "{api:?} {cut}");
            assert!(got.text().ends_with("The quick"), "{api:?} {cut}: {}", got.text());
        }
    }
}

#[tokio::test]
async fn before_headers_nothing_comes() {
    for (cut, ended) in [("reset", Ended::Reset), ("fin", Ended::Early), ("silence", Ended::Silent)]
    {
        for stream in [false, true] {
            let got =
                text_with(&format!("at: before_headers, cut: {cut}"), Api::Chat, stream).await;
            assert_eq!((got.status, got.ended, got.body.len()), (0, ended, 0), "{cut}");
        }
    }
    for api in APIS {
        let got = text_with("at: before_headers, error: {status: 503}", api, true).await;
        assert_eq!(got.status, 503, "{api:?}");
    }
    let began = Instant::now();
    let got = text_with("at: before_headers, stall_ms: 200", Api::Chat, true).await;
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!((Api::Chat.said(&got).as_str(), got.ended), (TEXT, Ended::Whole));
}

#[tokio::test]
async fn arguments_are_cut_in_the_middle() {
    let half = "{\"city\":\"Bern\"";
    for api in APIS {
        for stream in [false, true] {
            let got = call_with("at: {in_tool_argument: 1}, cut: fin", api, stream).await;
            assert_eq!(got.ended, Ended::Early, "{api:?}");
            let text = got.text().replace('\\', "");
            assert!(!stream || text.contains("look_up"), "{api:?}: {text}");
            assert!(!text.contains("monday"), "{api:?} {stream}: {text}");
            let said = if stream && api != Api::Gemini { api.said(&got) } else { text };
            assert!(said.contains(&half[..12]), "{api:?} {stream}: {said}");
        }
    }
}

#[tokio::test]
async fn errors_in_the_middle_have_each_providers_form() {
    for (api, event) in [
        (
            Api::Chat,
            r#"data: {"error":{"code":"overloaded","message":"Busy","param":null,"type":"server_error"}}"#,
        ),
        (
            Api::Messages,
            "event: error\ndata: {\"error\":{\"message\":\"Busy\",\"type\":\"overloaded_error\"},\"type\":\"error\"}",
        ),
        (
            Api::Responses,
            "event: error\ndata: {\"code\":\"overloaded\",\"message\":\"Busy\",\"param\":null",
        ),
        (Api::Gemini, r#"data: {"error":{"code":529,"message":"Busy","status":"UNKNOWN"}}"#),
    ] {
        let fault = "at: {after_chars: 9}, error: {status: 529, message: Busy}";
        let got = text_with(fault, api, true).await;
        assert!(got.text().contains(event), "{api:?}: {}", got.text());
        assert_eq!((got.status, got.ended), (200, Ended::Whole), "{api:?}");
        assert!(!api.is_terminated(&got), "{api:?}");
        let said: String = api.said(&got);
        assert!(said.starts_with("The quick") && !said.contains("brown"), "{api:?}: {said}");
        // An answer in one piece has no middle: the error stands in its place.
        assert_eq!(text_with(fault, api, false).await.status, 529, "{api:?}");
    }
    for name in ["response.failed", "response.incomplete"] {
        let fault = format!("at: {{after_chars: 9}}, error: {{event: {name}}}");
        let got = text_with(&fault, Api::Responses, true).await;
        assert!(got.text().contains(&format!("event: {name}\n")), "{}", got.text());
        let last: serde_json::Value = serde_json::from_str(got.events().last().unwrap()).unwrap();
        let half = &last["response"]["output"][0];
        assert_eq!(
            (half["status"].as_str(), half["content"][0]["text"].as_str()),
            (Some("incomplete"), Some("The quick"))
        );
    }
}

#[tokio::test]
async fn stalls_and_first_tokens_take_their_time() {
    for (fault, least) in [
        ("at: {after_chars: 9}, stall_ms: 300", 300),
        ("ttft_ms: 250", 250),
        ("delays: {constant: 30}", 30),
        ("delays: {recorded: [100, 0, 0, 50]}", 100),
    ] {
        for api in APIS {
            let began = Instant::now();
            let got = text_with(fault, api, true).await;
            assert!(began.elapsed() >= Duration::from_millis(least), "{api:?} {fault}");
            assert_eq!(api.said(&got), TEXT, "{api:?} {fault}");
            assert!(api.is_terminated(&got), "{api:?} {fault}");
        }
    }
    let began = Instant::now();
    let got = text_with("at: {after_chars: 9}, stall_ms: 300", Api::Chat, false).await;
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert!(got.text().contains(TEXT));
}

#[tokio::test]
async fn odd_bytes_say_the_same() {
    for odd in [
        "split: utf8",
        "split: data",
        "split: json",
        "split: every_byte",
        "merge: 3",
        "line_end: crlf",
        "comments: true",
        "no_space: true",
        "bom: true",
    ] {
        let llm = start(&format!(
            "fixtures:\n  - response: {{content: 'Grüße, 世界 👋'}}\n    streaming: {{chunk_size: 2}}\n    \
             faults: [{{bytes: {{{odd}}}}}]\n"
        ))
        .await;
        for api in APIS {
            let got = ask(&llm, api, "m", "x", true).await;
            let text = got.text();
            assert_eq!(api.said(&got), "Grüße, 世界 👋", "{api:?} {odd}: {text}");
            let frames = got.events().len();
            let chunks = got.chunks.len();
            let shows = match odd {
                "split: every_byte" => chunks == got.body.len(),
                "merge: 3" => chunks < frames,
                "line_end: crlf" => text.contains("\r\n\r\n") && !text.contains("}\n"),
                "comments: true" => text.starts_with(": keep-alive"),
                "no_space: true" => text.contains("data:{"),
                "bom: true" => text.starts_with('\u{feff}'),
                "split: utf8" => got.chunks.iter().any(|chunk| std::str::from_utf8(chunk).is_err()),
                _ => chunks > frames,
            };
            assert!(shows, "{api:?} {odd}: {chunks} chunks, {frames} frames: {text}");
        }
    }
}

#[tokio::test]
async fn calls_of_tools_come_out_wrong() {
    let arguments = |api: Api, got: &Got| api.said(got);
    for api in APIS {
        let cut = call_with("tool_call: cut_arguments", api, true).await;
        let word = match api {
            Api::Chat => "\"finish_reason\":\"length\"",
            Api::Responses => "incomplete",
            Api::Messages => "max_tokens",
            Api::Gemini => "MAX_TOKENS",
        };
        assert!(cut.text().contains(word), "{api:?}: {}", cut.text());
        assert!(!cut.text().contains("monday"), "{api:?}");
        let unknown = call_with("tool_call: unknown_tool", api, true).await;
        assert!(unknown.text().contains("look_up_that_was_never_offered"), "{api:?}");
        let wrong = call_with("tool_call: wrong_finish_reason", api, false).await.text();
        let word = match api {
            Api::Chat => "\"finish_reason\":\"stop\"",
            Api::Messages => "\"stop_reason\":\"end_turn\"",
            // These two say the same whether tools are called or not.
            Api::Responses | Api::Gemini => "look_up",
        };
        assert!(wrong.contains(word), "{api:?}: {wrong}");
        let missing = call_with("tool_call: missing_id", api, true).await.text();
        assert!(!missing.contains("\"call_") && !missing.contains("toolu_"), "{api:?}: {missing}");
        let invalid = call_with("tool_call: invalid_json", api, true).await;
        if api != Api::Gemini {
            let text = arguments(api, &invalid);
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_err(), "{api:?}: {text}");
        }
    }
    let gemini = call_with("tool_call: malformed_function_call", Api::Gemini, true).await.text();
    assert!(gemini.contains("MALFORMED_FUNCTION_CALL") && !gemini.contains("look_up"), "{gemini}");
}

#[tokio::test]
async fn faults_keep_to_their_schedule() {
    for (when, struck) in [
        ("first: 2", vec![1, 2]),
        ("times: 2", vec![1, 2]),
        ("nth: 3", vec![3]),
        ("every: 2", vec![2, 4, 6]),
        ("after: 1h", vec![]),
        ("until: 1h", vec![1, 2, 3, 4, 5, 6]),
    ] {
        let llm = start(&format!(
            "fixtures:\n  - response: {{content: '{TEXT}'}}\n    \
             faults: [{{at: {{after_chars: 9}}, cut: clean_eof, when: {{{when}}}}}]\n"
        ))
        .await;
        let mut seen = Vec::new();
        for number in 1..=6 {
            let got = ask(&llm, Api::Chat, "m", "x", true).await;
            if !Api::Chat.is_terminated(&got) {
                seen.push(number);
            }
        }
        assert_eq!(seen, struck, "{when}");
    }
}

#[tokio::test]
async fn embeddings_break_as_well() {
    let llm =
        start("fixtures: [{response: {content: x}, faults: [{cut: short_content_length}]}]").await;
    let got =
        post(&llm, "/v1/embeddings", &serde_json::json!({ "model": "e", "input": "x" }), &[]).await;
    assert_eq!((got.status, got.ended), (200, Ended::Early));
}
