//! What nobody should send.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::peer::{APIS, Api, Got, LIMIT, ask, connect, exchange, receive, start, written};

const FINE: &str = "fixtures: [{response: {content: fine}}]";

/// A refusal has the form of the API whose path was asked for.
fn assert_shape(api: Api, got: &Got, status: u16) {
    assert_eq!(got.status, status, "{api:?}: {}", got.text());
    let body = got.json();
    let shaped = match api {
        Api::Chat | Api::Responses => body["error"]["type"].is_string(),
        Api::Messages => body["type"] == "error" && body["request_id"].is_string(),
        Api::Gemini => body["error"]["status"].is_string(),
    };
    assert!(shaped, "{api:?}: {body}");
}

fn rss_kb() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_by_their_length() {
    let llm = start(FINE).await;
    for api in APIS {
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 104857600\r\n\r\n",
            api.path(false)
        );
        assert_shape(api, &exchange(&llm, head.as_bytes()).await, 413);
    }
    assert_eq!(ask(&llm, Api::Chat, "m", "x", false).await.status, 200);
}

#[tokio::test]
async fn chunks_without_end_are_refused_when_there_are_too_many() {
    let llm = start(FINE).await;
    let before = rss_kb();
    let mut stream = connect(&llm).await;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut chunk = b"100000\r\n".to_vec();
    chunk.resize(chunk.len() + (1 << 20), b' ');
    chunk.extend_from_slice(b"\r\n");
    for _ in 0..100 {
        if stream.write_all(&chunk).await.is_err() {
            break;
        }
    }
    let got = tokio::time::timeout(LIMIT, receive(&mut stream)).await.unwrap();
    // Whoever goes on sending may find the connection gone before it can read why.
    if got.status != 0 {
        assert_shape(Api::Messages, &got, 413);
    }
    assert!(rss_kb() < before + 150_000, "{} kB more", rss_kb() - before);
    assert_eq!(ask(&llm, Api::Chat, "m", "x", false).await.status, 200);
}

#[tokio::test]
async fn a_million_headers_are_refused() {
    let llm = start(FINE).await;
    let before = rss_kb();
    let mut stream = connect(&llm).await;
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let lines = "a: b\r\n".repeat(10_000);
    for _ in 0..100 {
        if stream.write_all(lines.as_bytes()).await.is_err() {
            break;
        }
    }
    let got = tokio::time::timeout(LIMIT, receive(&mut stream)).await.unwrap();
    assert!(got.status == 431 || got.status == 0, "{got:?}");
    assert!(rss_kb() < before + 100_000);
    let few = "a: b\r\n".repeat(300);
    let bytes = format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\n{few}\r\n");
    assert_shape(Api::Messages, &exchange(&llm, bytes.as_bytes()).await, 431);
}

#[tokio::test]
async fn garbage_is_refused_and_others_are_unharmed() {
    let llm = start(FINE).await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /v1/chat/completions HTTP/9.9\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let got = exchange(&llm, bytes).await;
        assert!(got.status == 400 || got.status == 0, "{got:?}");
        assert_eq!(ask(&llm, Api::Chat, "m", "x", false).await.status, 200);
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [deep.as_bytes(), b"\xff\xfe", b"", b"null", b"[]", b"\"x\""] {
        for api in APIS {
            let got = exchange(&llm, &written("POST", api.path(false), &[], body)).await;
            assert_shape(api, &got, 400);
        }
    }
}

#[tokio::test]
async fn slow_senders_do_not_keep_others_waiting() {
    let llm = start(FINE).await;
    let mut slow = Vec::new();
    for _ in 0..500 {
        let mut stream = connect(&llm).await;
        stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nho").await.unwrap();
        slow.push(stream);
    }
    for api in APIS {
        assert_eq!(ask(&llm, api, "m", "x", true).await.status, 200);
    }
    for stream in &mut slow {
        stream.write_all(b"s").await.unwrap();
    }
    assert_eq!(ask(&llm, Api::Chat, "m", "x", false).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_come_to_its_end_is_given_up() {
    let llm = start(FINE).await;
    let mut stream = connect(&llm).await;
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let mut reply = Vec::new();
    let read = stream.read_to_end(&mut reply);
    tokio::time::timeout(Duration::from_secs(120), read).await.unwrap().unwrap();
    assert!(reply.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&reply));
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let llm = start("fixtures: [{response: {content_template: 'to {{ user_message }}'}}]").await;
    let mut stream = connect(&llm).await;
    let mut bytes = Vec::new();
    for user in ["one", "two", "three"] {
        let body = Api::Chat.body("m", user, true).to_string();
        bytes.extend(written("POST", Api::Chat.path(true), &[], body.as_bytes()));
    }
    stream.write_all(&bytes).await.unwrap();
    let mut all = String::new();
    while !all.contains("three") {
        let mut some = vec![0; 4096];
        let read = tokio::time::timeout(LIMIT, stream.read(&mut some)).await.unwrap().unwrap();
        all.push_str(&String::from_utf8_lossy(&some[..read]));
    }
    let places: Vec<_> =
        ["to one", "to two", "to three"].iter().map(|word| all.find(word)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
}
