//! Frames: what a stream is made of.

/// Most events fit into this.
const USUAL: usize = 320;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The name of the event, where the API names them.
    pub(crate) event: Option<&'static str>,
    /// Its data: JSON, or a word such as `[DONE]`.
    pub(crate) data: String,
    /// Whether the data breaks off: nothing says that the event has ended.
    pub(crate) breaks_off: bool,
}

impl Frame {
    /// An event without a name.
    pub(crate) fn data(data: impl std::fmt::Display) -> Self {
        Self { event: None, data: data.to_string(), breaks_off: false }
    }

    /// An event without a name whose data is JSON.
    pub(crate) fn json(data: &impl serde::Serialize) -> Self {
        let mut bytes = Vec::with_capacity(USUAL);
        // Writing to memory cannot fail, and JSON is text.
        let _ = serde_json::to_writer(&mut bytes, data);
        Self { event: None, data: String::from_utf8(bytes).unwrap_or_default(), breaks_off: false }
    }

    /// An event with a name.
    pub(crate) fn named(event: &'static str, data: impl std::fmt::Display) -> Self {
        Self { event: Some(event), ..Self::data(data) }
    }

    /// The beginning of an event.
    pub(crate) fn broken_off(data: String) -> Self {
        Self { event: None, data, breaks_off: true }
    }
}
