//! What can be seen of a running server.

use mcp_loadtest_wire::process::{RunState, Sampler, inspect};

use super::support::*;

#[tokio::test]
async fn a_tree_is_seen_as_a_whole() {
    let (server, _) = spawn_ready(&sh("sleep 60 & sleep 60 & echo ready; wait")).await;
    // The shell says `ready` before its children are what they will be.
    until("three sleep", || {
        let tree = inspect(server.pid()).unwrap();
        (tree.processes, tree.states.of(RunState::Sleeping)) == (3, 3)
    })
    .await;
    let tree = inspect(server.pid()).unwrap();
    assert_eq!((tree.state, tree.states.to_string()), (RunState::Sleeping, "3 sleeping".into()));
    assert!(tree.rss_bytes > 3 * 4096);
    if cfg!(target_os = "linux") {
        assert_eq!(tree.threads, Some(3));
        assert!(tree.open_files >= Some(9));
        assert!(tree.waits.unwrap().starts_with("3 threads: "));
    }
}

#[tokio::test]
async fn a_stopped_server_is_seen_to_be_stopped() {
    let server = spawn(&sh("kill -STOP $$; sleep 60"));
    let state = || inspect(server.pid()).unwrap().state;
    until("it has stopped", || state() == RunState::Stopped).await;
}

#[tokio::test]
async fn a_busy_server_uses_a_processor() {
    let server = spawn(&sh("while :; do :; done"));
    let mut sampler = Sampler::new(server.pid());
    assert_eq!(sampler.sample().unwrap().cpu_pct, None);
    until("it uses a tenth of a processor", || sampler.sample().unwrap().cpu_pct > Some(10.0))
        .await;
    assert!(!inspect(server.pid()).unwrap().cpu.is_zero());
}

#[tokio::test]
async fn time_of_children_that_have_ended_counts() {
    let script = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; cat";
    let (server, _) = spawn_ready(&sh(script)).await;
    let tree = inspect(server.pid()).unwrap();
    assert!(!tree.cpu.is_zero() || !cfg!(target_os = "linux"));
}

#[tokio::test]
async fn who_is_gone_is_not_seen() {
    let mut server = spawn(&sh("exit"));
    server.wait().await;
    assert!(Sampler::new(server.pid()).sample().is_none());
}
