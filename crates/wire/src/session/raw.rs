//! What no client would send, and all that comes back: for those who ask how a server takes bad
//! input. Nothing here is checked or counted; the session goes on beside it.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, time::Duration};

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

use super::{Break, Inner, OpenError, Options, Prepared, Session, Target};
use crate::transport::Link;
use mcp_loadtest_core::mcp::Revision;

/// So much of what was heard is kept, and the oldest is forgotten: a server may talk faster than
/// anybody listens, and need not end.
const MOST_KEPT: usize = 64 << 20;

/// Bytes that go out as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// One whole frame: a line, the body of a POST, a WebSocket message.
    Frame(Vec<u8>),
    /// Bytes that need not be a whole frame: over pipes no line end is added. Elsewhere a frame.
    Raw(Vec<u8>),
    /// A request of HTTP as described; other transports send its body as a frame.
    Http(RawHttp),
}

impl Outgoing {
    /// What is sent, without what the transport adds.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Frame(bytes) | Self::Raw(bytes) => bytes,
            Self::Http(request) => &request.body,
        }
    }
}

/// A request of HTTP that differs from what a client would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawHttp {
    /// `POST`, unless it is something else.
    pub verb: &'static str,
    /// Header lines by name: set to another value, or left out. Others stay as they would be.
    pub headers: Vec<(&'static str, Option<String>)>,
    /// Further header lines, each with its line end: those that belong to a request.
    pub lines: Rc<str>,
    /// The body.
    pub body: Vec<u8>,
}

impl RawHttp {
    /// A POST with the usual headers.
    pub fn post(body: Vec<u8>) -> Self {
        Self { verb: "POST", headers: Vec::new(), lines: "".into(), body }
    }

    /// Sets a header, or leaves it out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.headers.push((name, value.map(str::to_owned)));
        self
    }
}

/// One frame that the server sent, and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// As it came.
    pub frame: Vec<u8>,
    /// On the clock of the session.
    pub at: Duration,
}

/// Everything that came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawReply {
    /// The status, over HTTP.
    pub status: Option<u16>,
    /// What came until the frame that was waited for, or until the time was up; of very much, the end.
    pub frames: Vec<Heard>,
    /// Whether the frame that was waited for is the last of them.
    pub answered: bool,
    /// Why nothing more can come: the connection or the process has ended.
    pub gone: Option<Break>,
    /// How much the frames hold.
    bytes: usize,
}

impl RawReply {
    /// Nothing came back.
    pub fn nothing(gone: Option<Break>) -> Self {
        Self { gone, ..Self::default() }
    }

    /// Takes one more frame; where that is too much, the older half is forgotten.
    pub(crate) fn take(&mut self, heard: Heard) {
        self.bytes += heard.frame.len();
        self.frames.push(heard);
        if self.bytes > MOST_KEPT {
            let half = self.frames.len() / 2;
            self.bytes -= self.frames.drain(..half).map(|heard| heard.frame.len()).sum::<usize>();
        }
    }
}

/// Hears a copy of every frame that a session gets, from its creation on.
#[derive(Debug, Clone, Default)]
pub struct Tap {
    heard: Rc<RefCell<Kept>>,
    news: Rc<Notify>,
}

#[derive(Debug, Default)]
struct Kept {
    frames: VecDeque<Heard>,
    bytes: usize,
}

impl Tap {
    pub(super) fn take(&self, frame: &[u8], at: Duration) {
        let mut kept = self.heard.borrow_mut();
        kept.bytes += frame.len();
        kept.frames.push_back(Heard { frame: frame.to_vec(), at });
        while kept.bytes > MOST_KEPT {
            let Some(oldest) = kept.frames.pop_front() else { break };
            kept.bytes -= oldest.frame.len();
        }
        drop(kept);
        self.news.notify_one();
    }

    /// The next frame, if it comes in time.
    pub async fn next(&self, until: Instant) -> Option<Heard> {
        loop {
            if let Some(heard) = self.pop() {
                return Some(heard);
            }
            timeout_at(until, self.news.notified()).await.ok()?;
        }
    }

    /// What has come and was not taken yet.
    pub fn pop(&self) -> Option<Heard> {
        let mut kept = self.heard.borrow_mut();
        let heard = kept.frames.pop_front()?;
        kept.bytes -= heard.frame.len();
        Some(heard)
    }
}

impl Session {
    /// The connection or the process, without a word spoken.
    pub async fn silent(
        target: &Target,
        options: &Options,
        revision: Revision,
    ) -> Result<Self, OpenError> {
        Self::connect(target, options, revision).await
    }

    /// From now on every frame that comes is also given to this tap, and to no earlier one.
    pub fn tap(&self) -> Tap {
        let tap = Tap::default();
        *self.inner.tap.borrow_mut() = Some(tap.clone());
        tap
    }

    /// Whether every frame of the server comes to a tap. Over HTTP most come as the reply to one
    /// request, and only [`Session::exchange_raw`] hears them.
    pub fn has_one_stream(&self) -> bool {
        !matches!(self.inner.link, Link::Http(_))
    }

    /// Whether bytes need not be whole frames.
    pub fn has_pipes(&self) -> bool {
        matches!(self.inner.link, Link::Stdio(_))
    }

    /// These bytes as the body of a request that looks, from outside, like this one.
    pub fn dressed(&self, like: &Prepared, body: Vec<u8>) -> Outgoing {
        match &self.inner.link {
            Link::Http(_) => {
                Outgoing::Http(RawHttp { lines: like.headers.clone(), ..RawHttp::post(body) })
            }
            _ => Outgoing::Frame(body),
        }
    }

    /// Sends bytes as they are, without waiting for an answer.
    pub fn send_raw(&self, outgoing: &Outgoing) {
        let bytes = outgoing.bytes();
        match (&self.inner.link, outgoing) {
            (Link::Stdio(stdio), Outgoing::Raw(_)) => stdio.send_unended(bytes),
            (Link::Stdio(stdio), _) => stdio.send(|out| out.extend_from_slice(bytes)),
            _ => self.inner.link.send_detached(&self.inner, bytes.to_vec()),
        }
    }

    /// Sends bytes as they are and hears what comes until `answers` knows the answer, the connection
    /// is gone, or the time is up. Takes the place of any tap.
    pub async fn exchange_raw(
        &self,
        outgoing: &Outgoing,
        patience: Duration,
        answers: impl Fn(&[u8]) -> bool,
    ) -> RawReply {
        let until = Instant::now() + patience;
        if let Link::Http(http) = &self.inner.link {
            let plain;
            let request = match outgoing {
                Outgoing::Http(request) => request,
                Outgoing::Frame(bytes) | Outgoing::Raw(bytes) => {
                    plain = RawHttp::post(bytes.clone());
                    &plain
                }
            };
            return http.exchange_raw(&self.inner, request, until, answers).await;
        }
        let tap = self.tap();
        self.send_raw(outgoing);
        let reply = self.hear(&tap, until, answers).await;
        *self.inner.tap.borrow_mut() = None;
        reply
    }

    /// Hears what comes until `answers` knows the answer, the connection is gone, or the time is up.
    pub async fn hear(
        &self,
        tap: &Tap,
        until: Instant,
        answers: impl Fn(&[u8]) -> bool,
    ) -> RawReply {
        /// How often it is looked whether anything can still come.
        const LOOK: Duration = Duration::from_millis(20);
        let mut reply = RawReply::default();
        while !reply.answered {
            let look = until.min(Instant::now() + LOOK);
            match tap.next(look).await {
                Some(heard) => {
                    reply.answered = answers(&heard.frame);
                    reply.take(heard);
                    // A server that never pauses must not be listened to for ever.
                    if Instant::now() >= until {
                        break;
                    }
                }
                None if self.is_broken() => {
                    reply.gone = self.broken();
                    break;
                }
                None if Instant::now() >= until => break,
                None => {}
            }
        }
        reply
    }
}

impl Inner {
    #[inline]
    pub(super) fn tell_tap(&self, frame: &[u8], at: Duration) {
        if let Some(tap) = &*self.tap.borrow() {
            tap.take(frame, at);
        }
    }
}
