//! A session with a scripted server, and what it told.

use std::{cell::RefCell, net::SocketAddr, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::{Event, Phase},
    mcp::Revision,
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Deadlines, How, OpenError, Options, Reply, Session, Target},
    sink::Sink,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::LocalSet,
    time::timeout,
};

/// Far more than anything here takes.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// Remembers the notes.
#[derive(Default)]
pub(super) struct Notes(RefCell<Vec<(String, String)>>);

impl Sink for Notes {
    fn emit(&self, event: &Event<'_>) {
        if let Event::Scenario { name, detail, .. } = event {
            self.0.borrow_mut().push((name.to_string(), detail.to_string()));
        }
    }
}

impl Notes {
    /// What was noted under this name.
    pub(super) fn of(&self, name: &str) -> Vec<String> {
        let notes = self.0.borrow();
        notes.iter().filter(|note| note.0 == name).map(|note| note.1.clone()).collect()
    }
}

/// Options that keep notes, with a limit on messages.
pub(super) fn options(message_limit: usize) -> (Options, Rc<Notes>) {
    let notes = Rc::new(Notes::default());
    let options = Options {
        message_limit,
        startup_timeout: LIMIT,
        shortest_deadline: Duration::from_millis(100),
        ..Options::new(notes.clone(), Clock::start())
    };
    (options, notes)
}

/// Opens a legacy session.
pub(super) async fn open(target: &Target, options: &Options) -> Result<Session, OpenError> {
    Session::open(target, options, Revision::NEWEST_LEGACY).await.map(|opened| opened.0)
}

/// Calls the echo tool.
pub(super) async fn call(session: &Session) -> Reply {
    let prepared = session.prepare_tool_call("echo", &json!({}), &Value::Null);
    let deadlines = Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: LIMIT };
    let how = How { keep_body: true, ..How::new(Phase::Load, deadlines) };
    session.call(&prepared, how).await
}

/// The reply that a call must get.
pub(super) fn failed(reply: &Reply, category: ErrorCategory, words: &str) {
    assert_eq!(reply.failure(), Some(category), "{reply:?}");
    assert!(reply.message.contains(words), "`{}` does not say `{words}`", reply.message);
}

/// Runs a test that must come to an end.
pub(super) async fn bounded(test: impl Future<Output = ()>) {
    LocalSet::new().run_until(timeout(LIMIT, test)).await.expect("the test ends");
}

/// Listens on a port that the system chooses.
pub(super) async fn bind() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// Reads the head of a request.
pub(super) async fn read_head(socket: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = socket.read_u8().await.ok()?;
        head.push(byte);
    }
    Some(String::from_utf8(head).expect("a head is text"))
}

/// The value of a header.
pub(super) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// Writes, whether or not anybody listens any more.
pub(super) async fn say(socket: &mut TcpStream, text: impl AsRef<[u8]>) {
    let _ = socket.write_all(text.as_ref()).await;
}

/// The good answer to a request of the legacy era; `None` for a notification.
pub(super) fn answer(message: &Value) -> Option<Value> {
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "script", "version": "1"},
        }),
        "tools/call" => json!({"content": [{"type": "text", "text": "ok"}]}),
        _ => json!({}),
    };
    Some(json!({"jsonrpc": "2.0", "id": message.get("id")?, "result": result}))
}
