//! Replies that do not come whole in one read: chunks, event streams, streams that are resumed.

use std::time::Duration;

use mcp_loadtest_core::outcome::ErrorCategory;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::sleep,
};

use super::{
    HttpLink, Trouble,
    body::Decoder,
    head::{ContentType, Head, read_head},
    sse::{Kind, Piece, SseParser},
    stream::Stream,
};
use crate::{
    session::{Inner, Session},
    transport::Link,
};

/// How long the rest of a stream may take after the reply that it carried.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// Streams that may go on after their replies, or twice as many as calls were in flight, but never more than
/// the second figure: a server that ends none must not take all our connections.
const MOST_RESTS: usize = 64;
const RESTS_OF_A_CROWD: usize = 1024;
/// A stream is not resumed faster than this, so that a server which always hangs up at once costs
/// little.
pub(super) const SHORTEST_RETRY: Duration = Duration::from_millis(100);
/// The wait before a stream is resumed, where the server does not say.
pub(super) const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// A reply that is being read.
pub(crate) struct Incoming {
    stream: Stream,
    bytes: Vec<u8>,
    pub(crate) head: Head,
    decoder: Decoder,
}

/// How an event stream ended.
enum StreamEnd {
    /// The reply came.
    Settled,
    /// It ended without one.
    TooEarly,
}

impl HttpLink {
    /// Goes on with a reply of which `bytes` have come.
    pub(super) async fn read_slowly(
        &self,
        inner: &Inner,
        id: u64,
        stream: Stream,
        bytes: Vec<u8>,
    ) -> Result<(), Trouble> {
        let mut incoming = begin(stream, bytes).await?;
        self.take_session_id(inner, &incoming.head);
        if id == 0 && incoming.says_no_more_than_yes() {
            self.drain_later(inner, incoming, SseParser::default());
            return Ok(());
        }
        if incoming.is_event_stream() {
            return self.follow_events(inner, id, incoming).await;
        }
        let mut body = Vec::new();
        while !incoming.decoder.is_done() {
            incoming.decoder.decode(&mut incoming.bytes, &mut body).map_err(Trouble::malformed)?;
            if body.len() > self.target.limit {
                return self.take_too_long(inner, id, &body);
            }
            if !incoming.decoder.is_done() && !incoming.fill().await? {
                break;
            }
        }
        if !incoming.decoder.may_end_here() {
            return Err(Trouble::disconnected("the connection closed in the middle of the reply"));
        }
        self.take_body(inner, id, &incoming.head, &body, inner.clock.now())?;
        self.keep(incoming);
        Ok(())
    }

    /// A connection whose reply is complete serves the next call.
    fn keep(&self, incoming: Incoming) {
        if incoming.decoder.is_done() && incoming.head.keep_alive && incoming.bytes.is_empty() {
            self.idle.borrow_mut().push(incoming.stream);
        }
    }

    /// Follows an event stream to the reply, over as many connections as the server wants.
    async fn follow_events(&self, inner: &Inner, id: u64, first: Incoming) -> Result<(), Trouble> {
        let mut parser = SseParser::default();
        let mut incoming = first;
        // A server may poll for as long as the call may take: its deadlines end the loop.
        loop {
            let broke = match self.read_events(inner, id, &mut incoming, &mut parser).await {
                Ok(StreamEnd::Settled) => {
                    self.drain_later(inner, incoming, parser);
                    return Ok(());
                }
                Ok(StreamEnd::TooEarly) if id == 0 => return Ok(()),
                Ok(StreamEnd::TooEarly) => {
                    Trouble::disconnected("the event stream ended without the reply")
                }
                Err(trouble) => trouble,
            };
            incoming = self.resume(inner, &mut parser, broke).await?;
        }
    }

    /// The rest of a stream that ended or broke before it was complete, where the server keeps it.
    pub(super) async fn resume(
        &self,
        inner: &Inner,
        parser: &mut SseParser,
        broke: Trouble,
    ) -> Result<Incoming, Trouble> {
        let keeps_it =
            inner.lifecycle.get().http_sessions && broke.category == ErrorCategory::Disconnected;
        let Some(last_id) = parser.last_id().filter(|_| keeps_it).map(str::to_owned) else {
            return Err(broke);
        };
        parser.resume();
        sleep(parser.retry().unwrap_or(DEFAULT_RETRY).max(SHORTEST_RETRY)).await;
        let incoming = self.listen(inner, Some(&last_id)).await?;
        if !incoming.is_event_stream() {
            return Err(Trouble::disconnected(format_args!(
                "HTTP {} instead of the rest of the event stream",
                incoming.head.status
            )));
        }
        Ok(incoming)
    }

    /// Hands all events on until the call `id` is settled (for 0: until the stream ends).
    async fn read_events(
        &self,
        inner: &Inner,
        id: u64,
        incoming: &mut Incoming,
        parser: &mut SseParser,
    ) -> Result<StreamEnd, Trouble> {
        loop {
            self.hand_on(inner, id, incoming, parser)?;
            if id != 0 && inner.slots.borrow_mut().waiting(id).is_none() {
                return Ok(StreamEnd::Settled);
            }
            if !incoming.more().await? {
                return Ok(StreamEnd::TooEarly);
            }
        }
    }

    /// Hands on the events that have come on the stream of the call `id`, or of none (0). `false`: nothing
    /// has come.
    pub(super) fn hand_on(
        &self,
        inner: &Inner,
        id: u64,
        incoming: &mut Incoming,
        parser: &mut SseParser,
    ) -> Result<bool, Trouble> {
        let mut body = Vec::new();
        incoming.take_body(&mut body)?;
        if !incoming.is_event_stream() {
            return Ok(!body.is_empty());
        }
        let (at, limit) = (inner.clock.now(), self.target.limit);
        parser.take(&body, limit, |piece| match piece {
            Piece::Event(event) if event.kind == Kind::Message => inner.take_frame(&event.data, at),
            // Events of other names are for others: clients of this transport pass them over.
            Piece::Event(_) => {}
            Piece::TooLong(head) => inner.take_oversized_event(id, &head, limit, at),
        });
        Ok(!body.is_empty())
    }

    /// The reply is there; the end of its stream is somebody else's business.
    fn drain_later(&self, inner: &Inner, mut incoming: Incoming, mut parser: SseParser) {
        if self.hand_on(inner, 0, &mut incoming, &mut parser).is_ok() && incoming.decoder.is_done()
        {
            self.keep(incoming);
            return;
        }
        let mut rests = self.rests.borrow_mut();
        while rests.try_join_next().is_some() {}
        // Replies that come together leave fewer and fewer calls in flight, and more and more rests.
        let in_flight = inner.slots.borrow().in_flight() as u32 + 1;
        self.most_in_flight.update(|most| most.max(in_flight));
        let most = (2 * self.most_in_flight.get() as usize).clamp(MOST_RESTS, RESTS_OF_A_CROWD);
        if let Some(session) = inner.session().filter(|_| rests.len() < most) {
            rests.spawn_local(async move {
                let _ = tokio::time::timeout(DRAIN_LIMIT, drain(session, incoming, parser)).await;
            });
        }
    }

    /// Asks for the stream on which the server speaks unasked, or for the rest of one that broke off.
    ///
    /// The future holds on to nothing of the session, which may end before the server answers.
    pub(crate) fn listen(
        &self,
        inner: &Inner,
        last_id: Option<&str>,
    ) -> impl Future<Output = Result<Incoming, Trouble>> + use<> {
        let mut request = self.render_head(inner, "GET");
        if let Some(id) = last_id {
            request.extend_from_slice(format!("Last-Event-ID: {id}\r\n").as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        let target = self.target.clone();
        async move {
            let mut stream = target
                .dial
                .connect()
                .await
                .map_err(|error| Trouble::connecting(&target.host, error))?;
            stream.write_all(&request).await.map_err(Trouble::sending)?;
            stream.flush().await.map_err(Trouble::sending)?;
            begin(stream, Vec::new()).await
        }
    }
}

async fn drain(session: Session, mut incoming: Incoming, mut parser: SseParser) {
    let http = match &session.inner.link {
        Link::Http(http) => Some(http),
        // What it answers to a POST; the stream on which it speaks is read elsewhere.
        Link::Sse(sse) => sse.for_posts(),
        Link::Stdio(_) | Link::WebSocket(_) => None,
    };
    if let Some(http) = http
        && http.read_events(&session.inner, 0, &mut incoming, &mut parser).await.is_ok()
    {
        http.keep(incoming);
    }
}

/// Reads until the head is complete.
pub(crate) async fn begin(mut stream: Stream, mut bytes: Vec<u8>) -> Result<Incoming, Trouble> {
    loop {
        let head =
            if bytes.is_empty() { None } else { read_head(&bytes).map_err(Trouble::malformed)? };
        match head {
            // An interim reply comes before the real one.
            Some(head) if matches!(head.status, 100..=199) => {
                bytes.drain(..head.length);
            }
            Some(head) => {
                bytes.drain(..head.length);
                let decoder = Decoder::new(head.framing);
                return Ok(Incoming { stream, bytes, head, decoder });
            }
            None => {
                if stream.read_buf(&mut bytes).await.map_err(Trouble::receiving)? == 0 {
                    return Err(Trouble::disconnected(
                        "the server closed the connection without a reply",
                    ));
                }
            }
        }
    }
}

impl Incoming {
    /// What has come of the body since the last time.
    pub(crate) fn take_body(&mut self, body: &mut Vec<u8>) -> Result<(), Trouble> {
        self.decoder.decode(&mut self.bytes, body).map_err(Trouble::malformed)
    }

    /// Whether it takes note of what has no reply. Some servers never end the body of such an answer.
    fn says_no_more_than_yes(&self) -> bool {
        let is_json = self.head.content_type == ContentType::Json;
        self.head.status == 202 || (matches!(self.head.status, 200..=299) && !is_json)
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.head.status == 200 && self.head.content_type == ContentType::EventStream
    }

    /// Reads more of the body. `false`: it is complete, or the connection ended.
    pub(crate) async fn more(&mut self) -> Result<bool, Trouble> {
        Ok(!self.decoder.is_done() && self.fill().await?)
    }

    /// Reads more. `false`: there is no more.
    async fn fill(&mut self) -> Result<bool, Trouble> {
        self.bytes.reserve(8 << 10);
        let read = self.stream.read_buf(&mut self.bytes).await.map_err(Trouble::receiving)?;
        Ok(read > 0)
    }
}
