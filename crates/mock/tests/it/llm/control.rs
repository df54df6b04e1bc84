//! The admin interface.

use mcp_loadtest_mock::{admin::Access, llm::MockLlm};

use super::peer::{Api, exchange_at};

#[tokio::test]
async fn fixtures_are_switched_and_the_journal_read() {
    let any = "127.0.0.1:0".parse().unwrap();
    let bound = MockLlm::new().fixtures("fixtures: [{response: {content: one}}]").unwrap();
    let bound = bound.bind(any).await.unwrap();
    let admin = bound.controlled().bind(any, Access::default()).await.unwrap();
    let authority = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let control = authority(&admin.url());
    let llm = bound.spawn();
    let at = authority(llm.url());
    tokio::spawn(admin.serve());
    let body = Api::Chat.body("m", "x", false).to_string();
    let ask = || exchange_at(&at, "POST", "/v1/chat/completions", &body);
    assert!(ask().await.text().contains("one"));
    let put = |text: &'static str| exchange_at(&control, "PUT", "/fixtures", text);
    let bad = put("fixtures:\n  - {respons: {content: two}}").await;
    assert_eq!(bad.status, 400);
    assert!(bad.text().contains("the body:2"), "{}", bad.text());
    assert!(ask().await.text().contains("one"), "the old ones stay in force");
    assert_eq!(put("fixtures: [{response: {content: two}}]").await.status, 200);
    assert!(ask().await.text().contains("two"));
    let journal = exchange_at(&control, "GET", "/journal", "").await;
    assert_eq!(journal.text().lines().count(), 3);
    let verdict = exchange_at(&control, "GET", "/verdict", "").await.json();
    assert_eq!(
        (verdict["verdict"].as_str(), verdict["requests"].as_u64()),
        (Some("PASS"), Some(3))
    );
    exchange_at(&control, "POST", "/reset", "").await;
    assert_eq!(exchange_at(&control, "GET", "/journal", "").await.text(), "");
}
