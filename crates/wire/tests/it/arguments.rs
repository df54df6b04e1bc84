//! Arguments that change from call to call, and replies that carry those of another.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    arguments::{CROSSED, Echo, NOT_ECHOED, Source, Turn},
    mcp::Revision,
    outcome::ErrorCategory,
    seed::Seed,
};
use mcp_loadtest_wire::{
    clock::Clock,
    process::Launch,
    session::{How, Options, Prepared, Reply, Session, Target},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::task::LocalSet;

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn mock(name: &str) -> Vec<String> {
    vec![fixtures().join(name).to_str().expect("a path of text").to_owned()]
}

/// A server whose every call has this result.
fn constant(result: &str) -> Vec<String> {
    let begin = format!("import sys; sys.path.insert(0, {:?})", fixtures());
    let rest =
        format!("from _common import ok, serve\nserve(lambda request: ok(request, {result}))");
    vec!["-c".into(), format!("{begin}\n{rest}")]
}

async fn open(python: Vec<String>) -> Session {
    let mut launch = Launch::new("python3");
    launch.args = python;
    // Alone is for good: the test is about pairs.
    launch.env.insert("MOCK_ALONE".into(), "60".into());
    let options = Options::new(Rc::new(Nowhere), Clock::start());
    let opened = Session::open(&Target::Stdio(launch), &options, Revision::V2025_11_25).await;
    opened.expect("the mock answers").0
}

/// Two calls of `echo` in flight, each with a nonce of its own.
async fn pair(python: Vec<String>, arguments: Value) -> [(Reply, String); 2] {
    let session = open(python).await;
    let base = session.prepare_tool_call("echo", &json!({}), &Value::Null);
    let source = Source::template(&arguments).expect("a template");
    let call = |iter| {
        let mut out = Vec::new();
        let nonce = source.render(&mut Turn::new(Seed(1), iter, 0, 0), &mut out).nonce;
        let prepared: Rc<Prepared> =
            base.with_arguments(&out, nonce.map(|nonce| (nonce, Echo::Must)));
        let session = &session;
        async move {
            let reply = session.call(&prepared, How::setup(LIMIT)).await;
            (reply, nonce.map(|nonce| nonce.to_string()).unwrap_or_default())
        }
    };
    let (one, two) = tokio::join!(call(0), call(1));
    session.close().await;
    [one, two]
}

#[tokio::test]
async fn each_call_sends_its_own_arguments_and_gets_them_back() {
    let template = json!({"text": "{{nonce}}", "n": "{{iter}}"});
    let replies = LocalSet::new().run_until(pair(mock("mock-normal.py"), template)).await;
    for (n, (reply, nonce)) in replies.iter().enumerate() {
        assert_eq!(reply.failure(), None, "{reply:?}");
        let result = reply.json().unwrap();
        let echoed: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(echoed, json!({"text": nonce, "n": n}));
    }
}

#[tokio::test]
async fn replies_that_were_mixed_up_are_noticed_by_their_nonces() {
    let template = json!({"text": "x {{nonce}}"});
    let replies = LocalSet::new().run_until(pair(mock("mock-crossed.py"), template)).await;
    let [(one, first), (two, second)] = replies;
    for (reply, own, other) in [(one, &first, &second), (two, &second, &first)] {
        assert_eq!(reply.failure(), Some(ErrorCategory::Malformed), "{reply:?}");
        assert_eq!(reply.message, format!("{CROSSED}: it carries nonce {other}, not {own}"));
    }
}

#[tokio::test]
async fn a_tool_that_does_not_give_the_nonce_back_fails() {
    let template = json!({"text": "{{nonce}}"});
    let server = constant("{'content': [{'type': 'text', 'text': 'done'}]}");
    let [(reply, nonce), _] = LocalSet::new().run_until(pair(server, template)).await;
    assert_eq!(reply.failure(), Some(ErrorCategory::Malformed), "{reply:?}");
    let message = format!("{NOT_ECHOED}: nonce {nonce} is missing");
    assert_eq!(reply.message, message);
}

#[tokio::test]
async fn without_a_nonce_nothing_is_expected() {
    let replies =
        LocalSet::new().run_until(pair(mock("mock-crossed.py"), json!({"n": "{{iter}}"}))).await;
    assert!(replies.iter().all(|(reply, _)| reply.failure().is_none()), "{replies:?}");
}
