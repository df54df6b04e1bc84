//! WebSocket: one JSON-RPC message a text frame.
//!
//! MCP names no such transport, so this is what the SDKs that have one do: subprotocol `mcp`, and
//! the messages that would be lines over pipes. One task reads and writes; calls append to a list,
//! and the task writes all of it before it flushes, so that many calls in flight cost few system
//! calls. The upgrade is made here, so that redirects and refusals are told as over HTTP.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    rc::{Rc, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::{Sink as _, Stream as _};
use mcp_loadtest_core::{
    display::{visible, visible_bytes},
    event::note,
    outcome::ErrorCategory,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinSet,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::{CapacityError, ProtocolError},
        handshake::{client::generate_key, derive_accept_key},
        protocol::{
            CloseFrame, Role, WebSocketConfig,
            frame::{
                Frame,
                coding::{CloseCode, Data, OpCode},
            },
        },
    },
};

use super::http::{
    HttpTarget, Trouble,
    head::{Head, read_head},
    status_trouble,
    stream::Stream,
};
use crate::session::{Break, Inner, OpenError};

/// What is offered; a server that does not know it need not say so.
const SUBPROTOCOL: &str = "mcp";
/// Messages taken in a row before other tasks of the thread have their turn.
const MOST_IN_A_ROW: usize = 64;
/// Answers that may wait for the server to read them.
const MOST_UNREAD: usize = 10_000;
/// How long the goodbye may take.
const GOODBYE: Duration = Duration::from_millis(500);
/// What the socket is called in errors.
const SOCKET: &str = "a WebSocket";

type Socket = WebSocketStream<Stream>;

/// A connection that has just been upgraded, and what came with the answer.
pub(crate) struct Upgraded {
    stream: Stream,
    rest: Vec<u8>,
}

/// The socket of one session.
#[derive(Default)]
pub(crate) struct WsLink {
    outbox: Rc<RefCell<Outbox>>,
    task: RefCell<JoinSet<()>>,
    closing: Rc<Cell<bool>>,
}

/// Frames that wait for the task.
#[derive(Default)]
struct Outbox {
    frames: Vec<Vec<u8>>,
    waker: Option<Waker>,
    closed: bool,
}

impl Outbox {
    fn close(&mut self) {
        self.closed = true;
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl WsLink {
    /// Connects and asks for the upgrade.
    pub(crate) async fn connect(
        target: &HttpTarget,
        limit: Duration,
    ) -> Result<Upgraded, OpenError> {
        let failed = |code, message| OpenError::Opening { what: SOCKET, code, message };
        match timeout(limit, upgrade(target)).await {
            Ok(Ok(upgraded)) => Ok(upgraded),
            Ok(Err(trouble)) if trouble.category == ErrorCategory::Disconnected => {
                Err(OpenError::Unreachable(trouble.message))
            }
            Ok(Err(trouble)) => Err(failed(trouble.code, trouble.message)),
            Err(_) => Err(failed(None, format!("no answer to the upgrade within {limit:?}"))),
        }
    }

    /// Starts the task that reads and writes.
    pub(crate) fn start(&self, inner: &Rc<Inner>, upgraded: Upgraded, limit: usize) {
        let weak = Rc::downgrade(inner);
        let (outbox, closing) = (self.outbox.clone(), self.closing.clone());
        self.task.borrow_mut().spawn_local(async move {
            let config = WebSocketConfig::default()
                .read_buffer_size(64 << 10)
                .max_message_size(Some(limit))
                .max_frame_size(Some(limit));
            let Upgraded { stream, rest } = upgraded;
            let socket =
                Socket::from_partially_read(stream, rest, Role::Client, Some(config)).await;
            let conversation = Conversation { socket, outbox, session: weak, unflushed: false };
            conversation.run(limit, &closing).await;
        });
    }

    /// Puts a frame on its way.
    pub(crate) fn send(&self, frame: Vec<u8>) {
        let mut outbox = self.outbox.borrow_mut();
        if !outbox.closed {
            outbox.frames.push(frame);
            outbox.wake();
        }
    }

    /// Puts a frame on its way that is no call. Calls in flight are limited by whoever makes them;
    /// answers only by the server, which might ask for ever and read nothing.
    pub(crate) fn send_unasked(&self, inner: &Inner, frame: Vec<u8>) {
        let waiting = self.outbox.borrow().frames.len();
        if waiting <= inner.slots.borrow().in_flight() + MOST_UNREAD {
            return self.send(frame);
        }
        let message = format!("the server has left {waiting} messages unread").into();
        let category = ErrorCategory::Disconnected;
        inner.break_off(Break { category, code: None, message });
    }

    /// Says goodbye, and waits a moment for the answer.
    pub(crate) async fn close(&self) {
        self.closing.set(true);
        self.outbox.borrow_mut().close();
        let mut task = self.task.take();
        let _ = timeout(GOODBYE, task.join_next()).await;
    }
}

struct Conversation {
    socket: Socket,
    outbox: Rc<RefCell<Outbox>>,
    session: Weak<Inner>,
    unflushed: bool,
}

/// Why a conversation is over.
enum End {
    /// We ended it.
    Closed,
    /// The server said goodbye.
    Goodbye(Option<CloseFrame>),
    /// It broke.
    Broke(Error),
    /// Nobody wants it any more.
    Forgotten,
}

impl Conversation {
    async fn run(mut self, limit: usize, closing: &Cell<bool>) {
        let end = poll_fn(|cx| self.poll(cx)).await;
        if let End::Closed = end {
            let goodbye = CloseFrame { code: CloseCode::Normal, reason: "".into() };
            let _ = timeout(GOODBYE, self.socket.close(Some(goodbye))).await;
            return;
        }
        let Some(inner) = self.session.upgrade().filter(|_| !closing.get()) else { return };
        if let End::Broke(Error::Capacity(CapacityError::MessageTooLong { .. })) = &end {
            inner.take_oversized(b"", limit, inner.clock.now());
            // A stream of which a part was skipped cannot be read on.
            let goodbye = CloseFrame { code: CloseCode::Size, reason: "".into() };
            let _ = timeout(GOODBYE, self.socket.close(Some(goodbye))).await;
        }
        // Whoever says goodbye is alive; whoever just hangs up may be dead.
        let polite = matches!(end, End::Goodbye(_));
        let seen = cause(end, limit);
        inner.losing.all(&seen, inner.clock.now());
        let cause = if polite { seen } else { inner.why_lost(seen).await };
        inner.break_off(cause);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        if let Err(error) = self.write(cx) {
            // What the server said before it went away is worth more than that we cannot write.
            if let Poll::Ready(end) = self.read(cx) {
                return Poll::Ready(end);
            }
            return Poll::Ready(End::Broke(error));
        }
        let read = self.read(cx);
        if read.is_ready() {
            return read;
        }
        // Answers to pings, and answers of ours to what was just read, go out before we rest.
        if let Err(error) = self.write(cx) {
            return Poll::Ready(End::Broke(error));
        }
        let mut outbox = self.outbox.borrow_mut();
        if outbox.closed && outbox.frames.is_empty() && !self.unflushed {
            return Poll::Ready(End::Closed);
        }
        outbox.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Writes as many frames as the socket takes, and flushes them together.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        let frames = std::mem::take(&mut self.outbox.borrow_mut().frames);
        let mut frames = frames.into_iter();
        while frames.len() > 0 {
            match Pin::new(&mut self.socket).poll_ready(cx)? {
                Poll::Ready(()) => {}
                Poll::Pending => break,
            }
            let Some(frame) = frames.next() else { break };
            // Not `Message::Text`, which would look through what we know to be text.
            let frame = Frame::message(frame, OpCode::Data(Data::Text), true);
            Pin::new(&mut self.socket).start_send(Message::Frame(frame))?;
            self.unflushed = true;
        }
        if frames.len() > 0 {
            let mut outbox = self.outbox.borrow_mut();
            let newer = std::mem::take(&mut outbox.frames);
            outbox.frames = frames.chain(newer).collect();
        }
        if self.unflushed {
            self.unflushed = Pin::new(&mut self.socket).poll_flush(cx)?.is_pending();
        }
        Ok(())
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        for _ in 0..MOST_IN_A_ROW {
            let message = match Pin::new(&mut self.socket).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(message))) => message,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(End::Broke(error)),
                Poll::Ready(None) => return Poll::Ready(End::Broke(Error::ConnectionClosed)),
            };
            let Some(inner) = self.session.upgrade() else { return Poll::Ready(End::Forgotten) };
            match message {
                Message::Text(text) => inner.take_frame(text.as_bytes(), inner.clock.now()),
                Message::Binary(bytes) => take_binary(&inner, &bytes),
                Message::Close(frame) => return Poll::Ready(End::Goodbye(frame)),
                // Pings are answered below us.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// MCP is text; what comes as something else is read all the same.
fn take_binary(inner: &Inner, bytes: &[u8]) {
    let detail = format!("binary_frame: {}", visible_bytes(bytes, 120));
    inner.note(note::FRAME_DEFECT, detail);
    inner.take_frame(bytes, inner.clock.now());
}

fn cause(end: End, limit: usize) -> Break {
    let (category, message) = match end {
        End::Goodbye(Some(frame)) => {
            let reason = visible(&frame.reason, 120);
            let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
            let code = u16::from(frame.code);
            (
                ErrorCategory::Disconnected,
                format!("the server closed the WebSocket with code {code}{reason}"),
            )
        }
        End::Goodbye(None) => {
            (ErrorCategory::Disconnected, "the server closed the WebSocket without a code".into())
        }
        End::Broke(Error::Capacity(CapacityError::MessageTooLong { size, .. })) => (
            ErrorCategory::Disconnected,
            format!(
                "a message of {size} bytes is longer than {limit}, so the WebSocket was closed"
            ),
        ),
        End::Broke(
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake),
        ) => (
            ErrorCategory::Disconnected,
            "the server hung up without closing the WebSocket".to_owned(),
        ),
        End::Broke(Error::Io(error)) => {
            (ErrorCategory::Disconnected, format!("the WebSocket broke: {error}"))
        }
        End::Broke(error) => (
            ErrorCategory::Malformed,
            format!(
                "the server broke the rules of WebSocket: {}",
                visible(&error.to_string(), 120)
            ),
        ),
        End::Closed | End::Forgotten => {
            (ErrorCategory::Disconnected, "the WebSocket is closed".into())
        }
    };
    Break { category, code: None, message: message.into() }
}

/// Connects and upgrades.
async fn upgrade(target: &HttpTarget) -> Result<Upgraded, Trouble> {
    let mut stream = target.dial.connect().await.map_err(|error| {
        Trouble::disconnected(format_args!("cannot connect to {}: {error}", target.host))
    })?;
    let key = generate_key();
    let request = request(target, &key);
    stream.write_all(request.as_bytes()).await.map_err(Trouble::sending)?;
    stream.flush().await.map_err(Trouble::sending)?;
    let mut bytes = Vec::new();
    let head = loop {
        let known =
            if bytes.is_empty() { None } else { read_head(&bytes).map_err(Trouble::malformed)? };
        if let Some(head) = known {
            break head;
        }
        if stream.read_buf(&mut bytes).await.map_err(Trouble::receiving)? == 0 {
            return Err(Trouble::disconnected("the server closed the connection without a reply"));
        }
    };
    check_upgrade(&head, &bytes, &key)?;
    let rest = bytes.split_off(head.length);
    Ok(Upgraded { stream, rest })
}

fn request(target: &HttpTarget, key: &str) -> String {
    let mut request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\nUser-Agent: mcp-loadtest/{}\r\n",
        target.path,
        target.host,
        env!("CARGO_PKG_VERSION"),
    );
    for (name, value) in &target.headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request
}

/// Whether the answer is that of a WebSocket server to this request.
fn check_upgrade(head: &Head, bytes: &[u8], key: &str) -> Result<(), Trouble> {
    if head.status != 101 {
        return Err(match head.status {
            200..=299 => Trouble::malformed(format_args!("HTTP {} instead of 101", head.status)),
            _ => status_trouble(head, &bytes[head.length..]),
        });
    }
    let mut headers = vec![httparse::EMPTY_HEADER; 200];
    let mut response = httparse::Response::new(&mut headers);
    if response.parse(bytes).is_err() {
        return Err(Trouble::malformed("its answer to the upgrade cannot be read"));
    }
    let value = |name: &str| {
        let found = response.headers.iter().find(|line| line.name.eq_ignore_ascii_case(name));
        found.map(|line| String::from_utf8_lossy(line.value).trim().to_owned())
    };
    if value("sec-websocket-accept").as_deref() != Some(derive_accept_key(key.as_bytes()).as_str())
    {
        return Err(Trouble::malformed("HTTP 101 without the right `Sec-WebSocket-Accept`"));
    }
    match value("sec-websocket-protocol") {
        Some(chosen) if chosen != SUBPROTOCOL => Err(Trouble::malformed(format_args!(
            "it chose the subprotocol `{}`, which was not offered",
            visible(&chosen, 60)
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let head = read_head(text.as_bytes()).unwrap().unwrap();
        check_upgrade(&head, text.as_bytes(), "dGhlIHNhbXBsZSBub25jZQ==").map_err(|it| it.message)
    }

    /// The key and its answer are the example of RFC 6455.
    #[test]
    fn only_the_right_answer_is_an_upgrade() {
        let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
        let answer = |lines: &str| format!("HTTP/1.1 101 Switching Protocols\r\n{lines}\r\n");
        assert_eq!(check(&answer(accept)), Ok(()));
        assert_eq!(check(&answer(&format!("{accept}Sec-WebSocket-Protocol: mcp\r\n"))), Ok(()));
        let other = check(&answer(&format!("{accept}Sec-WebSocket-Protocol: chat\r\n")));
        assert!(other.unwrap_err().contains("`chat`"));
        assert!(check(&answer("")).is_err());
        assert!(check("HTTP/1.1 200 OK\r\n\r\n").unwrap_err().contains("instead of 101"));
        let moved = check("HTTP/1.1 307 Temporary Redirect\r\nLocation: ws://h/x\r\n\r\n");
        assert!(moved.unwrap_err().contains("ws://h/x"));
    }
}
