//! Requests that no client would send, and what comes back.

use std::{
    fmt::Write as _,
    io::{self, ErrorKind},
};

use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, timeout_at},
};

use super::{
    HttpLink, Trouble,
    slow::{Incoming, begin},
    sse::{Kind, SseParser},
    stream::Stream,
};
use crate::session::{Heard, Inner, RawHttp, RawReply};

impl HttpLink {
    /// Sends a request over a connection of its own and hears what comes back.
    pub(crate) async fn exchange_raw(
        &self,
        inner: &Inner,
        request: &RawHttp,
        until: Instant,
        answers: impl Fn(&[u8]) -> bool,
    ) -> RawReply {
        let mut reply = RawReply::default();
        let exchange = self.raw_round_trip(inner, request, &answers, &mut reply);
        if let Ok(Err(trouble)) = timeout_at(until, exchange).await {
            reply.gone = Some(trouble.into_break());
        }
        reply
    }

    async fn raw_round_trip(
        &self,
        inner: &Inner,
        request: &RawHttp,
        answers: &impl Fn(&[u8]) -> bool,
        reply: &mut RawReply,
    ) -> Result<(), Trouble> {
        let head = self.raw_head(inner, request);
        // What never left us says nothing of the server, so it gets a second try.
        let (stream, sent) = match self.put(&head, &request.body).await {
            Err(_) => self.put(&head, &request.body).await?,
            Ok(put) => put,
        };
        let incoming = begin(stream, Vec::new()).await;
        let mut incoming = match (incoming, sent) {
            (Err(_), Err(error)) => return Err(Trouble::sending(error)),
            (incoming, _) => incoming?,
        };
        reply.status = Some(incoming.head.status);
        if incoming.is_event_stream() {
            return self.hear_events(inner, &mut incoming, answers, reply).await;
        }
        let mut body = Vec::new();
        loop {
            incoming.take_body(&mut body)?;
            if body.len() > self.target.limit {
                return Err(self.too_long());
            }
            if !incoming.more().await? {
                break;
            }
        }
        if !body.trim_ascii().is_empty() {
            reply.answered = answers(&body);
            reply.take(Heard { frame: body, at: inner.clock.now() });
        }
        Ok(())
    }

    /// Puts a request on a connection of its own. A server may answer before it has read everything,
    /// and hang up: then the connection comes with what that was.
    async fn put(&self, head: &str, body: &[u8]) -> Result<(Stream, io::Result<()>), Trouble> {
        let connected = self.target.dial.connect().await;
        let mut stream =
            connected.map_err(|error| Trouble::connecting(&self.target.host, error))?;
        let sent = async {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body).await?;
            stream.flush().await
        };
        match sent.await {
            Err(error) if !is_of_the_server(&error) => Err(Trouble::sending(error)),
            sent => Ok((stream, sent)),
        }
    }

    async fn hear_events(
        &self,
        inner: &Inner,
        incoming: &mut Incoming,
        answers: &impl Fn(&[u8]) -> bool,
        reply: &mut RawReply,
    ) -> Result<(), Trouble> {
        let mut parser = SseParser::default();
        loop {
            let mut body = Vec::new();
            incoming.take_body(&mut body)?;
            let events = parser.feed(&body, self.target.limit).map_err(Trouble::malformed)?;
            for event in events.into_iter().filter(|event| event.kind == Kind::Message) {
                reply.answered |= answers(&event.data);
                // A server that asks something first says no more until it is answered.
                inner.answer_request(&event.data);
                reply.take(Heard { frame: event.data, at: inner.clock.now() });
            }
            if reply.answered {
                return Ok(());
            }
            *incoming = match incoming.more().await {
                Ok(true) => continue,
                Ok(false) => {
                    // A server that keeps no rest has said all that it had to say.
                    let ended = Trouble::disconnected("the event stream ended");
                    match self.resume(inner, &mut parser, ended).await {
                        Ok(rest) => rest,
                        Err(_) => return Ok(()),
                    }
                }
                Err(broke) => self.resume(inner, &mut parser, broke).await?,
            };
        }
    }

    /// The usual head with the lines that the request wants otherwise.
    fn raw_head(&self, inner: &Inner, request: &RawHttp) -> String {
        let usual = self.render_head(inner, request.verb);
        let usual = String::from_utf8_lossy(&usual);
        let differs = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            !request.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        let mut head: String = usual.split_inclusive("\r\n").filter(differs).collect();
        head.push_str(&request.lines);
        for (name, value) in &request.headers {
            if let Some(value) = value {
                let _ = write!(head, "{name}: {value}\r\n");
            }
        }
        let says_length =
            request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if !says_length {
            let _ = write!(head, "Content-Length: {}\r\n", request.body.len());
        }
        head.push_str("\r\n");
        head
    }
}

/// Whether a write failed because the other side hung up.
fn is_of_the_server(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}
