//! WebSockets with servers that do not behave.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use mcp_loadtest_core::{
    event::{Phase, note},
    hint::Hint as _,
    mcp::{Era, Revision},
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::session::{
    Address, Deadlines, How, OpenError, Outgoing, Session, Target, find_revision,
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::spawn_local, time::sleep};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::derive_accept_key,
        protocol::{CloseFrame, Role},
    },
};

use super::support::{answer, bind, bounded, call, failed, header, open, options, read_head, say};

const KIB: usize = 1 << 10;

/// Upgrades by hand, so that anything can follow.
pub(super) async fn upgrade(socket: &mut TcpStream) -> Option<()> {
    let head = read_head(socket).await?;
    assert_eq!(header(&head, "sec-websocket-protocol"), Some("mcp"));
    let accept = derive_accept_key(header(&head, "sec-websocket-key")?.as_bytes());
    say(socket, format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")).await;
    Some(())
}

struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    async fn new(mut socket: TcpStream) -> Option<Self> {
        upgrade(&mut socket).await?;
        Some(Self(WebSocketStream::from_raw_socket(socket, Role::Server, None).await))
    }

    /// The next message that has an answer.
    async fn request(&mut self) -> Option<Value> {
        loop {
            if let Message::Text(text) = self.0.next().await?.ok()? {
                let message: Value = serde_json::from_str(&text).expect("we send JSON");
                if message.get("id").is_some() {
                    return Some(message);
                }
            }
        }
    }

    async fn send(&mut self, message: impl Into<Message>) {
        let _ = self.0.send(message.into()).await;
    }

    async fn greet(&mut self) -> Option<()> {
        let initialize = self.request().await?;
        self.send(answer(&initialize)?.to_string()).await;
        Some(())
    }

    async fn behave(&mut self) -> Option<()> {
        loop {
            let request = self.request().await?;
            self.send(answer(&request)?.to_string()).await;
        }
    }
}

/// A server that plays `script` on every connection.
pub(super) async fn script<F>(script: impl Fn(TcpStream) -> F + 'static) -> Target
where
    F: Future<Output = Option<()>> + 'static,
{
    let (listener, address) = bind().await;
    let url = format!("ws://{address}/ws");
    spawn_local(async move {
        while let Ok((socket, _)) = listener.accept().await {
            spawn_local(script(socket));
        }
    });
    Target::WebSocket(Address::new(url))
}

#[tokio::test]
async fn messages_may_come_in_pieces_and_pings_are_answered() {
    bounded(async {
        let target = script(|mut socket| async move {
            upgrade(&mut socket).await?;
            // The handshake: one text message in three frames, and a ping between them.
            let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {}}}).to_string();
            let (one, rest) = reply.as_bytes().split_at(10);
            let (two, three) = rest.split_at(10);
            for (head, part) in [(0x01, one), (0x89, b"ping"), (0x00, two), (0x80, three)] {
                say(&mut socket, [&[head, part.len() as u8], part].concat()).await;
            }
            let mut socket = Socket(WebSocketStream::from_raw_socket(socket, Role::Server, None).await);
            let mut ponged = false;
            while !ponged {
                ponged = matches!(socket.0.next().await?.ok()?, Message::Pong(it) if &it[..] == b"ping");
            }
            socket.behave().await
        })
        .await;
        let session = open(&target, &options(KIB).0).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        session.close().await;
    })
    .await;
}

#[tokio::test]
async fn both_eras_are_spoken() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            loop {
                let request = socket.request().await?;
                let mut reply = answer(&request)?;
                if request["method"] == "server/discover" {
                    reply["result"] = modern();
                }
                socket.send(reply.to_string()).await;
            }
        })
        .await;
        let (options, _) = options(KIB);
        let revision = find_revision(&target, &options).await.unwrap().revision;
        assert_eq!(revision.era(), Era::Modern);
        for revision in [revision, Revision::V2025_06_18] {
            let (session, hello) = Session::open(&target, &options, revision).await.unwrap();
            assert_eq!(hello.revision, revision);
            assert_eq!(call(&session).await.failure(), None);
        }
    })
    .await;
}

/// What a modern server says to `server/discover`.
fn modern() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
}

/// Starts slowly, and answers `initialize` before it says whether it is modern, if it ever does.
async fn slow_start(says_so: bool) -> Target {
    script(move |socket| async move {
        let mut socket = Socket::new(socket).await?;
        let (discover, initialize) = (socket.request().await?, socket.request().await?);
        assert_eq!(
            (&discover["method"], &initialize["method"]),
            (&json!("server/discover"), &json!("initialize"))
        );
        sleep(Duration::from_secs(2)).await;
        socket.send(answer(&initialize)?.to_string()).await;
        if says_so {
            sleep(Duration::from_millis(100)).await;
            socket
                .send(
                    json!({"jsonrpc": "2.0", "id": discover["id"], "result": modern()}).to_string(),
                )
                .await;
        }
        socket.request().await.map(|_| ())
    })
    .await
}

#[tokio::test]
async fn the_era_of_a_server_is_not_judged_by_which_answer_comes_first() {
    bounded(async {
        let (options, _) = options(KIB);
        for (says_so, era) in [(true, Era::Modern), (false, Era::Legacy)] {
            let probe = find_revision(&slow_start(says_so).await, &options).await.unwrap();
            assert_eq!(probe.revision.era(), era, "{}", probe.reason);
        }
    })
    .await;
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_session_and_not_us() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            socket.request().await?;
            socket.send("x".repeat(1 << 20)).await;
            socket.behave().await
        })
        .await;
        let (options, notes) = options(KIB);
        let session = open(&target, &options).await.unwrap();
        failed(&call(&session).await, ErrorCategory::Disconnected, "is longer than 1024");
        assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 1);
        assert!(session.broken().is_some());
    })
    .await;
}

/// Only the length is sent: memory for it must not be taken.
#[tokio::test]
async fn a_frame_that_claims_to_be_huge_is_refused_by_its_head() {
    bounded(async {
        let target = script(|mut socket| async move {
            upgrade(&mut socket).await?;
            say(&mut socket, [&[0x81, 127], &(1_u64 << 60).to_be_bytes()[..]].concat()).await;
            std::future::pending().await
        })
        .await;
        let (options, notes) = options(KIB);
        let error = open(&target, &options).await.unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
        assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 1);
    })
    .await;
}

/// A text message of frames that never end, each of this payload, in place of the first answer.
async fn fragments(payload: &'static [u8]) -> Target {
    script(move |socket| async move {
        let mut socket = Socket::new(socket).await?;
        socket.greet().await?;
        socket.request().await?;
        let mut socket = socket.0.into_inner();
        let head = |first: u8| [&[first, payload.len() as u8], payload].concat();
        socket.write_all(&head(0x01)).await.ok()?;
        let many = head(0x00).repeat(KIB);
        loop {
            socket.write_all(&many).await.ok()?;
        }
    })
    .await
}

#[tokio::test]
async fn fragments_without_end_are_cut_off_at_the_limit() {
    bounded(async {
        let (options, notes) = options(KIB);
        let session = open(&fragments(b"0123456789").await, &options).await.unwrap();
        // Nothing was kept beyond the frame that went over it.
        let words = "a message of 1030 bytes is longer than 1024";
        failed(&call(&session).await, ErrorCategory::Disconnected, words);
        assert_eq!(notes.of(note::FRAME_TOO_LARGE).len(), 1);
        assert!(session.broken().is_some());
    })
    .await;
}

/// There is nothing in them to keep, and no end of them.
#[tokio::test]
async fn empty_fragments_without_end_keep_no_call_alive() {
    bounded(async {
        let session = open(&fragments(b"").await, &options(KIB).0).await.unwrap();
        let prepared = session.prepare_tool_call("echo", &json!({}), &Value::Null);
        let moment = Duration::from_millis(200);
        let deadlines = Deadlines { hang: moment, grace: moment, timeout: Duration::MAX };
        let reply = session.call(&prepared, How::new(Phase::Load, deadlines)).await;
        assert_eq!(reply.failure(), Some(ErrorCategory::Deadlock), "{reply:?}");
    })
    .await;
}

/// Whoever listens until something comes must not listen for as long as anything comes.
#[tokio::test]
async fn a_server_that_never_pauses_is_not_listened_to_for_ever() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/message"}).to_string();
            loop {
                socket.0.send(notice.clone().into()).await.ok()?;
            }
        })
        .await;
        let session = open(&target, &options(KIB).0).await.unwrap();
        let patience = Duration::from_millis(300);
        let out = Outgoing::Frame(b"{}".to_vec());
        let reply = session.exchange_raw(&out, patience, |_| false).await;
        assert!(!reply.answered && reply.gone.is_none() && !reply.frames.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_close_in_mid_call_tells_its_code() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            socket.request().await?;
            let frame = CloseFrame { code: 1011.into(), reason: "out of \u{1b}[2J luck".into() };
            socket.send(Message::Close(Some(frame))).await;
            socket.0.next().await.map(drop)
        })
        .await;
        let session = open(&target, &options(KIB).0).await.unwrap();
        let (one, two) = tokio::join!(call(&session), call(&session));
        for reply in [one, two] {
            failed(&reply, ErrorCategory::Disconnected, "code 1011: out of");
            assert!(!reply.message.contains('\u{1b}'));
        }
        failed(&call(&session).await, ErrorCategory::Disconnected, "1011");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_hangs_up_ends_the_calls() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            socket.request().await.map(drop)
        })
        .await;
        let session = open(&target, &options(KIB).0).await.unwrap();
        failed(&call(&session).await, ErrorCategory::Disconnected, "");
        assert!(session.broken().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_nobody_is_noted_and_binary_frames_are_read() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            let request = socket.request().await?;
            socket.send(json!({"jsonrpc": "2.0", "id": 99, "result": {}}).to_string()).await;
            socket.send("not JSON").await;
            socket.send(answer(&request)?.to_string().into_bytes()).await;
            socket.behave().await
        })
        .await;
        let (options, notes) = options(KIB);
        let session = open(&target, &options).await.unwrap();
        assert_eq!(call(&session).await.failure(), None);
        assert_eq!(call(&session).await.failure(), None);
        assert!(notes.of(note::ORPHAN_REPLY)[0].contains("id 99 never sent"));
        let defects = notes.of(note::FRAME_DEFECT).join("\n");
        assert!(defects.contains("binary_frame") && defects.contains("not JSON"), "{defects}");
    })
    .await;
}

/// Its questions are answered, and the answers pile up on our side.
#[tokio::test]
async fn a_server_that_asks_for_ever_and_reads_nothing_is_left() {
    bounded(async {
        let target = script(|socket| async move {
            let mut socket = Socket::new(socket).await?;
            socket.greet().await?;
            let question = json!({"jsonrpc": "2.0", "id": "q".repeat(500), "method": "ping"});
            let question = question.to_string();
            while socket.0.feed(question.as_str().into()).await.is_ok() {}
            Some(())
        })
        .await;
        let session = open(&target, &options(KIB).0).await.unwrap();
        failed(&call(&session).await, ErrorCategory::Disconnected, "messages unread");
        session.close().await;
    })
    .await;
}

#[tokio::test]
async fn broken_frames_end_the_session() {
    for frame in [
        [0x81, 2, 0xff, 0xfe].as_slice(), // Text that is not UTF-8.
        &[0xf1, 1, b'x'],                 // Reserved bits.
        &[0x83, 1, b'x'],                 // A reserved opcode.
        &[0x81, 0x81, 0, 0, 0, 0, b'x'],  // Masked, as only clients do.
        &[0x80, 1, b'x'],                 // The rest of nothing.
        &[0x89, 126, 1, 0],               // A control frame that is too long.
    ] {
        bounded(async move {
            let target = script(move |mut socket| async move {
                upgrade(&mut socket).await?;
                say(&mut socket, frame).await;
                say(&mut socket, [b'x'; 256]).await;
                std::future::pending().await
            })
            .await;
            let (mut options, _) = options(KIB);
            options.startup_timeout = Duration::from_secs(5);
            let error = open(&target, &options).await.unwrap_err().to_string();
            assert!(error.contains("rules of WebSocket"), "{frame:x?}: {error}");
        })
        .await;
    }
}

#[tokio::test]
async fn an_upgrade_that_is_refused_says_why() {
    for (reply, words, hint) in [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "HTTP 403: no", "credentials"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "instead of 101", "transport"),
        ("HTTP/1.1 308 Moved\r\nLocation: wss://h/x\r\n\r\n", "wss://h/x", "that it names"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "Sec-WebSocket-Accept", "path"),
        ("220 mail.example ESMTP\r\n", "not an HTTP reply", "path"),
    ] {
        bounded(async move {
            let target = script(move |mut socket| async move {
                read_head(&mut socket).await?;
                say(&mut socket, reply).await;
                Some(())
            })
            .await;
            let error = open(&target, &options(KIB).0).await.unwrap_err();
            assert!(matches!(error, OpenError::Opening { .. }), "{error:?}");
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
        })
        .await;
    }
}

#[tokio::test]
async fn a_server_that_never_upgrades_is_not_waited_for_long() {
    bounded(async {
        let target = script(|socket| async move {
            let _open = socket;
            std::future::pending().await
        })
        .await;
        let (mut options, _) = options(KIB);
        options.startup_timeout = Duration::from_millis(300);
        let error = open(&target, &options).await.unwrap_err().to_string();
        assert!(error.contains("no answer to the upgrade"), "{error}");
    })
    .await;
}
