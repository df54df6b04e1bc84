//! Doors for the fuzz targets alone; no other build has them.

use crate::transport::http::sse::SseParser;

/// The data of all events of a stream that comes in pieces of this length; nothing from the first
/// event on that is longer than the limit.
pub fn events(stream: &[u8], piece: usize, limit: usize) -> Vec<Vec<u8>> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for bytes in stream.chunks(piece) {
        let Ok(more) = parser.feed(bytes, limit) else { break };
        events.extend(more.into_iter().map(|event| event.data));
    }
    events
}
