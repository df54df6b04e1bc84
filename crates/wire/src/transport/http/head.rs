//! Heads: what a request begins with, and what a reply's beginning says.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use mcp_loadtest_core::mcp::{Lifecycle, header};

/// More header lines than this are no reply.
const MOST_HEADERS: usize = 200;
/// A head longer than this is no reply.
pub(crate) const HEAD_LIMIT: usize = 64 << 10;

/// What a reply carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentType {
    Json,
    EventStream,
    Other,
}

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// What the head of a reply says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: ContentType,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
    pub(crate) session_id: Option<Rc<str>>,
    pub(crate) location: Option<Rc<str>>,
    /// How long the head is: the body begins there.
    pub(crate) length: usize,
}

/// Reads heads and remembers the last one: a server repeats itself byte for byte, but for the length
/// of the body, and to read it anew would cost more than to read the body.
#[derive(Default)]
pub(crate) struct Heads {
    last: RefCell<Option<Box<Known>>>,
    /// Heads in a row that were not the last one again.
    strangers: Cell<u32>,
}

/// Where each head differs, only every so-many-th is remembered.
const STRANGERS_PER_TRY: u32 = 16;

/// A head, cut where the digits of its `Content-Length` stand.
struct Known {
    before: Box<[u8]>,
    after: Box<[u8]>,
    head: Head,
}

/// A body longer than this many digits can tell is read the long way, which complains.
const MOST_DIGITS: usize = 15;

impl Heads {
    /// Reads a head. `Ok(None)`: more bytes are needed.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Option<Head>, String> {
        if let Some(head) = self.last.borrow().as_ref().and_then(|known| known.read(bytes)) {
            self.strangers.set(0);
            return Ok(Some(head));
        }
        let head = read_head(bytes)?;
        if let Some(head) = &head {
            let strangers = self.strangers.replace(self.strangers.get().wrapping_add(1));
            if strangers.is_multiple_of(STRANGERS_PER_TRY) {
                *self.last.borrow_mut() = Known::new(bytes, head).map(Box::new);
            }
        }
        Ok(head)
    }
}

impl Known {
    fn new(bytes: &[u8], head: &Head) -> Option<Self> {
        const NAME: &[u8] = b"content-length:";
        let bytes = &bytes[..head.length];
        let mut names = bytes.windows(NAME.len());
        let name = names.position(|window| window.eq_ignore_ascii_case(NAME))?;
        let space = bytes[name + NAME.len()..].iter().take_while(|byte| **byte == b' ').count();
        let (before, rest) = bytes.split_at(name + NAME.len() + space);
        let (_, after) = rest.split_at(digits(rest));
        let known = Self { before: before.into(), after: after.into(), head: head.clone() };
        // The words may stand in another header: only what reads the same is the same.
        known.read(bytes).filter(|read| read == head).map(|_| known)
    }

    fn read(&self, bytes: &[u8]) -> Option<Head> {
        let rest = bytes.strip_prefix(&*self.before)?;
        let (length, rest) = rest.split_at(digits(rest));
        if length.is_empty() || length.len() > MOST_DIGITS || !rest.starts_with(&self.after) {
            return None;
        }
        let value = length.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        Some(Head {
            framing: Framing::Length(value),
            length: self.before.len() + length.len() + self.after.len(),
            ..self.head.clone()
        })
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Reads a head. `Ok(None)`: more bytes are needed.
pub(crate) fn read_head(bytes: &[u8]) -> Result<Option<Head>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => interpret(&response, length).map(Some),
        Ok(httparse::Status::Partial) => need_more(bytes),
        Err(httparse::Error::TooManyHeaders) => read_long_head(bytes),
        Err(error) => Err(format!("not an HTTP reply: {error}")),
    }
}

fn need_more(bytes: &[u8]) -> Result<Option<Head>, String> {
    if bytes.len() > HEAD_LIMIT { Err("the HTTP head is too long".into()) } else { Ok(None) }
}

#[cold]
fn read_long_head(bytes: &[u8]) -> Result<Option<Head>, String> {
    let mut headers = vec![httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => interpret(&response, length).map(Some),
        Ok(httparse::Status::Partial) => need_more(bytes),
        Err(error) => Err(format!("not an HTTP reply: {error}")),
    }
}

fn interpret(response: &httparse::Response<'_, '_>, length: usize) -> Result<Head, String> {
    let status = response.code.unwrap_or(0);
    let mut head = Head {
        status,
        content_type: ContentType::Other,
        framing: Framing::UntilClose,
        keep_alive: response.version == Some(1),
        session_id: None,
        location: None,
        length,
    };
    let mut lengths = 0;
    for line in response.headers.iter() {
        let name = line.name;
        if name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(line.value).unwrap_or_default().trim();
            let value =
                text.parse().map_err(|_| format!("Content-Length `{text}` is no number"))?;
            lengths += 1;
            if head.framing != Framing::Chunked {
                head.framing = Framing::Length(value);
            }
        } else if name.eq_ignore_ascii_case("content-type") {
            head.content_type = content_type(line.value);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            head.framing = Framing::Chunked;
        } else if name.eq_ignore_ascii_case("connection") {
            head.keep_alive &= !line.value.eq_ignore_ascii_case(b"close");
        } else if name.eq_ignore_ascii_case(header::SESSION_ID) {
            head.session_id = Some(String::from_utf8_lossy(line.value).into());
        } else if name.eq_ignore_ascii_case("location") {
            head.location = Some(String::from_utf8_lossy(line.value).into());
        }
    }
    if lengths > 1 || (lengths == 1 && head.framing == Framing::Chunked) {
        return Err("the head says twice how long the body is".into());
    }
    // These have no body, whatever else the head says.
    if matches!(status, 100..=199 | 204 | 304) {
        head.framing = Framing::Length(0);
    }
    Ok(head)
}

fn content_type(value: &[u8]) -> ContentType {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/json") {
        ContentType::Json
    } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
        ContentType::EventStream
    } else {
        ContentType::Other
    }
}

/// The lines that every request to one server shares.
pub(crate) struct RequestHead<'a> {
    pub(crate) path: &'a str,
    pub(crate) host: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) session_id: Option<&'a str>,
    pub(crate) lifecycle: Lifecycle,
    /// Whether the revision is agreed: before that no version is claimed.
    pub(crate) agreed: bool,
}

impl RequestHead<'_> {
    /// The head of a request with this method, up to what differs from request to request.
    pub(crate) fn render(&self, method: &str) -> Vec<u8> {
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            "application/json, text/event-stream"
        };
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\nAccept-Encoding: identity\r\nUser-Agent: mcp-loadtest/{}\r\n",
            self.path,
            self.host,
            env!("CARGO_PKG_VERSION"),
        );
        if method == "POST" {
            head.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.lifecycle.http_sessions {
            if let Some(id) = self.session_id {
                head.push_str(&format!("{}: {id}\r\n", header::SESSION_ID));
            }
            if self.agreed && self.lifecycle.revision.has_version_header() {
                head.push_str(&format!(
                    "{}: {}\r\n",
                    header::PROTOCOL_VERSION,
                    self.lifecycle.revision
                ));
            }
        }
        head.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Option<Head>, String> {
        read_head(text.as_bytes())
    }

    #[test]
    fn the_usual_reply_is_understood() {
        let read = head("HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\nContent-Length: 12\r\n\r\n").unwrap().unwrap();
        assert_eq!(
            (read.status, read.content_type, read.framing),
            (200, ContentType::Json, Framing::Length(12))
        );
        assert!(read.keep_alive);
        assert_eq!(head("HTTP/1.1 200 OK\r\nConte").unwrap(), None);
    }

    #[test]
    fn a_head_that_is_known_reads_as_it_did_at_first() {
        let heads = Heads::default();
        let replies = [
            "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nMcp-Session-Id: s\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nMcp-Session-Id: s\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: \r\nMcp-Session-Id: s\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\nMcp-Session-Id: s\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nMcp-Session-Id: s\r\n",
            "HTTP/1.1 200 OK\r\nX: content-length: 5\r\nContent-Length: 7\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: content-length: 6\r\nContent-Length: 8\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n",
        ];
        for reply in replies.iter().chain(replies.iter().rev()) {
            heads.strangers.set(0);
            assert_eq!(heads.read(reply.as_bytes()), head(reply), "{reply}");
        }
    }

    #[test]
    fn some_replies_have_no_body_whatever_they_say() {
        for status in ["103 Early Hints", "204 No Content", "304 Not Modified"] {
            for line in ["", "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n"] {
                let read = head(&format!("HTTP/1.1 {status}\r\n{line}\r\n")).unwrap().unwrap();
                assert_eq!(read.framing, Framing::Length(0), "{status} {line}");
            }
        }
    }

    #[test]
    fn contradictory_lengths_are_refused() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n\r\n",
        ] {
            assert!(head(text).is_err(), "{text}");
        }
    }

    #[test]
    fn endless_heads_are_refused() {
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(50));
        assert!(head(&many).unwrap().is_some());
        let too_many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(500));
        assert!(head(&too_many).is_err());
        let long = format!("HTTP/1.1 200 OK\r\na: {}", "x".repeat(HEAD_LIMIT));
        assert!(head(&long).is_err());
    }
}
