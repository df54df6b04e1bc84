//! Our own client against the healthy mock, in every revision.

use mcp_loadtest_core::{
    mcp::{Era, Revision},
    outcome::Outcome,
};
use mcp_loadtest_wire::session::{How, find_revision};
use serde_json::json;
use tokio::task::LocalSet;

use super::support::{LIMIT, echo, open, options, start, target, text_of};

#[tokio::test]
async fn every_revision_is_spoken() {
    LocalSet::new()
        .run_until(async {
            let mock = start("none").await;
            for revision in Revision::ALL {
                let (session, hello) = open(&mock, revision).await;
                assert_eq!((hello.revision, hello.era), (revision, revision.era()));
                assert_eq!(hello.name.as_deref(), Some("mcp-loadtest-mock"));
                assert!(hello.has_tools());
                let listing = session.list_tools(LIMIT).await.expect("a list");
                assert_eq!((listing.refused.len(), &listing.problem), (0, &None));
                assert_eq!(listing.tools[0].name, "echo");
                let reply = echo(&session, "grüße \"\n", LIMIT).await;
                assert_eq!(
                    text_of(&reply),
                    json!({"text": "grüße \"\n"}).to_string(),
                    "{revision}"
                );
                session.close().await;
            }
        })
        .await;
}

#[tokio::test]
async fn the_era_probe_finds_the_modern_one() {
    LocalSet::new()
        .run_until(async {
            let mock = start("none").await;
            let probe = find_revision(&target(&mock), &options()).await.expect("an answer");
            assert_eq!(probe.revision, Revision::NEWEST_MODERN, "{}", probe.reason);
        })
        .await;
}

#[tokio::test]
async fn a_healthy_mock_answers_many_calls_at_once() {
    LocalSet::new()
        .run_until(async {
            let mock = start("none").await;
            for revision in [Revision::NEWEST_LEGACY, Revision::NEWEST_MODERN] {
                let (session, _) = open(&mock, revision).await;
                let mut calls = tokio::task::JoinSet::new();
                for n in 0..200 {
                    let session = session.clone();
                    calls.spawn_local(
                        async move { (n, echo(&session, &n.to_string(), LIMIT).await) },
                    );
                }
                while let Some(joined) = calls.join_next().await {
                    let (n, reply) = joined.unwrap();
                    assert_eq!(text_of(&reply), json!({"text": n.to_string()}).to_string());
                }
            }
        })
        .await;
}

#[tokio::test]
async fn a_large_message_makes_the_round_trip() {
    LocalSet::new()
        .run_until(async {
            let mock = start("none").await;
            let (session, _) = open(&mock, Revision::NEWEST_MODERN).await;
            let text = "x".repeat(3 << 20);
            let reply = echo(&session, &text, LIMIT).await;
            assert_eq!(text_of(&reply).len(), text.len() + json!({"text": ""}).to_string().len());
        })
        .await;
}

#[tokio::test]
async fn ping_is_legacy_and_unknown_methods_are_refused_in_both_eras() {
    LocalSet::new()
        .run_until(async {
            let mock = start("none").await;
            for revision in [Revision::NEWEST_LEGACY, Revision::NEWEST_MODERN] {
                let (session, _) = open(&mock, revision).await;
                let call = |method| session.prepare(method, json!({}));
                let ping = session.call(&call("ping"), How::setup(LIMIT)).await;
                assert_eq!(ping.outcome == Outcome::Ok, revision.era() == Era::Legacy, "{ping:?}");
                let unknown = session.call(&call("no/such"), How::setup(LIMIT)).await;
                assert_eq!(unknown.code, Some(-32601), "{unknown:?}");
            }
        })
        .await;
}
