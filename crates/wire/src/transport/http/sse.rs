//! Server-sent events, as they come in pieces.

use std::time::Duration;

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) data: Vec<u8>,
}

/// Puts events together from pieces of a stream and remembers where to resume.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    started: bool,
    /// The id of the last event that had one.
    pub(crate) last_id: Option<String>,
    /// How long the server wants us to wait before we come back, in milliseconds.
    pub(crate) retry_ms: Option<u64>,
}

impl SseParser {
    /// How long the server wants us to wait before we come back.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry_ms.map(Duration::from_millis)
    }

    /// Takes a piece and gives the events that it completes. `Err`: an event is too long.
    pub(crate) fn feed(&mut self, bytes: &[u8], limit: usize) -> Result<Vec<SseEvent>, String> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() + self.event.data.len() > limit {
                return Err("an event is too long".into());
            }
            if self.line.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                events.extend(self.take_line(&line));
                self.line = line;
                self.line.clear();
            }
        }
        Ok(events)
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
    fn an_endless_event_is_refused() {
        let mut parser = SseParser::default();
        assert!(parser.feed(&[b'x'; 2000], 1024).is_err());
    }
}
