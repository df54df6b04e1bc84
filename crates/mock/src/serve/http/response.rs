//! What goes back in one piece: a status, a JSON body or none, and the headers that some replies
//! need.

use std::io::Write as _;

use super::reply::{STREAM_HEAD, chunk, event};
use crate::mcp::{
    refusal::{Refusal, code},
    write,
};

/// The statuses that the mock sends.
pub(crate) mod status {
    pub(crate) const SWITCHING: u16 = 101;
    pub(crate) const OK: u16 = 200;
    pub(crate) const ACCEPTED: u16 = 202;
    pub(crate) const NO_CONTENT: u16 = 204;
    pub(crate) const BAD_REQUEST: u16 = 400;
    pub(crate) const FORBIDDEN: u16 = 403;
    pub(crate) const NOT_FOUND: u16 = 404;
    pub(crate) const METHOD_NOT_ALLOWED: u16 = 405;
    pub(crate) const REQUEST_TIMEOUT: u16 = 408;
    pub(crate) const LENGTH_REQUIRED: u16 = 411;
    pub(crate) const CONTENT_TOO_LARGE: u16 = 413;
    pub(crate) const HEADERS_TOO_LARGE: u16 = 431;
}

pub(super) fn reason(code: u16) -> &'static str {
    match code {
        status::SWITCHING => "Switching Protocols",
        status::OK => "OK",
        status::ACCEPTED => "Accepted",
        status::NO_CONTENT => "No Content",
        status::BAD_REQUEST => "Bad Request",
        status::FORBIDDEN => "Forbidden",
        status::NOT_FOUND => "Not Found",
        401 => "Unauthorized",
        status::METHOD_NOT_ALLOWED => "Method Not Allowed",
        status::REQUEST_TIMEOUT => "Request Timeout",
        status::LENGTH_REQUIRED => "Length Required",
        status::CONTENT_TOO_LARGE => "Content Too Large",
        status::HEADERS_TOO_LARGE => "Request Header Fields Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Whatever",
    }
}

/// A reply. A body is always JSON.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    pub(super) headers: Vec<(&'static str, String)>,
    /// For the audit log: why the request was not served.
    pub(super) why: Option<Box<Refusal>>,
}

impl Response {
    /// Without a body.
    pub(super) fn empty(status: u16) -> Self {
        Self::json(status, Vec::new())
    }

    pub(super) fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, headers: Vec::new(), why: None }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// A JSON-RPC error in answer to `id`.
    pub(super) fn error(status: u16, id: &[u8], refusal: &Refusal) -> Self {
        let mut body = Vec::new();
        write::error(&mut body, id, refusal);
        Self { why: Some(Box::new(refusal.clone())), ..Self::json(status, body) }
    }

    /// A refusal by HTTP, before any message was looked at.
    pub(super) fn refuse(status: u16, why: impl Into<String>) -> Self {
        Self::error(status, write::NO_ID, &Refusal::new(code::INVALID_REQUEST, why))
    }

    /// Appends a good reply as a stream of one event.
    pub(super) fn render_as_event(&self, keep_alive: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(STREAM_HEAD);
        for (name, value) in &self.headers {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if !keep_alive {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        chunk(&event(&self.body), out);
        // The empty one is the last.
        chunk(b"", out);
    }

    /// Appends the reply as it goes over the wire.
    pub(super) fn render(&self, keep_alive: bool, out: &mut Vec<u8>) {
        self.render_head(keep_alive, self.body.len(), out);
        out.extend_from_slice(&self.body);
    }

    /// Appends the head of the reply, with a body that is announced to be so long.
    pub(super) fn render_head(&self, keep_alive: bool, length: usize, out: &mut Vec<u8>) {
        out.reserve(200 + length);
        let mut line = |text: std::fmt::Arguments<'_>| {
            out.write_fmt(text).expect("a buffer takes everything");
        };
        line(format_args!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)));
        if !matches!(self.status, status::NO_CONTENT | status::SWITCHING) {
            line(format_args!("Content-Length: {length}\r\n"));
        }
        if length > 0 {
            line(format_args!("Content-Type: application/json\r\n"));
        }
        for (name, value) in &self.headers {
            line(format_args!("{name}: {value}\r\n"));
        }
        if !keep_alive && self.status != status::SWITCHING {
            line(format_args!("Connection: close\r\n"));
        }
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(response: &Response, keep_alive: bool) -> String {
        let mut out = Vec::new();
        response.render(keep_alive, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_reply_says_how_long_it_is() {
        let reply = Response::json(status::OK, b"{}".to_vec());
        assert_eq!(
            rendered(&reply, true),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
        );
        let accepted = rendered(&Response::empty(status::ACCEPTED), false);
        assert_eq!(
            accepted,
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn a_reply_may_begin_a_session_or_name_the_methods() {
        let reply = Response::empty(status::METHOD_NOT_ALLOWED)
            .header("Allow", "POST")
            .header("Mcp-Session-Id", "0000000001");
        let text = rendered(&reply, true);
        assert!(text.contains("\r\nAllow: POST\r\n"));
        assert!(text.contains("\r\nMcp-Session-Id: 0000000001"));
    }
}
