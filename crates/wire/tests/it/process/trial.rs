//! A server that is only tried for its era ends as any other: when its input does.

use std::rc::Rc;

use mcp_loadtest_core::mcp::Revision;
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Options, Target, find_revision},
    sink::Nowhere,
};
use tokio::task::LocalSet;

use super::support::*;

/// Answers what it is asked, and takes a moment to write a goodbye once nothing more comes.
const TIDY: &str = r#"
import json, sys, time
for line in sys.stdin:
    ask = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": ask["id"], "result": {"supportedVersions": ["2026-07-28"]}}
    print(json.dumps(reply), flush=True)
time.sleep(0.05)
open(sys.argv[1], "a").write("goodbye\n")
"#;

/// Each try gives the server a second, which a busy machine may take away from it; not every time.
const TRIES: usize = 20;

#[tokio::test]
async fn a_server_on_trial_may_tidy_up() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut launch = python(TIDY);
    launch.args.push(log.display().to_string());
    let target = Target::Stdio(launch);
    let options = Options::new(Rc::new(Nowhere), Clock::start());
    LocalSet::new()
        .run_until(async {
            for _ in 0..TRIES {
                let probe = find_revision(&target, &options).await.expect("an answer");
                assert_eq!(probe.revision, Revision::NEWEST_MODERN, "{}", probe.reason);
                if log.exists() {
                    return;
                }
            }
            panic!("it was never given the time to write");
        })
        .await;
}
