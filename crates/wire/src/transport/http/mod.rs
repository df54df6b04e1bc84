//! Streamable HTTP, both eras.
//!
//! Written by hand over `httparse` because a load generator must spend less than the server does:
//! one write and one read a call, replies checked where they were read, no buffer per worker. What
//! does not come whole in one read (chunks, event streams) takes the slower path in [`slow`].

mod body;
pub(crate) mod head;
mod posts;
mod raw;
mod reply;
pub(crate) mod slow;
pub(crate) mod sse;
pub(crate) mod stream;
mod trouble;
mod unasked;

pub(crate) use trouble::{Trouble, status_trouble};

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::Poll,
    time::Duration,
};

use mcp_loadtest_core::jsonrpc::{self, Message};
use tokio::{
    io::{AsyncRead as _, ReadBuf},
    task::JoinSet,
};

use self::{
    head::{ContentType, Framing, Heads, RequestHead},
    posts::Posts,
    stream::{Dial, Stream},
};
use crate::session::Inner;

/// How much is asked of a socket at once.
const READ_SIZE: usize = 64 << 10;

thread_local! {
    /// One buffer a thread serves all its connections: nothing is kept in it across an await.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_SIZE]);
    static OUTGOING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What does not change from request to request.
#[derive(Clone)]
pub(crate) struct HttpTarget {
    pub(crate) dial: Dial,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) limit: usize,
}

/// The connections of one session in one thread.
pub(crate) struct HttpLink {
    target: Rc<HttpTarget>,
    idle: RefCell<Vec<Stream>>,
    session_id: RefCell<Option<String>>,
    agreed: Cell<bool>,
    head: RefCell<Rc<[u8]>>,
    heads: Heads,
    /// The task that hears what the server says unasked; it ends with the session.
    listener: RefCell<JoinSet<()>>,
    listening: Cell<bool>,
    posts: Posts,
    /// Streams that go on after the reply that they carried.
    rests: RefCell<JoinSet<()>>,
    /// How many calls were in flight when such a stream was left.
    most_in_flight: Cell<u32>,
}

impl HttpLink {
    pub(crate) fn new(target: Rc<HttpTarget>, session_id: Option<String>) -> Self {
        Self {
            target,
            idle: RefCell::default(),
            agreed: Cell::new(session_id.is_some()),
            session_id: RefCell::new(session_id),
            head: RefCell::new(Rc::from([])),
            heads: Heads::default(),
            listener: RefCell::default(),
            listening: Cell::new(false),
            posts: Posts::default(),
            rests: RefCell::default(),
            most_in_flight: Cell::new(0),
        }
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.session_id.borrow().clone()
    }

    /// The revision is agreed: from now on requests say so.
    pub(crate) fn agree(&self, inner: &Inner) {
        self.agreed.set(true);
        self.refresh_head(inner);
    }

    /// Renders anew what all requests share.
    pub(crate) fn refresh_head(&self, inner: &Inner) {
        *self.head.borrow_mut() = self.render_head(inner, "POST").into();
    }

    fn render_head(&self, inner: &Inner, method: &str) -> Vec<u8> {
        let session_id = self.session_id.borrow();
        let head = RequestHead {
            path: &self.target.path,
            host: &self.target.host,
            headers: &self.target.headers,
            session_id: session_id.as_deref(),
            lifecycle: inner.lifecycle.get(),
            agreed: self.agreed.get(),
        };
        head.render(method)
    }

    /// Sends the request of a call and settles its reply.
    pub(crate) async fn exchange(&self, inner: &Inner, id: u64) {
        let result = async {
            let mut stream = self.connection().await?;
            let prepared = inner.slots.borrow_mut().prepared(id);
            let Some(prepared) = prepared else { return Ok(()) };
            // Written before anything is waited for, so that no call holds on to what it writes.
            let unsent = send(&stream, |out| {
                self.begin_request(out, &prepared.headers, prepared.template.len(id));
                prepared.template.write(id, out);
            });
            if let Some(rest) = unsent? {
                Box::pin(stream.send_rest(rest)).await.map_err(Trouble::sending)?;
            }
            self.receive(inner, id, stream).await
        };
        if let Err(trouble) = result.await {
            inner.lose_call(id, trouble.into_break());
        }
    }

    /// Sends a frame whose reply, if any, does not come with this exchange.
    pub(crate) async fn post_frame(&self, inner: &Inner, frame: &[u8]) -> Result<(), Trouble> {
        let headers = notification_headers(inner, frame);
        self.round_trip(inner, 0, |out| {
            self.begin_request(out, &headers, frame.len());
            out.extend_from_slice(frame);
        })
        .await
    }

    /// Closes the connections of which nobody awaits anything.
    pub(crate) fn clear(&self) {
        self.rests.borrow_mut().abort_all();
        self.idle.borrow_mut().clear();
    }

    pub(crate) fn target(&self) -> &HttpTarget {
        &self.target
    }

    fn begin_request(&self, out: &mut Vec<u8>, headers: &str, length: usize) {
        out.extend_from_slice(&self.head.borrow());
        out.extend_from_slice(headers.as_bytes());
        out.extend_from_slice(b"Content-Length: ");
        out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
    }

    async fn round_trip(
        &self,
        inner: &Inner,
        id: u64,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Trouble> {
        let mut stream = self.connection().await?;
        if let Some(rest) = send(&stream, write)? {
            stream.send_rest(rest).await.map_err(Trouble::sending)?;
        }
        self.receive(inner, id, stream).await
    }

    /// An idle connection, or a new one.
    async fn connection(&self) -> Result<Stream, Trouble> {
        if let Some(stream) = self.take_idle() {
            return Ok(stream);
        }
        let connected = Box::pin(self.target.dial.connect()).await;
        connected.map_err(|error| Trouble::connecting(&self.target.host, error))
    }

    #[expect(clippy::manual_async_fn, reason = "an `async fn` would keep `stream` twice")]
    fn receive(
        &self,
        inner: &Inner,
        id: u64,
        mut stream: Stream,
    ) -> impl Future<Output = Result<(), Trouble>> {
        async move {
            match self.read_whole(inner, id, &mut stream).await? {
                Whole::Settled { keep_alive: true } => self.idle.borrow_mut().push(stream),
                Whole::Settled { keep_alive: false } => {}
                Whole::Incomplete(bytes) => {
                    Box::pin(self.read_slowly(inner, id, stream, bytes)).await?
                }
            }
            Ok(())
        }
    }

    fn take_idle(&self) -> Option<Stream> {
        let mut idle = self.idle.borrow_mut();
        while let Some(stream) = idle.pop() {
            if stream.is_fresh() {
                return Some(stream);
            }
        }
        None
    }

    /// Reads once; a reply that came whole is settled from the thread's own buffer.
    async fn read_whole(
        &self,
        inner: &Inner,
        id: u64,
        stream: &mut Stream,
    ) -> Result<Whole, Trouble> {
        poll_fn(|cx| {
            SCRATCH.with_borrow_mut(|scratch| {
                let mut buf = ReadBuf::new(scratch);
                match Pin::new(&mut *stream).poll_read(cx, &mut buf) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Err(error)) => Poll::Ready(Err(Trouble::receiving(error))),
                    Poll::Ready(Ok(())) => Poll::Ready(self.take_read(inner, id, buf.filled())),
                }
            })
        })
        .await
    }

    fn take_read(&self, inner: &Inner, id: u64, bytes: &[u8]) -> Result<Whole, Trouble> {
        if bytes.is_empty() {
            return Err(Trouble::disconnected("the server closed the connection without a reply"));
        }
        let Some(head) = self.heads.read(bytes).map_err(Trouble::malformed)? else {
            return Ok(Whole::Incomplete(bytes.to_vec()));
        };
        let is_interim = matches!(head.status, 100..=199);
        match head.framing {
            Framing::Length(length)
                if bytes.len() - head.length == length
                    && head.content_type != ContentType::EventStream
                    && !is_interim =>
            {
                let at = inner.clock.now();
                self.take_body(inner, id, &head, &bytes[head.length..], at)?;
                Ok(Whole::Settled { keep_alive: head.keep_alive })
            }
            _ => Ok(Whole::Incomplete(bytes.to_vec())),
        }
    }

    /// Ends the session, where there is one.
    pub(crate) async fn close(&self, inner: &Inner) {
        if self.has_session(inner) {
            let head = self.render_head(inner, "DELETE");
            let delete = self.round_trip(inner, 0, |out| {
                out.extend_from_slice(&head);
                out.extend_from_slice(b"Content-Length: 0\r\n\r\n");
            });
            // A server may refuse to be told (405); a dead one cannot listen.
            let _ = tokio::time::timeout(Duration::from_secs(2), delete).await;
        }
        self.listener.borrow_mut().abort_all();
        self.posts.abort();
        self.clear();
    }
}

/// Writes a request and gives what the socket did not take at once.
fn send(stream: &Stream, write: impl FnOnce(&mut Vec<u8>)) -> Result<Option<Vec<u8>>, Trouble> {
    OUTGOING.with_borrow_mut(|out| {
        out.clear();
        write(out);
        let sent = stream.try_write(out).map_err(Trouble::sending)?;
        Ok((sent < out.len()).then(|| out[sent..].to_vec()))
    })
}

enum Whole {
    Settled { keep_alive: bool },
    Incomplete(Vec<u8>),
}

/// A modern notification names its method in a header as requests do.
fn notification_headers(inner: &Inner, frame: &[u8]) -> String {
    use mcp_loadtest_core::mcp::header;
    let lifecycle = inner.lifecycle.get();
    if !lifecycle.meta_in_every_request {
        return String::new();
    }
    let method = match jsonrpc::read(frame).message {
        Some(Message::Notification { method, .. }) => String::from_utf8_lossy(method).into_owned(),
        _ => return String::new(),
    };
    format!(
        "{}: {}\r\n{}: {method}\r\n",
        header::PROTOCOL_VERSION,
        lifecycle.revision,
        header::METHOD
    )
}
