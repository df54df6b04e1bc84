//! Answers in one piece, and how they break.

use std::{io, io::Write as _, time::Duration};

use mcp_loadtest_core::llm::{Cut, Ending};
use tokio::io::AsyncWriteExt as _;

use super::{
    After, Connection,
    asking::{Asking, Sent},
    breaks::Breaks,
};

/// A reply in one piece.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// How it ends if nothing breaks it.
    pub(super) ending: Ending,
}

const JSON: &str = "application/json";

/// What a status is called.
pub(super) fn reason(status: u16) -> &'static str {
    let known = http::StatusCode::from_u16(status).ok();
    // Providers use one that nobody has registered.
    known.and_then(|status| status.canonical_reason()).unwrap_or("Overloaded")
}

/// Most heads fit into this.
const USUAL_HEAD: usize = 512;

/// The head of a reply, up to the line that says how the body ends, with room for some of the body.
pub(super) fn head(
    status: u16,
    content_type: &str,
    headers: &[(String, String)],
    keep_alive: bool,
    body: usize,
) -> Vec<u8> {
    let mut head = Vec::with_capacity(USUAL_HEAD + body);
    let reason = reason(status);
    let connection = if keep_alive { "" } else { "connection: close\r\n" };
    let _ =
        write!(head, "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\n{connection}");
    for (name, value) in headers {
        for part in [name.as_str(), ": ", value.as_str(), "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
    }
    head
}

impl Whole {
    pub(super) fn json(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let ending = if status < 400 { Ending::Complete } else { Ending::Refused };
        Self { status, content_type: JSON, headers, body, ending }
    }

    /// The head, and how much of the body comes with it.
    fn beginning(&self, keep_alive: bool, breaks: Option<Breaks>) -> (Vec<u8>, usize) {
        let cut = breaks.and_then(|breaks| breaks.cut);
        let first = breaks.map_or(self.body.len(), |breaks| breaks.after.min(self.body.len()));
        let keep_alive = keep_alive && cut.is_none();
        let mut bytes = head(self.status, self.content_type, &self.headers, keep_alive, first);
        let _ = match cut {
            // A body that is shorter than it should be, and says so: only the JSON shows it.
            Some(Cut::CleanEof) => write!(bytes, "content-length: {first}\r\n\r\n"),
            Some(Cut::Fin) => {
                write!(bytes, "transfer-encoding: chunked\r\n\r\n{:x}\r\n", self.body.len())
            }
            Some(Cut::Reset | Cut::ShortContentLength | Cut::Silence) | None => {
                write!(bytes, "content-length: {}\r\n\r\n", self.body.len())
            }
        };
        bytes.extend_from_slice(&self.body[..first]);
        (bytes, first)
    }
}

impl Connection {
    /// Sends a reply in one piece.
    pub(super) async fn send(
        &mut self,
        whole: Whole,
        asking: &Asking,
        breaks: Option<Breaks>,
    ) -> io::Result<Sent> {
        let (bytes, first) = whole.beginning(asking.keep_alive, breaks);
        self.stream.write_all(&bytes).await?;
        let stall = breaks.map_or(Duration::ZERO, |breaks| breaks.stall);
        if !stall.is_zero() && self.gone_after(stall).await {
            return Ok(Sent::new(first, Ending::Aborted, After::Closed));
        }
        if let Some(cut) = breaks.and_then(|breaks| breaks.cut) {
            let ending = if cut == Cut::CleanEof { Ending::CutShort } else { Ending::Broken };
            return Ok(Sent::new(first, ending, after(Some(cut), false)));
        }
        if first < whole.body.len() {
            self.stream.write_all(&whole.body[first..]).await?;
        }
        Ok(Sent::new(whole.body.len(), whole.ending, after(None, asking.keep_alive)))
    }
}

/// What becomes of a connection that was cut in this way.
pub(super) fn after(cut: Option<Cut>, keep_alive: bool) -> After {
    match cut {
        Some(Cut::Reset) => After::Reset,
        Some(Cut::Silence) => After::Silent,
        Some(_) => After::Closed,
        None if keep_alive => After::Open,
        None => After::Closed,
    }
}
