//! The head of a request: the few headers that matter here, each at most once.

use std::mem::MaybeUninit;

use mcp_loadtest_core::mcp::header;

use super::response::{Response, status};
use crate::{serve::MESSAGE_LIMIT, server::origin::MOST_HEADERS};

/// Heads longer than this are refused.
const HEAD_LIMIT: usize = 64 << 10;

/// The headers that are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line {
    Host,
    Origin,
    ContentLength,
    TransferEncoding,
    Connection,
    Expect,
    ProtocolVersion,
    Method,
    Name,
    SessionId,
    Upgrade,
    WebSocketKey,
    WebSocketProtocol,
}

/// Their names, in the order of [`Line`].
const NAMES: [&str; 13] = [
    "Host",
    "Origin",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Expect",
    header::PROTOCOL_VERSION,
    header::METHOD,
    header::NAME,
    header::SESSION_ID,
    "Upgrade",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Protocol",
];

impl Line {
    pub(super) const fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// What follows the question mark of the path.
    pub(super) query: &'a str,
    /// The head as sent.
    pub(super) raw: &'a [u8],
    /// Whether the client takes another reply on this connection.
    pub(super) keep_alive: bool,
    /// How long the head is.
    pub(super) length: usize,
    pub(super) body_length: usize,
    lines: [Option<&'a str>; NAMES.len()],
}

impl<'a> Head<'a> {
    /// Reads a head; `None` if it is not all there yet.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Option<Self>, Response> {
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        match request.parse_with_uninit_headers(bytes, &mut headers) {
            Ok(httparse::Status::Complete(length)) if length <= HEAD_LIMIT => {
                interpret(&request, &bytes[..length]).map(Some)
            }
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_LIMIT => Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                Err(Response::refuse(status::HEADERS_TOO_LARGE, "the head is too long"))
            }
            Err(error) => {
                Err(Response::refuse(status::BAD_REQUEST, format!("not an HTTP request: {error}")))
            }
        }
    }

    pub(super) fn get(&self, line: Line) -> Option<&'a str> {
        self.lines[line as usize]
    }

    /// Whether the client waits for leave to send the body.
    pub(super) fn wants_leave(&self) -> bool {
        self.get(Line::Expect).is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }
}

fn interpret<'a>(request: &httparse::Request<'_, 'a>, raw: &'a [u8]) -> Result<Head<'a>, Response> {
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut head = Head {
        method: request.method.unwrap_or_default(),
        path,
        query,
        raw,
        keep_alive: request.version == Some(1),
        length: raw.len(),
        body_length: 0,
        lines: [None; NAMES.len()],
    };
    for header in request.headers.iter() {
        let Some(index) = NAMES.iter().position(|name| header.name.eq_ignore_ascii_case(name))
        else {
            continue;
        };
        let value = std::str::from_utf8(header.value).map_err(|_| unclear(header.name))?.trim();
        match head.lines[index].replace(value) {
            // Two that disagree would mean one thing to us and another to a proxy.
            Some(other) if other != value => return Err(unclear(header.name)),
            _ => {}
        }
    }
    head.keep_alive &= !head.get(Line::Connection).is_some_and(says_close);
    head.body_length = body_length(&head)?;
    Ok(head)
}

fn says_close(value: &str) -> bool {
    value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close"))
}

fn body_length(head: &Head<'_>) -> Result<usize, Response> {
    if head.get(Line::TransferEncoding).is_some() {
        let why = "a body needs a `Content-Length`; chunks are not read";
        return Err(Response::refuse(status::LENGTH_REQUIRED, why));
    }
    let Some(text) = head.get(Line::ContentLength) else { return Ok(0) };
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(unclear(Line::ContentLength.name()));
    }
    // A number that no `usize` holds is too large as well.
    let length = text.parse().unwrap_or(usize::MAX);
    if length > MESSAGE_LIMIT {
        let why = format!("the body is longer than {MESSAGE_LIMIT} bytes");
        return Err(Response::refuse(status::CONTENT_TOO_LARGE, why));
    }
    Ok(length)
}

fn unclear(name: &str) -> Response {
    Response::refuse(status::BAD_REQUEST, format!("the header `{name}` is unclear"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(lines: &str) -> u16 {
        Head::read(format!("POST /mcp HTTP/1.1\r\n{lines}\r\n").as_bytes()).unwrap_err().status
    }

    #[test]
    fn the_usual_head_is_read() {
        let text = "POST /mcp?x=1 HTTP/1.1\r\nhost: a\r\nMCP-SESSION-ID:  s \r\nContent-Length: 3\r\n\r\nabc";
        let head = Head::read(text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.method, head.path, head.body_length), ("POST", "/mcp", 3));
        assert_eq!((head.get(Line::Host), head.get(Line::SessionId)), (Some("a"), Some("s")));
        assert!(head.keep_alive);
        assert_eq!(&text[head.length..], "abc");
        assert!(Head::read(b"POST /mcp HTT").unwrap().is_none());
    }

    #[test]
    fn every_line_has_its_name() {
        assert_eq!(Line::Host.name(), "Host");
        assert_eq!(Line::SessionId.name(), header::SESSION_ID);
        assert_eq!(Line::WebSocketProtocol as usize + 1, NAMES.len());
    }

    #[test]
    fn connections_end_when_the_client_says_so() {
        let keeps = |text: &str| Head::read(text.as_bytes()).unwrap().unwrap().keep_alive;
        assert!(!keeps("GET / HTTP/1.0\r\n\r\n"));
        assert!(!keeps("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n"));
        assert!(keeps("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn unclear_and_endless_heads_are_refused() {
        assert_eq!(refused("Content-Length: 1\r\nContent-Length: 2\r\n"), 400);
        assert_eq!(refused("Content-Length: +1\r\n"), 400);
        assert_eq!(refused("Content-Length:\r\n"), 400);
        assert_eq!(refused("Host: \u{fffd}\u{7f}\r\n"), 400);
        assert_eq!(refused("Transfer-Encoding: chunked\r\n"), 411);
        assert_eq!(refused("Content-Length: 16777217\r\n"), 413);
        assert_eq!(refused("Content-Length: 99999999999999999999999\r\n"), 413);
        assert_eq!(refused(&"a: b\r\n".repeat(MOST_HEADERS + 1)), 431);
        assert_eq!(refused(&format!("a: {}", "b".repeat(HEAD_LIMIT))), 431);
        assert_eq!(Head::read(b"SSH-2.0-x\r\n\r\n").unwrap_err().status, 400);
    }
}
