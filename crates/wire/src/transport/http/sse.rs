//! Server-sent events, as they come in pieces.

use std::time::Duration;

/// What an event is about, by its name.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message; so is an event without a name.
    #[default]
    Message,
    /// HTTP+SSE: where we are to send what we say.
    Endpoint,
    /// Something else.
    Other,
}

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) kind: Kind,
    pub(crate) data: Vec<u8>,
}

/// What a stream is made of.
pub(crate) enum Piece {
    Event(SseEvent),
    /// An event that was longer than allowed, and how it began. The rest of it is skipped.
    TooLong(Vec<u8>),
}

/// Puts events together from pieces of a stream and remembers where to resume.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    started: bool,
    /// Whether the last byte was a carriage return: a line feed right after it belongs to it.
    returned: bool,
    skipping: Option<Skipping>,
    /// The id that counts once its event has come whole: what broke off is to be sent again.
    id: Option<String>,
    /// The id of the last event that came whole.
    last_id: Option<String>,
    /// How long the server wants us to wait before we come back, in milliseconds.
    retry_ms: Option<u64>,
}

/// An event whose rest is thrown away, up to the empty line that ends it.
#[derive(Debug)]
struct Skipping {
    line_is_empty: bool,
}

/// How much of an event that is too long is shown.
const HEAD: usize = 4096;
/// An id goes back to the server in a header, where a longer one has no place.
const LONGEST_ID: usize = 4096;

impl SseParser {
    /// How long the server wants us to wait before we come back.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry_ms.map(Duration::from_millis)
    }

    /// Where to resume. An empty id takes an earlier one back.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Whether an event has begun and not ended.
    pub(crate) fn is_amid(&self) -> bool {
        !self.line.is_empty() || self.has_data || self.skipping.is_some()
    }

    /// Another connection goes on with the stream: what the last one left unfinished comes again.
    pub(crate) fn resume(&mut self) {
        let (last_id, retry_ms) = (self.last_id.take(), self.retry_ms);
        *self = Self { id: last_id.clone(), last_id, retry_ms, ..Self::default() };
    }

    /// Takes a piece and gives the events that it completes. `Err`: an event is too long.
    pub(crate) fn feed(&mut self, bytes: &[u8], limit: usize) -> Result<Vec<SseEvent>, String> {
        let mut events = Ok(Vec::new());
        self.take(bytes, limit, |piece| match (piece, &mut events) {
            (Piece::Event(event), Ok(events)) => events.push(event),
            (Piece::TooLong(_), _) => events = Err("an event is too long".into()),
            _ => {}
        });
        events
    }

    /// Takes a piece and hands on what it completes. Lines end with CR, LF or both.
    pub(crate) fn take(&mut self, bytes: &[u8], limit: usize, mut on: impl FnMut(Piece)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = memchr::memchr2(b'\r', b'\n', rest);
            let text = &rest[..end.unwrap_or(rest.len())];
            self.returned = end.is_some_and(|end| rest[end] == b'\r');
            rest = &rest[text.len() + usize::from(end.is_some())..];
            if let Some(piece) = self.take_text(text, end.is_some(), limit) {
                on(piece);
            }
        }
    }

    /// Takes the text of a line, or a part of it, and gives what it completes.
    fn take_text(&mut self, text: &[u8], ends: bool, limit: usize) -> Option<Piece> {
        if self.skipping.is_some() {
            self.skip(text, ends);
            return None;
        }
        self.line.extend_from_slice(text);
        if self.line.len() + self.event.data.len() > limit {
            return Some(Piece::TooLong(self.begin_to_skip(ends)));
        }
        if !ends {
            return None;
        }
        let mut line = std::mem::take(&mut self.line);
        let event = self.take_line(&line);
        line.clear();
        self.line = line;
        event.map(Piece::Event)
    }

    /// Gives how the event began.
    fn begin_to_skip(&mut self, line_ends: bool) -> Vec<u8> {
        let (line, event) = (std::mem::take(&mut self.line), std::mem::take(&mut self.event));
        let text = if event.data.is_empty() { &line } else { &event.data };
        let text = text.strip_prefix(b"data:").unwrap_or(text).trim_ascii_start();
        self.has_data = false;
        self.skipping = Some(Skipping { line_is_empty: line_ends });
        text[..text.len().min(HEAD)].to_vec()
    }

    fn skip(&mut self, text: &[u8], ends: bool) {
        let Some(skipping) = &mut self.skipping else { return };
        skipping.line_is_empty &= text.is_empty();
        if !ends {
            return;
        }
        if skipping.line_is_empty {
            self.skipping = None;
            self.last_id.clone_from(&self.id);
        } else {
            skipping.line_is_empty = true;
        }
    }

    fn take_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let mut line = line;
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.last_id.clone_from(&self.id);
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data)
                .then_some(event)
                .filter(|event| !event.data.is_empty());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return None,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, b"".as_slice()),
        };
        self.take_field(field, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    fn take_field(&mut self, field: &[u8], value: &[u8]) {
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => {
                self.event.kind = match value {
                    b"message" | b"" => Kind::Message,
                    b"endpoint" => Kind::Endpoint,
                    _ => Kind::Other,
                }
            }
            b"id" if may_stand_in_a_header(value) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned())
            }
            b"retry" => {
                self.retry_ms = std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .or(self.retry_ms);
            }
            _ => {}
        }
    }
}

/// An id is repeated to the server as `Last-Event-ID`: one with control characters would be a header
/// of its own there.
fn may_stand_in_a_header(id: &[u8]) -> bool {
    id.len() <= LONGEST_ID && !id.iter().any(u8::is_ascii_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Vec<String> {
        let events = SseParser::default().feed(text.as_bytes(), 1 << 20).unwrap();
        events.into_iter().map(|event| String::from_utf8(event.data).unwrap()).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        assert_eq!(data("event: message\ndata: {\"a\":1}\n\n"), ["{\"a\":1}"]);
        assert_eq!(data(": keep-alive\n\ndata:x\r\ndata: y\r\n\r\n"), ["x\ny"]);
        assert_eq!(data("id: 1\ndata:\n\ndata: z\n\n"), ["z"]);
        assert_eq!(data("data: unfinished\n"), Vec::<String>::new());
    }

    #[test]
    fn lines_end_in_three_ways() {
        let text = "data: a\r\rdata: b\r\n\r\ndata: c\n\ndata: d\rdata: e\n\r\n";
        for size in [1, 2, 3, 1000] {
            let mut parser = SseParser::default();
            let pieces = text.as_bytes().chunks(size);
            let events = pieces.flat_map(|piece| parser.feed(piece, 1024).unwrap());
            let texts: Vec<_> =
                events.map(|event| String::from_utf8(event.data).unwrap()).collect();
            assert_eq!(texts, ["a", "b", "c", "d\ne"], "in pieces of {size}");
        }
    }

    #[test]
    fn the_place_to_resume_is_remembered_across_pieces() {
        let mut parser = SseParser::default();
        for piece in ["id: 4", "2\nretry: 1", "50\ndata:\n", "\n"] {
            assert!(parser.feed(piece.as_bytes(), 1024).unwrap().is_empty());
        }
        assert_eq!((parser.last_id(), parser.retry_ms), (Some("42"), Some(150)));
    }

    /// The server sends again what follows the id that it is told: an event of which only a part has come
    /// must not be that id, nor stand before what comes then.
    #[test]
    fn an_event_that_broke_off_comes_again() {
        let mut parser = SseParser::default();
        let broken = b"id: 1\ndata: a\n\nid: 2\ndata: half of i";
        assert_eq!(parser.feed(broken, 1024).unwrap().len(), 1);
        assert_eq!(parser.last_id(), Some("1"));
        parser.resume();
        let again = parser.feed(b"\xef\xbb\xbfid: 2\ndata: whole\n\n", 1024).unwrap();
        assert_eq!(again[0].data, b"whole");
        assert_eq!(parser.last_id(), Some("2"));
        parser.feed(b"id:\ndata:\n\n", 1024).unwrap();
        assert_eq!(parser.last_id(), None);
    }

    #[test]
    fn an_id_is_no_header_of_its_own() {
        let mut parser = SseParser::default();
        let long = format!("id: {}\n\n", "7".repeat(LONGEST_ID + 1));
        for text in ["id: 7\n\n", "id: a\tb\n\n", "id: a\0b\n\n", &long] {
            parser.feed(text.as_bytes(), 1 << 20).unwrap();
            assert_eq!(parser.last_id(), Some("7"), "{text}");
        }
        parser.feed(b"id: 8\rX-Forged: 1\r\r", 1024).unwrap();
        assert_eq!(parser.last_id(), Some("8"));
    }

    #[test]
    fn the_name_of_an_event_is_that_of_its_own_lines() {
        let text =
            "event: endpoint\ndata: /m\n\ndata: x\n\nevent: ping\n\nevent: ping\ndata: y\n\n";
        let events = SseParser::default().feed(text.as_bytes(), 1024).unwrap();
        let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::Endpoint, Kind::Message, Kind::Other]);
    }

    #[test]
    fn what_follows_an_event_that_is_too_long_is_read_again() {
        let text = format!("data: a\n\ndata: {}\ndata: tail\r\n\r\ndata: b\n\n", "x".repeat(100));
        for size in [1, 7, 1000] {
            let mut parser = SseParser::default();
            let mut seen = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                parser.take(piece, 64, |piece| {
                    seen.push(match piece {
                        Piece::Event(event) => String::from_utf8(event.data).unwrap(),
                        Piece::TooLong(head) => format!("too long, {}", head[0] as char),
                    });
                });
            }
            assert_eq!(seen, ["a", "too long, x", "b"], "in pieces of {size}");
            assert!(!parser.is_amid());
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = SseParser::default();
        assert!(parser.feed(&[b'x'; 2000], 1024).is_err());
    }
}
