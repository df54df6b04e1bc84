//! Server-sent events, cut out of a stream and put together again.

/// Longer events are passed on without being looked at.
const EVENT_LIMIT: usize = 64 << 20;

/// One event, or what lies between two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// As it came, the empty line included.
    pub(super) raw: Vec<u8>,
    /// The lines other than its data, with their ends.
    other: Vec<u8>,
    /// Its name.
    pub(super) name: Option<String>,
    /// Its data.
    pub(super) data: Vec<u8>,
}

impl Event {
    fn read(raw: Vec<u8>) -> Self {
        let (mut other, mut name, mut data) = (Vec::new(), None, Vec::new());
        for line in lines(&raw).filter(|line| !line.is_empty()) {
            if let Some(value) = field(line, b"data") {
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(value);
                continue;
            }
            if let Some(value) = field(line, b"event") {
                name = Some(String::from_utf8_lossy(value).into_owned());
            }
            other.extend_from_slice(line);
            other.push(b'\n');
        }
        Self { raw, other, name, data }
    }

    /// An event for a message that came in none.
    pub(super) fn named_message() -> Self {
        Self::read(b"event: message\n".to_vec())
    }

    /// The same event with other data.
    pub(super) fn with(&self, data: &[u8]) -> Vec<u8> {
        let mut event = self.begin(data);
        event.extend_from_slice(b"\n\n");
        event
    }

    /// The same without its end.
    pub(super) fn begin(&self, data: &[u8]) -> Vec<u8> {
        let mut event = self.other.clone();
        event.extend_from_slice(b"data: ");
        for byte in data {
            event.push(*byte);
            if *byte == b'\n' {
                event.extend_from_slice(b"data: ");
            }
        }
        event
    }
}

/// An event with a message.
pub(super) fn message(frame: &[u8]) -> Vec<u8> {
    Event::named_message().with(frame)
}

fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(name)?.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// Lines may end in `\n`, `\r\n` or `\r`.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    // `\r\n` gives an empty line between its two halves, which says nothing within an event.
    bytes.split(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct Events {
    buffer: Vec<u8>,
    /// How much of it is known to hold no end.
    seen: usize,
}

impl Events {
    /// The events that are complete with this piece.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = event_end(&self.buffer, self.seen) {
            self.seen = 0;
            let rest = self.buffer.split_off(end);
            events.push(Event::read(std::mem::replace(&mut self.buffer, rest)));
        }
        // The longest end may have begun.
        self.seen = self.buffer.len().saturating_sub(3);
        if self.buffer.len() > EVENT_LIMIT {
            self.seen = 0;
            let raw = std::mem::take(&mut self.buffer);
            events.push(Event { raw, other: Vec::new(), name: None, data: Vec::new() });
        }
        events
    }

    /// What is left when the stream has ended.
    pub(super) fn rest(self) -> Vec<u8> {
        self.buffer
    }
}

/// Where the first event ends: behind its empty line, which is not before `at`.
fn event_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() {
        let rest = &bytes[at..];
        for end in [&b"\r\n\r\n"[..], b"\n\n", b"\r\r", b"\n\r\n"] {
            if rest.starts_with(end) {
                return Some(at + end.len());
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_however_they_arrive() {
        let stream = b": hi\n\nid: 7\nevent: message\ndata: {\ndata: }\n\ndata:x\r\n\r\nda";
        for size in [1, 3, stream.len()] {
            let mut events = Events::default();
            let cut: Vec<_> = stream.chunks(size).flat_map(|part| events.feed(part)).collect();
            let data: Vec<_> = cut.iter().map(|event| event.data.as_slice()).collect();
            assert_eq!(data, [&b""[..], b"{\n}", b"x"]);
            assert_eq!(cut[1].name.as_deref(), Some("message"));
            let raw: Vec<u8> = cut.iter().flat_map(|event| event.raw.clone()).collect();
            assert_eq!([raw, events.rest()].concat(), stream);
        }
    }

    #[test]
    fn other_data_keeps_the_other_lines() {
        let event = Event::read(b"id: 7\ndata: a\n\n".to_vec());
        assert_eq!(event.with(b"b\nc"), b"id: 7\ndata: b\ndata: c\n\n");
        assert_eq!(message(b"{}"), b"event: message\ndata: {}\n\n");
    }
}
