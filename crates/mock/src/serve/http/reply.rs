//! A reply that was not ready at once: JSON if nothing came before it, a stream of events otherwise.

use std::io;

use mcp_loadtest_core::{
    fault::{Cut, Step, portion},
    mcp::Era,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{sleep, timeout},
};

use super::{WRITE_DEADLINE, response::Response};
use crate::{
    mcp::{refusal::status_of, write},
    server::pending::Ending,
};

/// What is left of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Another request may come.
    Open,
    /// It ends.
    Closed,
    /// It ends at once, with a reset.
    Reset,
}

/// How the head of a stream of events begins.
pub(super) const STREAM_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
    Cache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n";

/// Writes one reply.
pub(super) struct Reply {
    pub(super) keep_alive: bool,
    pub(super) era: Era,
    /// Whether even a lone reply is sent as an event.
    pub(super) always_stream: bool,
    /// Whether the head of a stream has been sent.
    pub(super) begun: bool,
    /// Added to the head, whichever it is.
    pub(super) session: Option<String>,
}

impl Reply {
    /// Sends a message that comes before the reply.
    pub(super) async fn message(&mut self, stream: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        chunk(&event(frame), &mut bytes);
        send(stream, &bytes).await
    }

    /// Appends the head of the stream, once.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.begun {
            return;
        }
        self.begun = true;
        out.extend_from_slice(STREAM_HEAD);
        if let Some(session) = &self.session {
            let line = format!("{}: {session}\r\n", mcp_loadtest_core::mcp::header::SESSION_ID);
            out.extend_from_slice(line.as_bytes());
        }
        if !self.keep_alive {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Sends what it came to.
    pub(super) async fn end(self, stream: &mut TcpStream, ending: Ending) -> io::Result<After> {
        match ending {
            Ending::Reply { steps, told } => {
                let status = status_of(self.era, told.code);
                match &*steps {
                    [step] if !self.begun && !self.always_stream => {
                        self.lone(stream, step, status).await
                    }
                    steps => self.events(stream, steps).await,
                }
            }
            Ending::Silent => self.events(stream, &[]).await,
            Ending::Http { status, retry_after, www_authenticate } => {
                let response = refusal(status, retry_after, www_authenticate);
                self.whole(stream, &response).await
            }
            Ending::SessionLost => self.whole(stream, &super::endpoint::session_lost()).await,
            Ending::Cut(Cut::Disconnect) | Ending::Crash(_) => Ok(After::Closed),
            Ending::Cut(Cut::Reset) => Ok(After::Reset),
        }
    }

    /// Sends a reply in one piece, or cuts the stream that has begun.
    async fn whole(self, stream: &mut TcpStream, response: &Response) -> io::Result<After> {
        if self.begun {
            return Ok(After::Closed);
        }
        let mut bytes = Vec::new();
        response.render(self.keep_alive, &mut bytes);
        send(stream, &bytes).await?;
        Ok(self.after())
    }

    fn after(&self) -> After {
        if self.keep_alive { After::Open } else { After::Closed }
    }

    /// Sends the one step of a reply as the body.
    async fn lone(self, stream: &mut TcpStream, step: &Step, status: u16) -> io::Result<After> {
        let mut response = Response::empty(status);
        if let Some(session) = &self.session {
            let name = mcp_loadtest_core::mcp::header::SESSION_ID;
            response = response.header(name, session.clone());
        }
        let mut bytes = Vec::new();
        match step {
            Step::Frame(frame) | Step::Raw(frame) | Step::Late(frame) => {
                response.render_head(self.keep_alive, frame.len(), &mut bytes);
                bytes.extend_from_slice(frame);
                send(stream, &bytes).await?;
            }
            Step::Partial { bytes: part, announced } => {
                response.render_head(self.keep_alive, *announced, &mut bytes);
                bytes.extend_from_slice(part);
                send(stream, &bytes).await?;
                return Ok(After::Closed);
            }
            Step::Drip { frame, bytes_per_second } => {
                response.render_head(self.keep_alive, frame.len(), &mut bytes);
                send(stream, &bytes).await?;
                drip(stream, frame, *bytes_per_second, |piece, out| {
                    out.extend_from_slice(piece);
                })
                .await?;
            }
        }
        Ok(self.after())
    }

    /// Sends steps as events and ends the stream.
    async fn events(mut self, stream: &mut TcpStream, steps: &[Step]) -> io::Result<After> {
        if self.part(stream, steps).await? == After::Closed {
            return Ok(After::Closed);
        }
        send(stream, b"0\r\n\r\n").await?;
        Ok(self.after())
    }

    /// Sends steps as events; whether others may follow.
    pub(super) async fn part(
        &mut self,
        stream: &mut TcpStream,
        steps: &[Step],
    ) -> io::Result<After> {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        for step in steps {
            match step {
                Step::Frame(frame) | Step::Raw(frame) | Step::Late(frame) => {
                    chunk(&event(frame), &mut bytes);
                }
                Step::Partial { bytes: part, .. } => {
                    chunk(&[b"event: message\ndata: ", &**part].concat(), &mut bytes);
                    send(stream, &bytes).await?;
                    return Ok(After::Closed);
                }
                Step::Drip { frame, bytes_per_second } => {
                    send(stream, &std::mem::take(&mut bytes)).await?;
                    drip(stream, &event(frame), *bytes_per_second, chunk).await?;
                }
            }
        }
        send(stream, &bytes).await?;
        Ok(After::Open)
    }
}

/// What a fault of HTTP sends.
pub(super) fn refusal(status: u16, retry_after: Option<u64>, www_authenticate: bool) -> Response {
    let why = format!("HTTP {status}: {}", super::response::reason(status));
    let refusal = crate::mcp::refusal::Refusal::new(crate::mcp::refusal::code::NO_SESSION, why);
    let mut response = match status {
        // These have no body, whatever is said: it would be read as the next reply.
        204 | 205 | 304 => Response::empty(status),
        _ => Response::error(status, write::NO_ID, &refusal),
    };
    if let Some(seconds) = retry_after {
        response = response.header("Retry-After", seconds.to_string());
    }
    if www_authenticate {
        let challenge =
            "Bearer error=\"invalid_token\", error_description=\"the token has expired\"";
        response = response.header("WWW-Authenticate", challenge);
    }
    response
}

/// A message as an event.
pub(super) fn event(frame: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", frame, b"\n\n"].concat()
}

/// Appends bytes as one chunk.
pub(super) fn chunk(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Sends everything, unless the client takes too long to read it.
pub(super) async fn send(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let sent = stream.try_write(bytes).unwrap_or(0);
    if sent < bytes.len() {
        timeout(WRITE_DEADLINE, stream.write_all(&bytes[sent..])).await??;
    }
    Ok(())
}

pub(super) async fn drip(
    stream: &mut TcpStream,
    bytes: &[u8],
    bytes_per_second: u64,
    wrap: impl Fn(&[u8], &mut Vec<u8>),
) -> io::Result<()> {
    let (piece, pause) = portion(bytes_per_second);
    for part in bytes.chunks(piece) {
        let mut wrapped = Vec::new();
        wrap(part, &mut wrapped);
        send(stream, &wrapped).await?;
        sleep(pause).await;
    }
    Ok(())
}
