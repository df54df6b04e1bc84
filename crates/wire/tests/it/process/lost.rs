//! What a call ends with whose server is lost while it is not yet known why.

use std::{net::TcpListener, rc::Rc, time::Duration};

use mcp_loadtest_core::{event::Phase, mcp::Revision, outcome::ErrorCategory};
use mcp_loadtest_wire::{
    clock::Clock,
    process::Host,
    session::{Address, Deadlines, How, Options, Owner, Reply, Session, Target},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::{task::LocalSet, time::Instant};

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

/// Hangs up on every call and lives on, but for `die`, of which it dies a while later.
const HANGS_UP: &str = r#"
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if ask["method"] == "tools/call":
            self.close_connection = True
            if ask["params"]["name"] == "die":
                threading.Timer(0.5, os._exit, [3]).start()
            return
        result = {"protocolVersion": "2025-11-25", "capabilities": {}}
        reply = json.dumps({"jsonrpc": "2.0", "id": ask.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in ask else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply) if "id" in ask else 0))
        self.end_headers()
        self.wfile.write(reply if "id" in ask else b"")
    def log_message(self, *said):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// How long a server is waited for that may have died of a lost connection.
const PATIENCE: Duration = Duration::from_secs(3);

/// A server of ours that is reached by its address.
fn reached(script: &str) -> Target {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let port = port.expect("a free port").port();
    let mut launch = python(script);
    launch.args.push(port.to_string());
    let host = Host::new(launch, None).expect("a thread");
    let url = format!("http://127.0.0.1:{port}/mcp");
    Target::Http(Address { owner: Owner::Ours(host), ..Address::new(url) })
}

async fn say_hello(target: &Target) -> Session {
    let options =
        Options { startup_timeout: DEADLINE, ..Options::new(Rc::new(Nowhere), Clock::start()) };
    let opened = Session::open(target, &options, Revision::V2025_11_25).await;
    opened.expect("it says hello").0
}

async fn call(session: &Session, tool: &str) -> Reply {
    let patient = Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: DEADLINE };
    let call = session.prepare_tool_call(tool, &json!({}), &Value::Null);
    session.call(&call, How::new(Phase::Load, patient)).await
}

/// Every lost connection to a server that we had started took three seconds, which counted as the server's,
/// while the caller's place was taken.
#[tokio::test]
async fn a_server_that_hangs_up_and_lives_on_is_waited_for_once_and_at_our_cost() {
    const CALLS: u32 = 12;
    // A session of its own for each call has a process of its own.
    for apart in [false, true] {
        let target = reached(HANGS_UP);
        let test = async {
            let mut session = say_hello(&target).await;
            let began = Instant::now();
            for number in 0..CALLS {
                if apart {
                    session.close().await;
                    session = say_hello(&target).await;
                }
                let reply = call(&session, "hang up").await;
                assert_eq!(reply.failure(), Some(ErrorCategory::Disconnected), "{reply:?}");
                let ours = began.elapsed().saturating_sub(reply.took());
                assert!(number > 0 || ours >= PATIENCE, "{ours:?} of it are not the server's");
            }
            assert!(began.elapsed() < PATIENCE * (CALLS - 1), "{:?}", began.elapsed());
            assert!(!session.is_broken());
            session.close().await;
        };
        LocalSet::new().run_until(test).await;
    }
}

/// The connection is lost long before the process ends, as on a busy machine.
#[tokio::test]
async fn a_server_that_dies_of_a_call_has_crashed_also_for_those_who_lost_it_first() {
    let target = reached(HANGS_UP);
    let test = async {
        let session = say_hello(&target).await;
        let reply = call(&session, "die").await;
        assert_eq!(reply.failure(), Some(ErrorCategory::Crash), "{reply:?}");
        assert!(session.is_broken());
        session.close().await;
    };
    LocalSet::new().run_until(test).await;
}

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
                let began = Instant::now();
                let reply = session.call(&call, How::new(Phase::Load, deadlines)).await;
                assert_eq!(reply.failure(), Some(ErrorCategory::Disconnected), "{reply:?}");
                assert!(reply.message.contains("closed its output"), "{reply:?}");
                // That is said by whoever has looked long enough.
                let is_sure = began.elapsed() >= PATIENCE;
                assert!(is_sure || !reply.message.contains("still runs"), "{reply:?}");
                session.close().await;
            }
        })
        .await;
}
