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
    skipping: Option<Skipping>,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long the server wants us to wait before we come back, in milliseconds.
    pub(crate) retry_ms: Option<u64>,
}

/// An event whose rest is thrown away, up to the empty line that ends it.
#[derive(Debug)]
struct Skipping {
    line_is_empty: bool,
}

/// How much of an event that is too long is shown.
const HEAD: usize = 4096;

impl SseParser {
    /// How long the server wants us to wait before we come back.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry_ms.map(Duration::from_millis)
    }

    /// Whether an event has begun and not ended.
    pub(crate) fn is_amid(&self) -> bool {
        !self.line.is_empty() || self.has_data || self.skipping.is_some()
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

    /// Takes a piece and hands on what it completes.
    pub(crate) fn take(&mut self, bytes: &[u8], limit: usize, mut on: impl FnMut(Piece)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.skipping.is_some() {
                self.skip(piece);
                continue;
            }
            self.line.extend_from_slice(piece);
            if self.line.len() + self.event.data.len() > limit {
                on(Piece::TooLong(self.begin_to_skip()));
            } else if self.line.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.take_line(&line).into_iter().for_each(|event| on(Piece::Event(event)));
                self.line = line;
                self.line.clear();
            }
        }
    }

    /// Gives how the event began.
    fn begin_to_skip(&mut self) -> Vec<u8> {
        let (line, event) = (std::mem::take(&mut self.line), std::mem::take(&mut self.event));
        let text = if event.data.is_empty() { &line } else { &event.data };
        let text = text.strip_prefix(b"data:").unwrap_or(text).trim_ascii_start();
        self.has_data = false;
        self.skipping = Some(Skipping { line_is_empty: line.ends_with(b"\n") });
        text[..text.len().min(HEAD)].to_vec()
    }

    fn skip(&mut self, piece: &[u8]) {
        let Some(skipping) = &mut self.skipping else { return };
        let text = piece.strip_suffix(b"\n").unwrap_or(piece);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        skipping.line_is_empty &= text.is_empty();
        if piece.ends_with(b"\n") {
            if skipping.line_is_empty {
                self.skipping = None;
            } else {
                skipping.line_is_empty = true;
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
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
            b"id" if !value.contains(&0) => {
                self.last_id = Some(String::from_utf8_lossy(value).into_owned())
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
    fn the_place_to_resume_is_remembered_across_pieces() {
        let mut parser = SseParser::default();
        for piece in ["id: 4", "2\nretry: 1", "50\ndata:\n", "\n"] {
            assert!(parser.feed(piece.as_bytes(), 1024).unwrap().is_empty());
        }
        assert_eq!((parser.last_id.as_deref(), parser.retry_ms), (Some("42"), Some(150)));
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
