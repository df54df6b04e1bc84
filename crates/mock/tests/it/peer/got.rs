//! What a client sees next.

use serde_json::Value;

/// What a client sees next.
#[derive(Debug, PartialEq)]
pub(crate) enum Got {
    /// A message or something in its place: a line, a body, an event, a text.
    Frame(Frame),
    /// The reply ended in order, and there was nothing more in it.
    Done,
    /// The connection was closed in order.
    Closed {
        /// What was there of a message.
        part: Vec<u8>,
        /// How long it was to be, if that was said.
        announced: Option<usize>,
    },
    /// The connection was reset.
    Reset,
}

impl Got {
    /// Closed with nothing before.
    pub(crate) fn closed() -> Self {
        Self::Closed { part: Vec::new(), announced: None }
    }
}

/// A message or something in its place.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// How many reads it took.
    pub(crate) pieces: usize,
    /// Over HTTP.
    pub(crate) status: Option<u16>,
    pub(crate) head: String,
}

impl Frame {
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    pub(crate) fn is_json(&self) -> bool {
        serde_json::from_slice::<Value>(&self.bytes).is_ok()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}
