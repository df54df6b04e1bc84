//! What a call ends with whose server is lost while it is not yet known why.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{event::Phase, mcp::Revision, outcome::ErrorCategory};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Deadlines, How, Options, Session, Target},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::task::LocalSet;

use super::support::*;

/// Says hello, closes its output at the first call, and lives on.
const MUTE: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    ask = json.loads(line)
    if ask["method"] == "tools/call":
        os.close(1)
    elif "id" in ask:
        result = {"protocolVersion": "2025-11-25", "capabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
"#;

/// A deadline that passes before it is clear whether the server dies is no sign of a deadlock.
#[tokio::test]
async fn a_call_whose_server_is_mute_is_lost_and_not_silent() {
    let target = Target::Stdio(python(MUTE));
    let options = Options::new(Rc::new(Nowhere), Clock::start());
    // Shorter than what it takes to find out whether the server dies, and no shorter than need be.
    let brief = Duration::from_millis(2500);
    let silent = Deadlines { hang: brief / 2, grace: brief / 2, timeout: Duration::MAX };
    let given_up = Deadlines { hang: brief, grace: Duration::MAX, timeout: brief };
    LocalSet::new()
        .run_until(async {
            for deadlines in [silent, given_up] {
                let opened = Session::open(&target, &options, Revision::V2025_11_25).await;
                let session = opened.expect("it says hello").0;
                let call = session.prepare_tool_call("echo", &json!({}), &Value::Null);
                let reply = session.call(&call, How::new(Phase::Load, deadlines)).await;
                assert_eq!(reply.failure(), Some(ErrorCategory::Disconnected), "{reply:?}");
                assert!(reply.message.contains("closed its output"), "{reply:?}");
                session.close().await;
            }
        })
        .await;
}
