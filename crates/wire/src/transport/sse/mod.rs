//! HTTP+SSE, the transport of 2024-11-05.
//!
//! One GET opens a stream of events. Its first event says where to POST what we say; each POST is
//! answered with 202 and the reply to it comes on the stream. So a call waits in its slot as over
//! pipes, one task reads the stream, and each POST is a task of its own that reuses connections, of
//! which there are not more than a server can be expected to take.
//!
//! | what happens                      | what it means                                             |
//! |-----------------------------------|-----------------------------------------------------------|
//! | no `endpoint` event               | no session; the start-up timeout is over                  |
//! | `endpoint` on another origin      | refused: what we say may hold credentials                 |
//! | POST answered 202, 200            | the reply comes on the stream; JSON in a 200 is taken too |
//! | POST answered 404                 | the server forgot the session: all calls end              |
//! | POST answered with another status | this call ends                                            |
//! | the stream ends                   | all calls end                                             |

mod endpoint;

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::{Rc, Weak},
    time::Duration,
};

use mcp_loadtest_core::{display::visible_bytes, outcome::ErrorCategory};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use super::{
    Link,
    http::{
        HttpLink, HttpTarget, Trouble,
        slow::Incoming,
        sse::{Kind, Piece, SseParser},
        status_trouble,
    },
};
use crate::session::{Break, Inner, OpenError};

/// How long a POST may go without an answer before its connection is given up. The call itself
/// waits for the stream, and has deadlines of its own.
const POST_LIMIT: Duration = Duration::from_secs(60);
/// POSTs without an answer, beyond twice the calls in flight: more would only exhaust us.
const MOST_IDLE_POSTS: usize = 1024;
/// Connections for POSTs; what is to be said beyond that waits for one. A POST is answered at once, so
/// these carry many more calls.
const MOST_CONNECTIONS: usize = 512;
/// How long a server may take to show that it speaks this transport.
const SHOW_LIMIT: Duration = Duration::from_secs(1);
/// What the stream is called in errors.
const STREAM: &str = "an event stream (HTTP+SSE)";

/// The stream of one session, and the connections for what we say.
pub(crate) struct SseLink {
    stream: HttpLink,
    post: OnceCell<HttpLink>,
    reader: RefCell<JoinSet<()>>,
    posts: RefCell<JoinSet<()>>,
    connections: Semaphore,
    closing: Cell<bool>,
}

/// The stream as far as it was read.
struct Hearing {
    incoming: Incoming,
    parser: SseParser,
    body: Vec<u8>,
}

impl Hearing {
    fn new(incoming: Incoming) -> Self {
        Self { incoming, parser: SseParser::default(), body: Vec::new() }
    }

    /// Hands on the events that have come. Gives the endpoint, should one be named.
    fn hand_on(&mut self, inner: &Inner, limit: usize) -> Result<Option<Vec<u8>>, Trouble> {
        self.body.clear();
        self.incoming.take_body(&mut self.body)?;
        let at = inner.clock.now();
        let mut endpoint = None;
        self.parser.take(&self.body, limit, |piece| match piece {
            Piece::Event(event) if event.kind == Kind::Message => {
                inner.take_frame(&event.data, at);
            }
            Piece::Event(event) if event.kind == Kind::Endpoint => {
                endpoint.get_or_insert(event.data);
            }
            Piece::Event(_) => {}
            Piece::TooLong(head) => inner.take_oversized(&head, limit, at),
        });
        Ok(endpoint)
    }
}

impl SseLink {
    pub(crate) fn new(target: Rc<HttpTarget>) -> Self {
        Self {
            stream: HttpLink::new(target, None),
            post: OnceCell::new(),
            reader: RefCell::default(),
            posts: RefCell::default(),
            connections: Semaphore::new(MOST_CONNECTIONS),
            closing: Cell::new(false),
        }
    }

    /// Opens the stream, waits for the endpoint, and listens for as long as the session lives.
    pub(crate) async fn start(&self, inner: &Rc<Inner>, limit: Duration) -> Result<(), OpenError> {
        let failed = |code, message| OpenError::Opening { what: STREAM, code, message };
        let opened = timeout(limit, self.open(inner)).await;
        let (hearing, endpoint) = match opened {
            Ok(Ok(opened)) => opened,
            // Nobody listens, or hangs up at once: as over any other transport.
            Ok(Err(trouble)) if trouble.category == ErrorCategory::Disconnected => {
                return Err(OpenError::Unreachable(trouble.message));
            }
            Ok(Err(trouble)) => return Err(failed(trouble.code, trouble.message)),
            Err(_) => {
                return Err(failed(None, format!("no `endpoint` event came within {limit:?}")));
            }
        };
        let target = self.stream.target();
        let path =
            endpoint::resolve(&endpoint, target.dial.tls.is_some(), &target.host, &target.path)
                .map_err(|why| failed(None, why))?;
        let post = HttpLink::new(Rc::new(HttpTarget { path, ..target.clone() }), None);
        post.refresh_head(inner);
        let _ = self.post.set(post);
        let weak = Rc::downgrade(inner);
        self.reader.borrow_mut().spawn_local(hear(weak, hearing, target.limit));
        Ok(())
    }

    /// The stream, read as far as the event that names the endpoint.
    async fn open(&self, inner: &Inner) -> Result<(Hearing, Vec<u8>), Trouble> {
        let mut incoming = self.stream.listen(inner, None).await?;
        if !incoming.is_event_stream() {
            return Err(refusal(&mut incoming).await);
        }
        let mut hearing = Hearing::new(incoming);
        loop {
            if let Some(endpoint) = hearing.hand_on(inner, self.stream.target().limit)? {
                return Ok((hearing, endpoint));
            }
            if !hearing.incoming.more().await? {
                return Err(Trouble::malformed("it ended before its `endpoint` event"));
            }
        }
    }

    /// The revision is agreed: from now on requests say so.
    pub(crate) fn agree(&self, inner: &Inner) {
        if let Some(post) = self.post.get() {
            post.agree(inner);
        }
    }

    /// Puts a frame on its way; with an id it is a call, which ends if the frame does not arrive.
    pub(crate) fn send(&self, inner: &Inner, id: Option<u64>, frame: Vec<u8>) {
        let Some(session) = inner.session() else { return };
        let mut posts = self.posts.borrow_mut();
        while posts.try_join_next().is_some() {}
        let most = MOST_IDLE_POSTS + 2 * inner.slots.borrow().in_flight();
        if posts.len() > most {
            drop(posts);
            let message = format!("{most} POSTs are not answered").into();
            let category = ErrorCategory::Disconnected;
            inner.break_off(Break { category, code: None, message });
            return;
        }
        posts.spawn_local(async move {
            if let Link::Sse(sse) = &session.inner.link {
                sse.post(&session.inner, id, frame).await;
            }
        });
    }

    /// Sends a frame and waits until it is accepted.
    pub(crate) async fn post(&self, inner: &Inner, id: Option<u64>, frame: Vec<u8>) {
        let Some(post) = self.post.get() else { return };
        let Ok(_connection) = self.connections.acquire().await else { return };
        let Ok(Err(trouble)) = timeout(POST_LIMIT, post.post_frame(inner, &frame)).await else {
            return;
        };
        if trouble.code == Some(404) {
            let message = "the server ended the session (HTTP 404)".into();
            let category = ErrorCategory::Disconnected;
            inner.break_off(Break { category, code: trouble.code, message });
        } else if let Some(id) = id {
            inner.lose_call(id, trouble.into_break());
        }
    }

    /// The connections for what we say, once it is known where to.
    pub(crate) fn for_posts(&self) -> Option<&HttpLink> {
        self.post.get()
    }

    /// Closes the stream, which is how the session ends.
    pub(crate) fn close(&self) {
        self.closing.set(true);
        self.reader.borrow_mut().abort_all();
        self.posts.borrow_mut().abort_all();
        if let Some(post) = self.post.get() {
            post.clear();
        }
    }
}

/// What came in place of a stream.
async fn refusal(incoming: &mut Incoming) -> Trouble {
    let mut body = Vec::new();
    // Whatever has come is enough to show; the rest is not waited for long.
    let more = async {
        while incoming.take_body(&mut body).is_ok()
            && body.len() < 200
            && incoming.more().await.is_ok_and(|more| more)
        {}
    };
    let _ = timeout(SHOW_LIMIT, more).await;
    if matches!(incoming.head.status, 200..=299) {
        let said = visible_bytes(body.trim_ascii(), 80);
        let status = incoming.head.status;
        return Trouble::malformed(format_args!("HTTP {status} without an event stream: {said}"));
    }
    status_trouble(&incoming.head, &body)
}

/// Reads the stream to its end. The session is only held while it takes something.
async fn hear(session: Weak<Inner>, mut hearing: Hearing, limit: usize) {
    let message = loop {
        {
            let Some(inner) = session.upgrade() else { return };
            if let Err(trouble) = hearing.hand_on(&inner, limit) {
                break format!("the event stream broke: {}", trouble.message);
            }
        }
        match hearing.incoming.more().await {
            Ok(true) => {}
            Ok(false) if hearing.parser.is_amid() => {
                break "the event stream ended in the middle of an event".to_owned();
            }
            Ok(false) => break "the event stream ended".to_owned(),
            Err(trouble) => break format!("the event stream broke: {}", trouble.message),
        }
    };
    let Some(inner) = session.upgrade() else { return };
    let Link::Sse(sse) = &inner.link else { return };
    if !sse.closing.get() {
        let category = ErrorCategory::Disconnected;
        let seen = Break { category, code: None, message: message.into() };
        inner.losing.all(&seen, inner.clock.now());
        let cause = inner.why_lost(seen).await;
        inner.break_off(cause);
    }
}

impl HttpLink {
    /// Whether this transport is spoken at the address: its stream begins with an endpoint.
    pub(crate) async fn is_sse(&self, inner: &Inner) -> bool {
        let look = async {
            let mut incoming = self.listen(inner, None).await?;
            let mut parser = SseParser::default();
            let mut body = Vec::new();
            while incoming.is_event_stream() {
                incoming.take_body(&mut body)?;
                let events = parser.feed(&body, 16 << 10).map_err(Trouble::malformed)?;
                if let Some(first) = events.first() {
                    return Ok(first.kind == Kind::Endpoint);
                }
                body.clear();
                if !incoming.more().await? {
                    break;
                }
            }
            Ok::<_, Trouble>(false)
        };
        timeout(SHOW_LIMIT, look).await.is_ok_and(|shown| shown.unwrap_or(false))
    }
}
