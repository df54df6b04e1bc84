//! `failure:`, counted in frames, and how its keys work together.

use std::time::Duration;

use tokio::time::Instant;

use super::peer::{APIS, Api, Ended, ask, start};

fn fixture(failure: &str) -> String {
    format!(
        "fixtures:\n  - response: {{content: 'one two three four five six'}}\n    \
         streaming: {{chunk_size: 4}}\n    failure: {{{failure}}}\n"
    )
}

#[tokio::test]
async fn latency_comes_before_the_first_byte() {
    let llm = start(&fixture("latency_ms: 300")).await;
    for api in APIS {
        for stream in [false, true] {
            let began = Instant::now();
            let got = ask(&llm, api, "m", "x", stream).await;
            assert!(began.elapsed() >= Duration::from_millis(300), "{api:?}");
            assert_eq!((got.status, got.ended), (200, Ended::Whole), "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_corrupt_body_outweighs_everything() {
    let llm = start(&fixture(
        "corrupt_body: true, truncate_after_frames: 1, disconnect_after_ms: 0, duplicate_frames: true",
    ))
    .await;
    for api in APIS {
        let whole = ask(&llm, api, "m", "x", false).await;
        assert_eq!((whole.status, whole.text().as_str()), (200, "overloaded"), "{api:?}");
        assert_eq!(whole.header("content-type"), Some("text/plain"));
        let stream = ask(&llm, api, "m", "x", true).await;
        assert_eq!(stream.text(), "data: overloaded\n\n", "{api:?}");
        assert_eq!(stream.ended, Ended::Whole);
    }
}

#[tokio::test]
async fn latency_goes_with_truncation() {
    let llm = start(&fixture("latency_ms: 200, truncate_after_frames: 5")).await;
    let began = Instant::now();
    let got = ask(&llm, Api::Chat, "m", "x", true).await;
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!((got.events().len(), got.ended), (5, Ended::Whole));
}

#[tokio::test]
async fn truncation_counts_frames_and_ends_cleanly() {
    for (frames, alias) in [(0, false), (3, false), (3, true)] {
        let key = if alias { "truncate_after_chunks" } else { "truncate_after_frames" };
        let llm = start(&fixture(&format!("{key}: {frames}"))).await;
        for api in APIS {
            let got = ask(&llm, api, "m", "x", true).await;
            assert_eq!(got.events().len(), frames, "{api:?}: {}", got.text());
            assert_eq!(got.ended, Ended::Whole, "{api:?}");
            assert!(!api.is_terminated(&got), "{api:?}");
        }
    }
}

#[tokio::test]
async fn doubles_are_made_before_frames_are_counted() {
    let llm = start(&fixture("duplicate_frames: true, truncate_after_frames: 4")).await;
    for api in APIS {
        let events = ask(&llm, api, "m", "x", true).await.events();
        assert_eq!(events.len(), 4, "{api:?}");
        assert_eq!((&events[0], &events[2]), (&events[1], &events[3]), "{api:?}");
        assert_ne!(events[0], events[2], "{api:?}");
    }
}

#[tokio::test]
async fn every_frame_comes_twice_the_last_one_too() {
    let llm = start(&fixture("duplicate_frames: true")).await;
    for api in APIS {
        let got = ask(&llm, api, "m", "x", true).await;
        let events = got.events();
        assert!(events.chunks(2).all(|pair| pair[0] == pair[1]), "{api:?}: {events:?}");
        assert_eq!(got.ended, Ended::Whole);
    }
}

#[tokio::test]
async fn a_disconnect_comes_however_fast_the_stream_is() {
    for ms in [0, 60] {
        let llm = start(&fixture(&format!("disconnect_after_ms: {ms}"))).await;
        for api in APIS {
            let began = Instant::now();
            let got = ask(&llm, api, "m", "x", true).await;
            assert_eq!((got.status, got.ended), (200, Ended::Early), "{api:?}");
            assert!(!api.is_terminated(&got), "{api:?}");
            assert!(began.elapsed() >= Duration::from_millis(ms));
        }
    }
}

#[tokio::test]
async fn a_slow_stream_is_dropped_in_the_middle() {
    let llm = start(
        "fixtures:
          - response: {content: 'one two three four five six'}
            streaming: {chunk_size: 4, latency: 100}
            failure: {disconnect_after_ms: 250}",
    )
    .await;
    for api in APIS {
        let got = ask(&llm, api, "m", "x", true).await;
        assert_eq!(got.ended, Ended::Early, "{api:?}");
        let said = api.said(&got);
        assert!(said.len() < "one two three four five six".len(), "{api:?}: {said}");
    }
}

#[tokio::test]
async fn what_is_for_streams_leaves_whole_answers_alone() {
    let llm = start(
        "fixtures:
          - response: {content: whole}
            streaming: {latency: 5}
            failure: {truncate_after_frames: 0, disconnect_after_ms: 0, latency_jitter_ms: 5, duplicate_frames: true}",
    )
    .await;
    for api in APIS {
        let got = ask(&llm, api, "m", "x", false).await;
        assert_eq!((got.status, got.ended), (200, Ended::Whole), "{api:?}");
        assert_eq!(got.text().matches("whole").count(), 1, "{api:?}: {}", got.text());
    }
}

#[tokio::test]
async fn probability_gates_chaos_and_nothing_else() {
    let llm = start(&fixture(
        "duplicate_frames: true, probability: 0.0, truncate_after_frames: 3, latency_ms: 100",
    ))
    .await;
    let began = Instant::now();
    let got = ask(&llm, Api::Chat, "m", "x", true).await;
    let events = got.events();
    assert_eq!(events.len(), 3);
    assert_ne!(events[1], events[2]);
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn jitter_keeps_to_its_range() {
    let llm = start(
        "fixtures:
          - response: {content: 'abcdefghij'}
            streaming: {latency: 20, chunk_size: 1}
            failure: {latency_jitter_ms: 20, chaos_seed: 1}",
    )
    .await;
    let began = Instant::now();
    let got = ask(&llm, Api::Chat, "m", "x", true).await;
    assert_eq!(Api::Chat.said(&got), "abcdefghij");
    // Thirteen frames, twelve waits between 0 and 40 ms: a sum of almost nothing has no chance.
    assert!(began.elapsed() >= Duration::from_millis(100));
    assert_eq!(llm.journal().entries()[0].faults, ["latency_jitter_ms"]);
}
