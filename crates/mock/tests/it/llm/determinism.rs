//! The same seed gives the same bytes, in any order of requests where the seed is explicit.

use mcp_loadtest_core::seed::Seed;
use mcp_loadtest_mock::llm::{MockLlm, RunningLlm};

use super::peer::{APIS, Api, ask};

const FIXTURES: &str = "
fixtures:
  - match: {user_message: chaos}
    response: {content: 'A somewhat longer response that spans several chunks.'}
    streaming: {chunk_size: 6}
    failure: {duplicate_frames: true, probability: 0.5, chaos_seed: 7}
  - response: {content: 'Another one, which may be cut.'}
    streaming: {chunk_size: 5}
    failure: {duplicate_frames: true, probability: 0.5}
    faults: [{at: {after_chars: 12}, cut: clean_eof, when: {probability: 0.5}}]
";

async fn server(seed: u64) -> RunningLlm {
    MockLlm::new().fixtures(FIXTURES).unwrap().seed(Seed(seed)).spawn().await.unwrap()
}

/// The bodies that a server sends to these questions, and its log of faults.
async fn told(seed: u64, asked: &[(Api, &str)]) -> Vec<(Vec<u8>, Vec<String>, u64)> {
    let llm = server(seed).await;
    let mut told = Vec::new();
    for (number, (api, user)) in asked.iter().enumerate() {
        let body = ask(&llm, *api, "m", user, true).await.body;
        let entry = llm.journal().entries()[number].clone();
        told.push((body, entry.faults, entry.seed));
    }
    told
}

#[tokio::test]
async fn a_thousand_runs_are_the_same() {
    let asked: Vec<_> = APIS.iter().flat_map(|api| [(*api, "chaos"), (*api, "plain")]).collect();
    let first = told(3, &asked).await;
    for _ in 0..1_000 {
        assert_eq!(told(3, &asked).await, first);
    }
    assert_ne!(told(4, &asked).await, first, "another seed differs");
}

#[tokio::test]
async fn an_explicit_seed_does_not_know_the_order() {
    let forth: Vec<_> = APIS.iter().map(|api| (*api, "chaos")).collect();
    let back: Vec<_> = forth.iter().rev().copied().collect();
    let mut mixed = vec![(Api::Chat, "plain"), (Api::Chat, "chaos")];
    mixed.extend(&back);
    let forth = told(1, &forth).await;
    let mut back = told(2, &back).await;
    back.reverse();
    assert_eq!(forth, back, "neither the order nor the server's seed plays a part");
    let mixed = told(1, &mixed).await;
    assert_eq!(mixed[1], forth[0]);
}
