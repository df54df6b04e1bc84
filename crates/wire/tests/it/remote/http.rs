//! Streamable HTTP with servers that take liberties, or have none of their own.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{event::note, mcp::Revision, outcome::ErrorCategory};
use mcp_loadtest_wire::session::{Address, OpenError, Outgoing, Session, Target};
use serde_json::{Value, json};
use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    sync::Notify,
    task::{JoinSet, spawn_local},
    time::sleep,
};

use super::support::{
    LIMIT, answer, bind, bounded, call, failed, header, open, options, read_head, say,
};

const KIB: usize = 1 << 10;
const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

/// A request, and the connection on which it waits.
struct Asked {
    socket: TcpStream,
    head: String,
    message: Value,
}

impl Asked {
    fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    fn is_get(&self) -> bool {
        self.head.starts_with("GET")
    }

    /// Says this and keeps the connection.
    async fn with(mut self, text: &str) -> Option<TcpStream> {
        say(&mut self.socket, text).await;
        Some(self.socket)
    }

    /// What a good server says.
    async fn well(self) -> Option<TcpStream> {
        if self.is_get() {
            return self.with("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n").await;
        }
        match answer(&self.message) {
            Some(reply) => self.with(&as_json(&reply)).await,
            None => self.with(ACCEPTED).await,
        }
    }

    /// The good reply, as it stands on a stream.
    fn event(&self) -> String {
        format!("data: {}\n\n", answer(&self.message).expect("it is a request"))
    }
}

fn as_json(reply: &Value) -> String {
    let body = reply.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// A server that answers each request with `play`; `None` closes the connection.
async fn script<F>(play: impl Fn(Asked) -> F + 'static) -> Target
where
    F: Future<Output = Option<TcpStream>> + 'static,
{
    let (listener, address) = bind().await;
    let play = Rc::new(play);
    spawn_local(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let play = play.clone();
            spawn_local(async move {
                let mut next = Some(socket);
                while let Some(mut socket) = next.take() {
                    let Some(head) = read_head(&mut socket).await else { return };
                    let length = header(&head, "content-length").and_then(|it| it.parse().ok());
                    let mut body = vec![0; length.unwrap_or(0)];
                    if socket.read_exact(&mut body).await.is_err() {
                        return;
                    }
                    let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
                    next = play(Asked { socket, head, message }).await;
                }
            });
        }
    });
    Target::Http(Address::new(format!("http://{address}/mcp")))
}

/// Servers that are written by hand often leave out where an empty answer ends. Official clients go on
/// once they have seen its status.
#[tokio::test]
async fn the_end_of_an_empty_answer_is_not_waited_for() {
    for endless in [
        "HTTP/1.1 202 Accepted\r\n\r\n",
        "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
        EVENTS,
    ] {
        bounded(async move {
            let server = script(move |asked| async move {
                if asked.is("notifications/initialized") {
                    return asked.with(endless).await;
                }
                asked.well().await
            })
            .await;
            let session = open(&server, &options(KIB).0).await.unwrap();
            assert_eq!(call(&session).await.failure(), None, "{endless}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_handshake_that_is_never_accepted_has_an_end() {
    bounded(async {
        let server = script(|asked| async move {
            if asked.is("notifications/initialized") {
                sleep(LIMIT).await;
            }
            asked.well().await
        })
        .await;
        let (mut options, _) = options(KIB);
        options.startup_timeout = Duration::from_secs(2);
        let Err(OpenError::Handshake { method, category, .. }) = open(&server, &options).await
        else {
            panic!("there is no session")
        };
        assert_eq!((method, category), ("notifications/initialized", ErrorCategory::Timeout));
    })
    .await;
}

#[tokio::test]
async fn an_interim_answer_is_not_the_answer() {
    bounded(async {
        let server = script(|mut asked| async move {
            for _ in 0..2 {
                say(&mut asked.socket, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n").await;
                // So that it comes in a piece of its own; should it not, the test sees less.
                sleep(Duration::from_millis(30)).await;
            }
            asked.well().await
        })
        .await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
    })
    .await;
}

/// The event that was cut in the middle is not the one from which the server is asked to go on.
#[tokio::test]
async fn a_stream_that_was_cut_goes_on_after_its_last_whole_event() {
    for resets in [false, true] {
        bounded(async move {
            let reply = Rc::new(RefCell::new(String::new()));
            let server = script(move |asked| cut_in_the_middle(asked, reply.clone(), resets)).await;
            let session = open(&server, &options(KIB).0).await.unwrap();
            let reply = call(&session).await;
            assert_eq!(reply.failure(), None, "reset: {resets}: {reply:?}");
        })
        .await;
    }
}

async fn cut_in_the_middle(
    mut asked: Asked,
    reply: Rc<RefCell<String>>,
    resets: bool,
) -> Option<TcpStream> {
    if let Some(from) = header(&asked.head, "last-event-id") {
        assert_eq!(from, "a1");
        let rest = format!("{EVENTS}id: a2\n{}", reply.borrow());
        return asked.with(&rest).await;
    }
    if !asked.is("tools/call") {
        return asked.well().await;
    }
    *reply.borrow_mut() = asked.event();
    let half = reply.borrow()[..30].to_owned();
    say(&mut asked.socket, format!("{EVENTS}id: a1\nretry: 0\ndata:\n\nid: a2\n{half}")).await;
    if resets {
        // A reset throws away what was not read yet.
        sleep(Duration::from_millis(300)).await;
        asked.socket.set_zero_linger().expect("it is a socket");
    }
    None
}

/// Official clients take events that are messages and pass others over.
#[tokio::test]
async fn events_of_other_names_are_no_messages() {
    bounded(async {
        let server = script(|asked| async move {
            if !asked.is("tools/call") {
                return asked.well().await;
            }
            let other = "event: ping\ndata: {}\n\nevent: progress\ndata: {\"id\":2}\n\n";
            let reply = format!("{EVENTS}{other}event: message\r\n{}", asked.event());
            asked.with(&reply).await
        })
        .await;
        let (options, notes) = options(KIB);
        let session = open(&server, &options).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        assert_eq!(notes.of(note::FRAME_DEFECT), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_is_too_long_is_told_as_over_other_transports() {
    let long = "x".repeat(2 * KIB);
    let begun = "{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"";
    let (length, more) = (begun.len() + long.len(), 100 * KIB);
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    for reply in [
        format!("{json}Content-Length: {length}\r\n\r\n{begun}{long}"),
        format!("{json}Content-Length: {more}\r\n\r\n{begun}{long}"),
        format!("{json}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{begun}{long}\r\n"),
        format!("{EVENTS}data: {begun}{long}\n\n"),
    ] {
        bounded(async move {
            let server = script(move |asked| {
                let reply = reply.clone();
                async move {
                    if asked.is("tools/call") {
                        return asked.with(&reply).await;
                    }
                    asked.well().await
                }
            })
            .await;
            let (options, notes) = options(KIB);
            let session = open(&server, &options).await.unwrap();
            failed(&call(&session).await, ErrorCategory::Malformed, "frame_too_large");
            assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 1);
            assert!(!session.is_broken());
        })
        .await;
    }
}

/// A server may ask us something before it answers, also what no client would have sent.
#[tokio::test]
async fn what_a_server_asks_beside_a_raw_request_is_answered() {
    bounded(async {
        let answered = Rc::new(Notify::new());
        let server = script(move |asked| ask_first(asked, answered.clone())).await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        let raw = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {}});
        let outgoing = Outgoing::Frame(raw.to_string().into_bytes());
        let is_reply = |frame: &[u8]| String::from_utf8_lossy(frame).contains("\"result\"");
        let reply = session.exchange_raw(&outgoing, LIMIT, is_reply).await;
        assert!(reply.answered, "{reply:?}");
        assert_eq!(reply.frames.len(), 2);
    })
    .await;
}

async fn ask_first(mut asked: Asked, answered: Rc<Notify>) -> Option<TcpStream> {
    if asked.message["id"] == "r1" {
        answered.notify_one();
    }
    if asked.message["id"] != 77 {
        return asked.well().await;
    }
    let question = json!({"jsonrpc": "2.0", "id": "r1", "method": "roots/list"});
    say(&mut asked.socket, format!("{EVENTS}data: {question}\n\n")).await;
    answered.notified().await;
    let reply = asked.event();
    asked.with(&reply).await
}

/// Some answer a notification with a stream, and ask something on it.
#[tokio::test]
async fn what_a_server_asks_in_place_of_accepting_is_answered() {
    bounded(async {
        let answered = Rc::new(Notify::new());
        let seen = answered.clone();
        let server = script(move |asked| {
            let seen = seen.clone();
            async move {
                if asked.message["id"] == "r1" {
                    seen.notify_one();
                }
                if asked.is("notifications/initialized") {
                    let question = json!({"jsonrpc": "2.0", "id": "r1", "method": "roots/list"});
                    return asked.with(&format!("{EVENTS}data: {question}\n\n")).await;
                }
                asked.well().await
            }
        })
        .await;
        let _session = open(&server, &options(KIB).0).await.unwrap();
        answered.notified().await;
    })
    .await;
}

/// A stream that ends with the whole of what the server has to say is no connection that broke.
#[tokio::test]
async fn a_stream_that_ends_without_the_awaited_answer_leaves_nobody_gone() {
    bounded(async {
        let server = script(|mut asked| async move {
            if asked.message["id"] != "x" {
                return asked.well().await;
            }
            let refusal =
                json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}});
            say(&mut asked.socket, format!("{EVENTS}id: 1\nretry: 0\ndata: {refusal}\n\n")).await;
            None
        })
        .await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        let raw = json!({"jsonrpc": "2.0", "id": "x", "method": "ping"});
        let outgoing = Outgoing::Frame(raw.to_string().into_bytes());
        let reply = session.exchange_raw(&outgoing, LIMIT, |_| false).await;
        assert_eq!((reply.frames.len(), reply.gone), (1, None));
    })
    .await;
}

/// A server of both eras may answer an unknown method with 404, which is no word about the session.
#[tokio::test]
async fn a_404_that_names_the_method_leaves_the_session() {
    bounded(async {
        let server = script(|asked| async move {
            if !asked.is("tools/call") {
                return asked.well().await;
            }
            let id = &asked.message["id"];
            let error = json!({"code": -32601, "message": "no such method"});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
            let length = body.len();
            let head = format!(
                "HTTP/1.1 404 No\r\nContent-Type: application/json\r\nContent-Length: {length}"
            );
            asked.with(&format!("{head}\r\n\r\n{body}")).await
        })
        .await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        failed(&call(&session).await, ErrorCategory::ProtocolError, "no such method");
        assert!(!session.is_broken());
    })
    .await;
}

/// A log on the stream is no reply, even where it looks like one to somebody who guesses.
#[tokio::test]
async fn a_log_beside_the_only_call_is_not_its_reply() {
    bounded(async {
        let server = script(|asked| async move {
            if !asked.is("tools/call") {
                return asked.well().await;
            }
            let id = &asked.message["id"];
            let log = format!("data: {{\"level\":30,\"msg\":\"called\",\"id\":{id}}}\n\n");
            let reply = format!("{EVENTS}{log}{}", asked.event());
            asked.with(&reply).await
        })
        .await;
        let (options, notes) = options(KIB);
        let session = open(&server, &options).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        assert_eq!(notes.of(note::FRAME_DEFECT).len(), 1);
        assert_eq!(notes.of(note::ORPHAN_REPLY), Vec::<String>::new());
    })
    .await;
}

/// Revisions up to 2025-03-26 have batches, and whoever speaks one must take them.
#[tokio::test]
async fn replies_may_come_in_a_batch_where_the_revision_has_them() {
    for (revision, takes) in [(Revision::V2025_03_26, true), (Revision::V2025_06_18, false)] {
        bounded(async move {
            let server = script(|asked| async move {
                if !asked.is("tools/call") {
                    return asked.well().await;
                }
                let notice = json!({"jsonrpc": "2.0", "method": "notifications/message"});
                let batch = json!([notice, answer(&asked.message)]);
                asked.with(&as_json(&batch)).await
            })
            .await;
            let (options, notes) = options(KIB);
            let session = Session::open(&server, &options, revision).await.unwrap().0;
            let reply = call(&session).await;
            assert_eq!(reply.failure().is_none(), takes, "{revision}: {reply:?}");
            assert_eq!(session.notifications(), u64::from(takes));
            assert_eq!(notes.of(note::FRAME_DEFECT).is_empty(), takes);
        })
        .await;
    }
}

/// A server that asks for ever and takes no answer loses the session; it must not take all our connections.
#[tokio::test]
async fn a_flood_of_questions_takes_few_connections() {
    bounded(async {
        let open_posts = Rc::new(Cell::new(0_usize));
        let most = Rc::new(Cell::new(0));
        let (counted, seen) = (open_posts.clone(), most.clone());
        let server = script(move |asked| {
            let (counted, seen) = (counted.clone(), seen.clone());
            async move {
                if asked.is("tools/call") {
                    let ping = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n";
                    return asked.with(&format!("{EVENTS}{}", ping.repeat(11_000))).await;
                }
                if asked.message.get("result").is_none() {
                    return asked.well().await;
                }
                counted.set(counted.get() + 1);
                seen.set(seen.get().max(counted.get()));
                sleep(LIMIT).await;
                Some(asked.socket)
            }
        })
        .await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        failed(&call(&session).await, ErrorCategory::Disconnected, "POSTs are not answered");
        session.close().await;
        assert!(most.get() <= 256, "{}", most.get());
    })
    .await;
}

/// An event that is too long and shows no id near its beginning, where others write it last.
fn long_event(id: &Value) -> String {
    let text = "x".repeat(200 * KIB);
    format!("data: {{\"result\":{{\"text\":\"{text}\"}},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n\n")
}

/// The stream says whose reply it is. Such calls were told as a deadlock, or as connections that closed.
#[tokio::test]
async fn a_reply_that_is_too_long_is_known_by_its_stream() {
    for ends in [true, false] {
        bounded(async move {
            let server = script(move |asked| async move {
                if !asked.is("tools/call") {
                    return asked.well().await;
                }
                let event = format!("{EVENTS}{}", long_event(&asked.message["id"]));
                asked.with(&event).await.filter(|_| !ends)
            })
            .await;
            let (options, notes) = options(64 * KIB);
            let session = open(&server, &options).await.unwrap();
            // Two, so that none of them is the only one that waits.
            let (one, two) = tokio::join!(call(&session), call(&session));
            failed(&one, ErrorCategory::Malformed, "");
            failed(&two, ErrorCategory::Malformed, "");
            assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 2);
        })
        .await;
    }
}

/// Nobody awaits anything on a stream that has brought its reply.
#[tokio::test]
async fn what_is_too_long_behind_a_reply_ends_no_other_call() {
    bounded(async {
        let (options, notes) = options(64 * KIB);
        let (is_first, seen) = (Rc::new(Cell::new(true)), notes.clone());
        let server = script(move |asked| {
            let (is_first, seen) = (is_first.clone(), seen.clone());
            async move {
                if !asked.is("tools/call") {
                    return asked.well().await;
                }
                if is_first.replace(false) {
                    let events = format!("{EVENTS}{}{}", asked.event(), long_event(&json!(1)));
                    return asked.with(&events).await;
                }
                while seen.of(note::FRAME_TOO_LARGE).is_empty() {
                    sleep(Duration::from_millis(5)).await;
                }
                asked.well().await
            }
        })
        .await;
        let session = open(&server, &options).await.unwrap();
        let (one, two) = tokio::join!(call(&session), call(&session));
        assert_eq!((one.failure(), two.failure()), (None, None));
    })
    .await;
}

/// Where more than 64 streams went on after their replies, the connections of the others were closed.
#[tokio::test]
async fn as_many_streams_may_go_on_as_calls_were_in_flight() {
    const CALLS: usize = 100;
    bounded(async {
        let (asked_for, closed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let counted = closed.clone();
        let server = script(move |asked| {
            let (asked_for, closed) = (asked_for.clone(), counted.clone());
            async move {
                if !asked.is("tools/call") {
                    return asked.well().await;
                }
                asked_for.set(asked_for.get() + 1);
                while asked_for.get() < CALLS {
                    sleep(Duration::from_millis(5)).await;
                }
                let events = format!("{EVENTS}{}", asked.event());
                let (socket, mut byte) = (asked.with(&events).await?, [0]);
                tokio::select! {
                    _ = socket.peek(&mut byte) => closed.set(closed.get() + 1),
                    () = sleep(Duration::from_secs(1)) => {}
                }
                None
            }
        })
        .await;
        let session = open(&server, &options(KIB).0).await.unwrap();
        let mut calls = JoinSet::new();
        for _ in 0..CALLS {
            let session = session.clone();
            calls.spawn_local(async move { call(&session).await });
        }
        for reply in calls.join_all().await {
            assert_eq!(reply.failure(), None, "{reply:?}");
        }
        // As long as the streams go on.
        sleep(Duration::from_millis(500)).await;
        assert_eq!(closed.get(), 0);
    })
    .await;
}
