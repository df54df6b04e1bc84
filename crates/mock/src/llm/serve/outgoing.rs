//! Answers in one piece, and how they break.

use std::{io, io::Write as _};

use mcp_loadtest_core::llm::Cut;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::After;

/// A reply in one piece.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

pub(super) const JSON: &str = "application/json";

/// How a body in one piece breaks: after so many of its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Breaks {
    pub(super) after: usize,
    pub(super) cut: Cut,
}

/// The head of a reply, up to the line that says how the body ends.
pub(super) fn head(
    status: u16,
    content_type: &str,
    headers: &[(String, String)],
    keep_alive: bool,
) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    let reason = http::StatusCode::from_u16(status).ok();
    let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or("Whatever");
    let connection = if keep_alive { "" } else { "connection: close\r\n" };
    let _ =
        write!(head, "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\n{connection}");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

impl Whole {
    /// Sends it. Gives how many bytes of the body were sent, and what becomes of the connection.
    pub(super) async fn send(
        &self,
        stream: &mut TcpStream,
        keep_alive: bool,
        breaks: Option<Breaks>,
    ) -> io::Result<(usize, After)> {
        let keep_alive = keep_alive && breaks.is_none();
        let mut bytes = head(self.status, self.content_type, &self.headers, keep_alive);
        let sent = breaks.map_or(self.body.len(), |breaks| breaks.after.min(self.body.len()));
        match breaks.map(|breaks| breaks.cut) {
            // A body that is shorter than it should be, and says so: only the JSON shows it.
            Some(Cut::CleanEof) => {
                let _ = write!(bytes, "content-length: {sent}\r\n\r\n");
            }
            Some(Cut::Fin) => {
                let _ =
                    write!(bytes, "transfer-encoding: chunked\r\n\r\n{:x}\r\n", self.body.len());
            }
            Some(Cut::Reset | Cut::ShortContentLength | Cut::Silence) | None => {
                let _ = write!(bytes, "content-length: {}\r\n\r\n", self.body.len());
            }
        }
        bytes.extend_from_slice(&self.body[..sent]);
        stream.write_all(&bytes).await?;
        Ok((sent, after(breaks.map(|breaks| breaks.cut), keep_alive)))
    }
}

/// What becomes of a connection that was cut in this way.
pub(super) fn after(cut: Option<Cut>, keep_alive: bool) -> After {
    match cut {
        Some(Cut::Reset) => After::Reset,
        Some(_) => After::Closed,
        None if keep_alive => After::Open,
        None => After::Closed,
    }
}
